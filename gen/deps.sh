#!/bin/sh
# deps.sh -- installs what gen, bench and the tests need, and no more.
# Debian and its children: what is missing, through apt-get (sudo where not root). Elsewhere it
# prints the list and fails. The CUDA toolkit is never installed: only build and bench need it.
set -eu

# compilers; libraries of loom, of loom-llm (the tests run it); luacheck and a locale with a decimal comma for the tests
need="gcc g++ libc6-dev liblua5.4-dev libpcre2-dev libsqlite3-dev libmd-dev libcurl4-openssl-dev libjansson-dev lua-check clang-format locales"

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
