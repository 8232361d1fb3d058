#!/bin/sh
# deps.sh GOAL... -- installs what the goals of make need, and no more; without a goal, what all need.
# Debian and its children: what is missing, through apt-get (sudo where not root). Elsewhere it
# prints the list and fails. The CUDA toolkit is never installed: only build and bench need it.
set -eu

# compilers and the libraries of loom; libraries of loom-llm, which search may ask and the tests run;
# lint of Lua and of templates, and a locale with a decimal comma; libFuzzer and its runtime
loom="gcc g++ libc6-dev liblua5.4-dev libpcre2-dev libsqlite3-dev libmd-dev zlib1g-dev"
llm="libcurl4-openssl-dev libjansson-dev"
tests="lua-check clang-format locales"
fuzz="clang libclang-rt-dev"

[ $# -gt 0 ] || set -- search test check
need=$loom
for goal in "$@"; do
  case $goal in
    search) need="$need $llm" ;;
    test | lint | format) need="$need $llm $tests" ;;
    check | fuzz*) need="$need $fuzz" ;;
  esac
done

if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
  echo "deps: no apt-get on this system; install these (Debian's names): $need" >&2
  echo "deps: where they are installed already, leave 'deps' out: make gen SHAPE=..." >&2
  exit 1
fi

missing=""
for package in $need; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
missing=${missing# }

if [ -n "$missing" ]; then
  by_hand="as root: apt-get update && apt-get install $missing"
  if [ "$(id -u)" = 0 ]; then as_root=""
  elif command -v sudo >/dev/null 2>&1; then as_root=sudo
  else
    echo "deps: neither root nor sudo; $by_hand" >&2
    exit 1
  fi
  echo "deps: installing $missing"
  # Lists that cannot all be fetched may still do. Nobody would see a question, so none is asked.
  # shellcheck disable=SC2086  # word splitting is meant
  $as_root sh -c 'apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"' \
    deps $missing </dev/null >/dev/null || {
    echo "deps: not installed; $by_hand" >&2
    exit 1
  }
fi

if ! command -v "${NVCC:-nvcc}" >/dev/null 2>&1 && [ ! -x /usr/local/cuda/bin/nvcc ]; then
  echo "deps: no nvcc: 'make gen' works; build and bench need the CUDA toolkit (12.8 or newer, with cuBLAS)"
fi
