-- Releases: winners, what is refused, what stays, and the library with a fake GPU below it. The
-- compiler is a script whose cubins are ELF files that hold the kernel's checksum.

local build = require "build"
local device = require "device"
local emit = require "emit"
local fail = require "fail"
local index = require "release_index"
local release = require "release"
local select_ = require "select"
local sh = require "tests_sh"
local store = require "store"
local tree = require "release_tree"

local h200 = device.get "h200"

local function quiet(f, ...)
  local err, parts = host.err, {}
  host.err = function(text) parts[#parts + 1] = text end
  local ok, result = pcall(f, ...)
  host.err = err
  if not ok then error(result, 0) end
  return result, table.concat(parts)
end

local function refusal(f, ...)
  local ok, err = pcall(quiet, f, ...)
  assert(not ok, "it is not refused")
  return fail.text(err) or error("an internal fault: " .. tostring(err))
end

-- ------------------------------------------------------------------------------- winners

local function row(key, ratio, more)
  local r = { run = 1, key = key, ratio = ratio, pass = 2, status = "ok", device = "d", driver = "1",
              cuda = "13.0", cublas = "13.1" }
  for k, v in pairs(more or {}) do r[k] = v end
  return r
end

local function winner_key(...)
  local won = release.candidates({ ... })[1]
  return won and won.key
end

-- "b a": the keys in the order in which they are tried.
local function order(...)
  local keys = {}
  for i, r in ipairs(release.candidates { ... }) do keys[i] = r.key .. (r.cubin or "") end
  return table.concat(keys, " ")
end

local function winners()
  assert(winner_key(row("a", 1.0), row("b", 1.1), row("c", 0.9)) == "b", "the best ratio")
  assert(winner_key(row("a", 1.2, { pass = 1 }), row("b", 1.1)) == "b", "finalists come first")
  assert(winner_key(row("a", 1.2), row("b", 1.1), row("a", 1.0, { run = 2 })) == "b",
         "the newest row of a key counts")
  assert(winner_key(row("a", 1.2), row("b", 1.1), row("a", 0, { status = "wrong" })) == "b",
         "a key that failed last is out")
  assert(winner_key(row("a", 1.2), row("b", 1.0, { run = 2, driver = "2" })) == "b",
         "older versions do not compete")
  assert(winner_key(row("a", 0, { status = "crash" })) == nil, "no kernel, no winner")
  assert(winner_key(row("a", 1.2), row("b", 1.1), row("a", 1.0, { run = 2, pass = 1 })) == "a",
         "a newer first pass does not hide the last one")
  assert(winner_key(row("a", 1.2), row("b", 1.1), row("a", nil, { run = 2, pass = 1, status = "same" })) == "a",
         "a row of a twin hides nothing")
  assert(winner_key(row("a", 1.2), row("b", 1.1), row("a", nil, { pass = 1, status = "wrong" })) == "b",
         "a failure counts in any pass")
end

local function orders()
  assert(order(row("a", 1.0), row("b", 1.1), row("c", 1.2, { pass = 1 })) == "b a c")
  assert(order(row("a", 1.0), row("b", 1.1, { driver = "0" }), row("a", 1.2)) == "a b", "alike: once")
  local old, new = { cubin = "1", driver = "0" }, { cubin = "2" }
  assert(order(row("a", 1.5, old), row("b", 1.1, old), row("a", 0.9, new)) == "a2 a1 b1",
         "what is newer comes first, the older behind it")
  assert(order(row("a", 1.5, { cubin = "1" }), row("b", 1.1), row("a", 1.2, new)) == "a2 b a1")
  assert(order(row("a", 1.5, { cubin = "1" }), row("b", 1.1), row("a", nil, { status = "wrong" })) == "b")
end

-- ------------------------------------------------------------------------------- a project's store

local dir, opt

local NVCC = [[#!/bin/sh
[ "$1" = --version ] && { echo "release 13.0, V13.0.${LOOM_TEST_BUILD:-88}"; exit 0; }
while [ $# -gt 0 ]; do
  case "$1" in -o) out=$2; shift ;; *.cu) src=$1 ;; esac
  shift
done
echo "const char sum[] = \"$(cksum < "$src")$LOOM_TEST_SALT\";" | ${CC:-cc} -c -x c - -o "$out"
echo "ptxas info    : Used 96 registers"
]]

local PROBLEMS = {
  { M = 512, N = 512, K = 512, layout = "nn", dtype = "f16", acc = "f32" },
  { M = 512, N = 512, K = 512, layout = "tn", dtype = "f16", acc = "f32" },
}

local function compiled(items)
  local kernels = {}
  for i, item in ipairs(items) do
    kernels[i] = emit.render(item)
    kernels[i].cu = dir .. "/" .. kernels[i].stem .. ".cu"
  end
  quiet(build.run, kernels, opt)
  return kernels
end

local function add(problem, key, cubin, ratio, more)
  local st = store.open(dir .. "/store.db")
  local r = {
    run = st:new_run(), m = problem.M, n = problem.N, k = problem.K, layout = problem.layout,
    dtype = problem.dtype, acc = problem.acc, key = key, hash = emit.hash(key), cubin = cubin,
    preset = "h200", device = "NVIDIA H200", driver = "580.1", cuda = "13.0", cublas = "13.1.0",
    nvcc = "13.0.88", backend = "cuda", pass = 4, status = "ok", us = 10.0 / ratio,
    us_pdl = 9.0 / ratio, cublas_nn_us = 10.0, cublas_tn_us = 11.0, ratio = ratio,
    ratio_lo = ratio - 0.01, ratio_hi = ratio + 0.01, ratio_pdl = ratio * 1.1,
    ratio_pdl_lo = ratio, ratio_pdl_hi = ratio * 1.2, blocks = 32, cublas_math = "default",
  }
  for k, v in pairs(more or {}) do r[k] = v end
  st:add(r)
  st:close()
end

-- A store with three measured kernels of each problem; the second is the best.
local function fresh()
  dir = sh.tmpdir "release"
  host.write(dir .. "/nvcc", NVCC)
  assert(sh.run({ "chmod", "+x", dir .. "/nvcc" }).code == 0)
  opt = { out = dir, device = h200, nvcc = dir .. "/nvcc", jobs = 2, problems = {} }
  local kernels = {}
  for p, problem in ipairs(PROBLEMS) do
    kernels[p] = compiled(select_.pick(problem, h200, { space = { "hopper" }, n = 3 }))
    for i, kernel in ipairs(kernels[p]) do
      add(problem, kernel.key, kernel.built.cubin_sha, i == 2 and 1.25 or 1.0)
    end
  end
  return kernels
end

local function here(name)
  return dir .. "/release/h200/" .. name
end

local function read(name)
  return assert(host.read(here(name)))
end

-- All files of the release as one text.
local function bytes()
  local run = sh.run { "sh", "-c", 'cd "$1" && find . -type f | sort | xargs sha256sum', "sh", here "" }
  assert(run.code == 0, run.output)
  return run.output
end

local function whole_folder()
  local kernels = fresh()
  local made = quiet(release.run, opt)
  assert(#made.rows == 2 and #made.kernels == 2 and #made.refused == 0)
  for p, list in ipairs(kernels) do
    assert(made.rows[p].key == list[2].key, "the winner is another")
    assert(read("kernels/" .. list[2].stem .. ".cu") == list[2].text)
    assert(read("kernels/" .. list[2].stem .. ".json") == list[2].desc)
    assert(read("kernels/SHA256SUMS"):find(list[2].built.cubin_sha, 1, true))
  end
  local lines = {}
  for line in read("INDEX.tsv"):gmatch("[^\n]+") do lines[#lines + 1] = line end
  assert(#lines == 3 and lines[1]:find("^m\tn\tk\tlayout\tdtype\tacc\tkernel\tvs_cublas_nopdl\tlo\thi\t"))
  assert(lines[2]:find("^512\t512\t512\tnn\tf16\tf32\thopper%-%x+\t1.25\t1.24\t1.26\t1.375\t"), lines[2])
  local all = read("README.md") .. read("Makefile") .. read("src/table.c") .. read("INDEX.tsv")
  assert(not all:find("@%u+@") and not all:find(host.root, 1, true) and not all:find(dir, 1, true))
  assert(read("Makefile"):find("code=sm_90a -Xptxas -v\n", 1, true))
end

local function same_bytes()
  fresh()
  quiet(release.run, opt)
  local first = bytes()
  local again = quiet(release.run, opt)
  assert(again.changed == 0 and again.removed == 0 and bytes() == first)
  sh.remove(here "")
  quiet(release.run, opt)
  assert(bytes() == first)
end

local function other_cubin()
  local kernels = fresh()
  local key, best = kernels[1][2].key, kernels[1][1].key
  if kernels[1][3].key < kernels[1][1].key then best = kernels[1][3].key end
  add(PROBLEMS[1], key, ("0"):rep(64), 1.3)
  local made, said = quiet(release.run, opt)
  assert(#made.rows == 2 and made.rows[1].key == best and #made.refused == 1)
  assert(not said:find("left out", 1, true), said)
  assert(said:find("refused: 512x512x512 nn f16 acc f32: its cubin ", 1, true), said)
  assert(said:find("is not the measured 000000000000: run `make bench` again (KEY='" .. key, 1, true), said)
  assert(not read("INDEX.tsv"):find(key, 1, true))
end

-- What an earlier release served stays served: its line is tried before the problem is given up.
local function old_line()
  local kernels = fresh()
  quiet(release.run, opt)
  local index_text, key = read "INDEX.tsv", kernels[1][2].key
  for i = 1, 20 do add(PROBLEMS[1], kernels[1][1].key, string.format("%064d", i), 1.0, { driver = "581.0" }) end
  for i = 1, 3 do add(PROBLEMS[1], kernels[1][i].key, ("0"):rep(64), 2.0, { driver = "581.0" }) end
  local made, said = quiet(release.run, opt)
  assert(#made.rows == 2 and made.rows[1].key == key and made.rows[1].driver == "580.1", said)
  assert(#made.refused == 8 and made.changed == 0 and read "INDEX.tsv" == index_text, said)
  local argv = { sh.loom, "release", "OUT=" .. dir, "DEVICE=h200", "NVCC=" .. dir .. "/nvcc" }
  local run = sh.run(argv)
  assert(run.code == 1 and run.output:find("\nrefused: 8 count\nproblems: 2 count\n$"), run.output)
end

-- The line of a problem that is not asked for is refused: the store's rows are next.
local function not_asked()
  local kernels = fresh()
  add(PROBLEMS[2], kernels[2][1].key, ("0"):rep(64), 2.0)
  quiet(release.run, opt)
  host.write(here "INDEX.tsv", (read("INDEX.tsv"):gsub(kernels[2][2].built.cubin_sha, ("1"):rep(64))))
  opt.problems = { PROBLEMS[1] }
  local made = quiet(release.run, opt)
  assert(#made.rows == 2 and made.rows[2].key == kernels[2][2].key and #made.refused == 2)
  assert(read("INDEX.tsv"):find(kernels[2][2].built.cubin_sha, 1, true))
end

-- A problem without any kernel left is named.
local function lost()
  local kernels = fresh()
  quiet(release.run, opt)
  for i = 1, 3 do add(PROBLEMS[1], kernels[1][i].key, "?", 1.0, { status = "wrong" }) end
  local made, said = quiet(release.run, opt)
  assert(#made.rows == 1 and #made.refused == 1, said)
  assert(said:find("refused: 512x512x512 nn f16 acc f32: it failed when it was measured last (KEY=", 1, true), said)
  add({ M = 512, N = 512, K = 512, layout = "nt", dtype = "f16", acc = "f32" }, kernels[1][1].key, "?", 1.0)
  made, said = quiet(release.run, opt)
  assert(#made.rows == 1 and said:find("left out: 512x512x512 nt f16 acc f32: its one kernel is refused\n", 1, true), said)
end

local ODD = {
  { { ratio = math.huge }, "ratio is 'inf'" }, { { ratio_lo = -1.0 }, "ratio_lo is '-1.0'" },
  { { us = "fast" }, "us is 'fast'" }, { { m = "x" }, "m is 'x'" }, { { m = 0 }, "m is '0'" },
  { { layout = "xx" }, "layout is 'xx'" }, { { dtype = "f64" }, "dtype is 'f64'" },
  { { acc = "f16", dtype = "bf16" }, "acc is 'f16' with bf16" }, { { cubin = "" }, "cubin is ''" },
  { { ratio_pdl = math.huge }, "ratio_pdl is 'inf'" }, { { pass = "last" }, "pass is 'last'" },
  { { cublas_nn_us = 0 / 0 }, "cublas_nn_us is missing" }, { { status = "" }, "status is ''" },
}

local function odd_rows()
  local kernels = fresh()
  for i, odd in ipairs(ODD) do
    add(PROBLEMS[1], kernels[1][1].key, "?", 3.0, odd[1])
    local st = store.open(dir .. "/store.db")
    local last = st.db:rows("SELECT * FROM rows ORDER BY rowid DESC LIMIT 1", {})[1]
    st:close()
    assert(index.flaw(last) == odd[2], i .. ": " .. tostring(index.flaw(last)))
  end
  local made, said = quiet(release.run, opt)
  local note = string.format("has odd rows, %d skipped; the first is row 7: ratio is 'inf'\n", #ODD)
  assert(#made.rows == 2 and #made.refused == 0 and said:find(note, 1, true), said)
end

-- A search may have been over a spec of the user's own.
local function own_space()
  fresh()
  local text, spec = assert(host.read(host.root .. "/spaces/hopper.lua")), dir .. "/my/mine.lua"
  host.write(spec, (text:gsub('space "hopper"', 'space "mine"')))
  local kernel = compiled(select_.pick(PROBLEMS[1], h200, { space = { spec }, n = 1 }))[1]
  assert(kernel.key:find("^mine:"), kernel.key)
  add(PROBLEMS[1], kernel.key, kernel.built.cubin_sha, 3.0)
  local made, said = quiet(release.run, opt)
  assert(#made.refused == 1 and said:find("no space 'mine': say SPACE=folder/mine.lua if it is your own", 1, true), said)
  opt.space = { spec }
  made = quiet(release.run, opt)
  assert(#made.refused == 0 and made.rows[1].key == kernel.key and read("kernels/" .. kernel.stem .. ".cu") == kernel.text)
  opt.space = { "hopper" }
  assert(refusal(release.run, opt) == "SPACE 'hopper': a release wants files of your own, like my/mine.lua")
  opt.space = { spec, dir .. "/mine.lua" }
  assert(refusal(release.run, opt) == "SPACE has two files for the space 'mine'")
  opt.space = { dir .. "/gone.lua" }
  assert(refusal(release.run, opt):find("cannot open '.*gone.lua'"))
end

-- What cannot be written whole is not begun: the folder stays as it was.
local function unwritable()
  local kernels = fresh()
  quiet(release.run, opt)
  local first = bytes()
  add(PROBLEMS[1], kernels[1][1].key, kernels[1][1].built.cubin_sha, 2.0)
  host.mkdir(here "INDEX.tsv.new/in the way")
  assert(refusal(release.run, opt):find("INDEX.tsv.new", 1, true))
  sh.remove(here "INDEX.tsv.new")
  assert(bytes() == first)
  assert(quiet(release.run, opt).rows[1].key == kernels[1][1].key)
end

-- README and Makefile name the compiler of these cubins, not the one of the measurements.
local function compiler_named()
  fresh()
  host.write(dir .. "/nvcc", (NVCC:gsub(":%-88", ":-99")))
  sh.run { "chmod", "+x", dir .. "/nvcc" }
  quiet(release.run, opt)
  assert(read("README.md"):find("nvcc than 13.0.99 made", 1, true) and read("Makefile"):find("# With nvcc 13.0.99 ", 1, true))
  assert(read("INDEX.tsv"):find("\t13.0.88\t", 1, true))
end

-- What only raced, or was timed by another clock, is no result; an older loom's last pass is.
local function results_only()
  local kernels = fresh()
  local key, sha = kernels[1][1].key, kernels[1][1].built.cubin_sha
  for pass = 1, 3 do add(PROBLEMS[1], key, sha, 3.0, { pass = pass, process = pass == 3 and 1 or nil }) end
  add(PROBLEMS[1], key, sha, 3.0, { clock = "hot" })
  assert(quiet(release.run, opt).rows[1].key == kernels[1][2].key, "a raced figure won")
  add(PROBLEMS[1], kernels[1][2].key, kernels[1][2].built.cubin_sha, 1.25, { pass = 3, process = 2, status = "wrong" })
  assert(quiet(release.run, opt).rows[1].key ~= kernels[1][2].key, "it was wrong in one process")
  local st = store.open(dir .. "/store.db")
  st.db:exec("UPDATE rows SET schema = 3, pass = 2 WHERE ratio = 3.0 AND pass = 2")
  st:close()
  sh.remove(here "")
  local winner = quiet(release.run, opt).rows[1]
  assert(winner.pass == 4, "an older loom's row is behind results")
  st = store.open(dir .. "/store.db")
  st.db:exec("DELETE FROM rows WHERE pass = 4")
  st:close()
  sh.remove(here "")
  winner = quiet(release.run, opt).rows[1]
  assert(winner.key == key and winner.pass == 2 and winner.ratio == 3.0)
end

local function other_compiler()
  fresh()
  opt.env = { "LOOM_TEST_SALT=x" }
  host.remove(dir .. "/INDEX.tsv")
  sh.remove(dir .. "/cache")
  local said = refusal(release.run, opt)
  assert(said == "nothing to release: every kernel is refused", said)
  assert(not host.stat(here ""), "something was written")
end

-- A release of one problem keeps the other's line; a kernel that lost is gone.
local function merged()
  local kernels = fresh()
  quiet(release.run, opt)
  local other = kernels[2][2]
  host.write(here "kernels/mine.cu", "// a user's own\n")
  host.write(here "measurements/rows.tsv.gz", "rows")
  sh.run { "rm", dir .. "/store.db", dir .. "/store.db-wal", dir .. "/store.db-shm" }
  local better = kernels[1][1]
  add(PROBLEMS[1], better.key, better.built.cubin_sha, 1.5)
  opt.problems = { PROBLEMS[1] }
  local made = quiet(release.run, opt)
  assert(#made.rows == 2 and made.rows[1].key == better.key and made.rows[2].key == other.key)
  assert(made.removed == 1 and host.stat(here("kernels/" .. other.stem .. ".cu")))
  assert(not host.stat(here("kernels/" .. kernels[1][2].stem .. ".cu")))
  assert(not host.stat(here("kernels/" .. kernels[1][2].stem .. ".json")))
  assert(host.stat(here "kernels/mine.cu") and host.stat(here "measurements/rows.tsv.gz"))
  add(PROBLEMS[1], kernels[1][3].key, kernels[1][3].built.cubin_sha, 0.9)
  assert(quiet(release.run, opt).rows[1].key == better.key, "a slower kernel replaces a faster one")
end

-- A key with a value that the space does not list, and keys that no longer fit.
local function invented()
  local kernels = fresh()
  local key = kernels[1][2].key:gsub("stages=%d+", "stages=2"):gsub("chunk_buffers=%d+", "chunk_buffers=5")
  add(PROBLEMS[1], key, "?", 2.0)
  local made, said = quiet(release.run, opt)
  assert(#made.rows == 2 and #made.refused == 1 and said:find("its cubin ", 1, true), said)
  local sha = said:match("its cubin (%x+)")
  assert(sha and #sha == 12, said)
  local row_made = made.refused[1].kernel
  add(PROBLEMS[1], key, row_made.built.cubin_sha, 2.0)
  made = quiet(release.run, opt)
  assert(made.rows[1].key == key and read("kernels/" .. made.rows[1].stem .. ".cu"):find("chunk_buffers = 5", 1, true))
  add(PROBLEMS[1], (key:gsub("stages=%d+", "stages=64")), "?", 3.0)
  made, said = quiet(release.run, opt)
  assert(#made.refused == 1 and said:find("the key breaks '", 1, true), said)
  add(PROBLEMS[1], key .. ",speed=9", "?", 4.0)
  made, said = quiet(release.run, opt)
  assert(#made.refused == 2 and made.rows[1].key == key and said:find("has no longer all names of the key", 1, true), said)
  add(PROBLEMS[1], (key:gsub("hopper:", "gone:")), "?", 5.0)
  made, said = quiet(release.run, opt)
  assert(#made.refused == 3 and made.rows[1].key == key and said:find("no space 'gone'", 1, true), said)
end

local function no_store()
  dir = sh.tmpdir "release"
  opt = { out = dir, device = h200, nvcc = host.root .. "/tests/fake-nvcc", problems = {} }
  assert(refusal(release.run, opt):find("^no store at '.*': run `make bench SHAPE=MxNxK` first$"))
  store.open(dir .. "/store.db"):close()
  assert(refusal(release.run, opt):find("^nothing to release: '.*' has no kernel measured on h200$"))
  opt.nvcc = "none"
  assert(refusal(release.run, opt):find("no nvcc on PATH", 1, true))
end

local function bad_index()
  fresh()
  quiet(release.run, opt)
  local text = read "INDEX.tsv"
  host.write(here "INDEX.tsv", (text:gsub("\t1.25\t", "\tfast\t", 1)))
  assert(refusal(release.run, opt):find("INDEX.tsv:2: vs_cublas_nopdl 'fast' is no float$"))
  host.write(here "INDEX.tsv", (text:gsub("^m\t", "M\t")))
  assert(refusal(release.run, opt):find("INDEX.tsv:1: not an index of format 1", 1, true))
  host.write(here "INDEX.tsv", text .. "512\t512\n")
  assert(refusal(release.run, opt):find("INDEX.tsv:4: 2 columns, not ", 1, true))
end

local function verb()
  fresh()
  local argv = { sh.loom, "release", "OUT=" .. dir, "DEVICE=h200", "NVCC=" .. dir .. "/nvcc" }
  local run = sh.run(argv)
  assert(run.code == 0 and run.output:find("\nproblems: 2 count\n$"), run.output)
  argv[#argv + 1] = "SHAPE=64x64x64"
  run = sh.run(argv)
  assert(run.code == 0 and run.output:find("note: 64x64x64 nn f16 acc f32: nothing measured on h200"), run.output)
end

-- ------------------------------------------------------------------------------- the library

local STRICT = { "-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wstrict-prototypes", "-Werror", "-g", "-O1" }

-- Compiles and runs a C test; `args` stand behind the strict flags.
local function run_c(name, sanitizers, args)
  local program = dir .. "/" .. name
  local argv = { host.getenv("CC") or "cc", "-fsanitize=" .. sanitizers, "-fno-sanitize-recover=all" }
  for _, part in ipairs { STRICT, args, { "-o", program, "-lpthread", "-lm" } } do
    table.move(part, 1, #part, #argv + 1, argv)
  end
  local run = sh.run(argv)
  assert(run.code == 0, run.output)
  run = sh.run({ program }, { env = { "LOOM_VERBOSE=0", "LOOM_PDL=0" } })
  assert(run.code == 0, run.output)
  return run.output
end

-- loom.h wants one type of CUDA's headers, which a machine without the toolkit lacks.
local function lookup_table()
  dir = sh.tmpdir "release"
  local from = host.root .. "/templates/release/"
  host.write(dir .. "/cuda_runtime_api.h", "typedef struct CUstream_st *cudaStream_t;\n")
  host.write(dir .. "/k-0.cubin", "cubin")
  local rows, sizes, seen = {}, { 64, 128, 512, 4096, 16384 }, {}
  for i = 1, 1500 do
    local r = { m = sizes[i % 5 + 1] + i // 7, n = sizes[i * 7 % 5 + 1], k = sizes[i * 3 % 5 + 1] * (1 + i % 2),
                layout = ({ "nn", "tn", "nt", "tt" })[i % 4 + 1], dtype = i % 3 == 0 and "bf16" or "f16",
                acc = i % 3 == 1 and "f16" or "f32", stem = "k-0", ratio = 1.0, us = 1.0 }
    if not seen[index.title(r)] then rows[#rows + 1] = r end
    seen[index.title(r)] = true
  end
  index.sort(rows)
  host.write(dir .. "/table.c", tree.table_c(rows, { { stem = "k-0", desc = '{"loom":1}\n' } }))
  run_c("lookup_test", "address,undefined", {
    "-I" .. from, "-I" .. from .. "src", "-I" .. dir, "-Wa,-I" .. dir, dir .. "/table.c",
    from .. "src/lookup.c", host.root .. "/tests/c/lookup_test.c" })
end

local function cuda_home()
  local nvcc = build.nvcc {}
  local home = host.getenv("CUDA_HOME") or nvcc and nvcc:match("^(.*)/bin/nvcc$") or "/usr/local/cuda"
  return host.stat(home .. "/include/cublas_v2.h") and home
end

local function library()
  local home = cuda_home() or skip("no CUDA headers on this machine")
  local kernels = fresh()
  quiet(release.run, opt)
  local args = { "-I" .. here "", "-I" .. here "src", "-isystem", home .. "/include", "-Wa,-I" .. dir,
                 host.root .. "/tests/c/libloom_test.c" }
  for _, list in ipairs(kernels) do
    host.write(dir .. "/" .. list[2].stem .. ".cubin", host.read(list[2].built.cubin))
  end
  for _, name in ipairs(host.list(here "src")) do
    if name:find("%.c$") then args[#args + 1] = here("src/" .. name) end
  end
  run_c("libloom_test", "address,undefined", args)
  run_c("libloom_test_threads", "thread", args)
end

return {
  { name = "the winner is the best of the newest rows of the newest versions", run = winners },
  { name = "the others are tried from the best and newest on, each cubin once", run = orders },
  { name = "a release holds each problem's winner, rendered again", run = whole_folder },
  { name = "the same store gives the same bytes, twice and afresh", run = same_bytes },
  { name = "a cubin other than the measured one is refused, the next best serves", run = other_cubin },
  { name = "where all newer rows are refused the old line stays", run = old_line },
  { name = "a problem that is not asked for keeps being served", run = not_asked },
  { name = "a problem that nothing serves any more is named", run = lost },
  { name = "odd rows of a store are skipped with one line", run = odd_rows },
  { name = "a space of the user's own is released by SPACE", run = own_space },
  { name = "what cannot be written whole is not begun", run = unwritable },
  { name = "the compiler named is the one that made the cubins", run = compiler_named },
  { name = "only results are released, of an older loom its last pass", run = results_only },
  { name = "where every cubin differs nothing is written", run = other_compiler },
  { name = "other problems keep their lines, kernels that lost are removed", run = merged },
  { name = "an invented value is released, a key that no longer fits is refused", run = invented },
  { name = "without measurements there is one line", run = no_store },
  { name = "a damaged INDEX.tsv is refused at its line", run = bad_index },
  { name = "loom release prints a table and counts", run = verb },
  { name = "the generated table finds its rows alone (ASan, UBSan)", run = lookup_table },
  { name = "the library dispatches, refuses and falls back as it says (ASan, UBSan, TSan)", run = library },
}
