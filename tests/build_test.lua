-- The compile pool and its cache, with tests/fake-nvcc in nvcc's place.

local build = require "build"
local device = require "device"
local emit = require "emit"
local fail = require "fail"
local outdir = require "outdir"
local select_ = require "select"
local sh = require "tests_sh"

local dir = sh.tmpdir "build"
local nvcc = host.root .. "/tests/fake-nvcc"

local function kernels(...)
  local list = {}
  for i, text in ipairs { ... } do
    local stem = "toy-" .. i
    list[i] = { text = text, key = "toy:" .. text, stem = stem, cu = dir .. "/" .. stem .. ".cu" }
  end
  return list
end

-- Builds kernels with the fake told `words`; stderr is quiet.
local function run(list, words, more)
  local opt = { nvcc = nvcc, out = dir, device = { name = "h200", arch = "sm_90a" }, jobs = 2,
                env = { "LOOM_FAKE_NVCC=" .. (words or ""),
                        "LOOM_FAKE_NVCC_COUNT=" .. dir .. "/count" } }
  for k, v in pairs(more or {}) do opt[k] = v end
  local err = host.err
  host.err = function() end
  local ok, done, version = pcall(build.run, list, opt)
  host.err = err
  if not ok then error(done, 0) end
  return list, done, version
end

local function fresh()
  dir = sh.tmpdir "build"
end

local function compiles()
  local text, count = host.read(dir .. "/count") or "", 0
  for _ in text:gmatch("\n") do count = count + 1 end
  return count
end

local function figures()
  fresh()
  local list, done, version = run(kernels("a", "b"))
  assert(done and version == "13.0.0")
  for _, kernel in ipairs(list) do
    local row = kernel.built
    assert(row.code == 0 and row.regs == 96 and row.spills == 0 and row.smem == 1024)
    assert(not row.error and #row.warnings == 0 and build.notes(row) == "" and not row.cached)
    assert(host.sha256(host.read(row.cubin)) == row.cubin_sha)
    assert(host.read(row.log):find("Used 96 registers", 1, true))
  end
  assert(list[1].built.cubin_sha ~= list[2].built.cubin_sha and compiles() == 2)
end

local function hits()
  fresh()
  local first = run(kernels("a"))
  local second = run(kernels("a"))
  assert(compiles() == 1 and second[1].built.cached and second[1].built.regs == 96)
  assert(second[1].built.cubin_sha == first[1].built.cubin_sha)
end

-- What `spoil` does to a row's files must make the next build compile again, and rightly.
local function miss_after(spoil)
  fresh()
  local row = run(kernels("a"))[1].built
  spoil(row)
  local again = run(kernels("a"))[1].built
  assert(compiles() == 2 and not again.cached and again.cubin_sha == row.cubin_sha)
  assert(run(kernels("a"))[1].built.cached and compiles() == 2)
end

-- Whatever else goes into a cubin is in the key: another header, another build of the compiler.
local function keyed_by_all()
  fresh()
  local headers = dir .. "/headers"
  build.headers = headers
  assert(host.write(headers .. "/loom.cuh", "// one\n"))
  local ok, err = pcall(function()
    run(kernels("a"))
    assert(host.write(headers .. "/loom.cuh", "// two\n"))
    run(kernels("a"))
    assert(compiles() == 2, "a changed header must miss")
    assert(host.write(headers .. "/more.cuh", "// three\n"))
    run(kernels("a"))
    assert(compiles() == 3, "another header must miss")
  end)
  build.headers = nil
  assert(ok, err)
  local other = dir .. "/nvcc" -- the same program, another build of it
  assert(host.write(other, "#!/bin/sh\nexec env LOOM_FAKE_NVCC_VERSION=9 sh '" .. nvcc .. "' \"$@\"\n"))
  sh.run { "chmod", "+x", other }
  run(kernels("b"))
  run(kernels("b"), nil, { nvcc = other })
  assert(compiles() == 5, "another build of the compiler must miss")
end

-- Flags that nvcc takes from the environment would change the cubin and not the key.
local function environment_is_cleared()
  fresh()
  local other = dir .. "/nvcc"
  assert(host.write(other, "#!/bin/sh\n[ \"$1\" = --version ] || [ -z \"$NVCC_APPEND_FLAGS$NVCC_PREPEND_FLAGS\" ] || exit 9\nexec sh '"
                    .. nvcc .. "' \"$@\"\n"))
  sh.run { "chmod", "+x", other }
  local script = string.format("NVCC_APPEND_FLAGS=-O0 NVCC_PREPEND_FLAGS=-g '%s' build SHAPE=64x64x64 N=3 "
                               .. "NVCC='%s' OUT='%s'", sh.loom, other, dir)
  local done = sh.run { "sh", "-c", script }
  assert(done.code == 0, done.output)
end

-- The launcher looks for loom_kernel: another name fails here, the second time too.
local function misnamed()
  fresh()
  for round = 1, 2 do
    local row = run(kernels("a"), "named=my_kernel")[1].built
    assert(not row.cubin and row.error:find("called 'my_kernel', the launcher wants 'loom_kernel'", 1, true))
    assert(compiles() == round, "a failure is no entry of the cache")
  end
end

local function equal_text()
  fresh()
  local list = run(kernels("a", "a", "b"))
  assert(compiles() == 2 and list[1].built == list[2].built)
end

local function keyed()
  fresh()
  run(kernels("a"))
  run(kernels("a"), nil, { device = { name = "a100", arch = "sm_80" } })
  assert(compiles() == 2, "another architecture")
end

local function failing()
  fresh()
  local list, done = run(kernels("good", "bad"), "fail=bad")
  assert(done and not list[1].built.error)
  local row = list[2].built
  assert(row.code == 2 and row.error == outdir.shown(dir) .. "/toy-2.cu(7): error: planted")
  assert(not row.cubin and host.read(row.log):find("planted", 1, true))
  run(kernels("bad"))
  assert(compiles() == 3, "a failure is not cached")
end

-- The line of the template stands behind an error that is about the kernel's text; a header's error is
-- about the line that uses the header.
local function placed()
  fresh()
  local function error_of(compiler, place)
    local list = kernels("bad")
    list[1].place = place
    return run(list, "fail=bad", { nvcc = compiler })[1].built.error
  end
  local shown = outdir.shown(dir) .. "/toy-1.cu(7): error: planted"
  assert(error_of(nvcc, function(line) return line == 7 and "templates/x.cu:3" end) == shown .. " (templates/x.cu:3)")
  assert(error_of(nvcc, function() return nil end) == shown)
  assert(error_of(nvcc, nil) == shown)
  local other = dir .. "/nvcc"
  assert(host.write(other, [[#!/bin/sh
[ "$1" = --version ] && exec sh ']] .. nvcc .. [[' --version
for src; do :; done
echo "lib/loom.cuh(12): error: static assertion failed"
echo "          detected during:"
echo "            instantiation of \"void f<T>()\" at line 9 of lib/loom.cuh"
echo "            instantiation of \"void g<T>()\" at line 41 of $src"
exit 2
]]))
  sh.run { "chmod", "+x", other }
  local said = error_of(other, function(line) return "templates/x.cu:" .. line end)
  assert(said == "lib/loom.cuh(12): error: static assertion failed (templates/x.cu:41)", said)
end

-- A kernel with #line is an entry of its own, and takes nobody's place.
local function lined()
  fresh()
  local h200 = device.get "h200"
  local p = { M = 512, N = 512, K = 512, layout = "tn", dtype = "f16", acc = "f32" }
  local items = select_.pick(p, h200, { n = 1, space = { "simt" } })
  local rows = {}
  for i, lines in ipairs { false, true, false, true } do
    local list = emit.all(items, dir .. "/kernels", { lines = lines })
    rows[i] = run(list, nil, { device = h200 })[1].built
    assert((list[1].text:find('\n#line 1 "templates/simt.cu"\n', 1, true) ~= nil) == lines)
    assert(host.read(list[1].cu) == list[1].text)
  end
  assert(compiles() == 2 and not rows[2].cached and rows[3].cached and rows[4].cached)
  assert(rows[1].cubin == rows[3].cubin and rows[2].cubin == rows[4].cubin and rows[1].cubin ~= rows[2].cubin)
  assert(rows[1].cubin_sha ~= rows[2].cubin_sha) -- the fake's cubin is a checksum of its source
end

local function hanging()
  fresh()
  local started = host.now()
  local row = run(kernels("a"), "hang", { timeout = 1 })[1].built
  assert(row.timeout and row.error == "no end after 1 s", row.error)
  assert(host.now() - started < 10 and not row.cubin)
end

-- A compiler that crashes, one that hangs, and good kernels around them: theirs are whole.
local function among_good_ones()
  fresh()
  local list, done = run(kernels("one", "dies", "two", "stays", "three"), "crash=dies hang=stays", { timeout = 1 })
  assert(done and compiles() == 5)
  for i, why in pairs { [2] = "killed by signal 9", [4] = "no end after 1 s" } do
    local row = list[i].built
    assert(row.error == why and not row.cubin, tostring(row.error))
  end
  for _, i in ipairs { 1, 3, 5 } do
    local row = list[i].built
    assert(not row.error and row.regs == 96 and host.sha256(host.read(row.cubin)) == row.cubin_sha)
  end
  for _, kernel in ipairs(run(kernels("one", "dies", "two", "stays", "three"))) do
    assert(not kernel.built.error, "a compiler that recovers is asked again")
  end
  assert(compiles() == 7, "good ones come from the cache")
end

local function flagged()
  fresh()
  for _ = 1, 2 do
    local row = run(kernels("a"), "c7510 spill")[1].built
    assert(not row.error and row.spills == 40 and row.warnings[1] == "C7510" and #row.warnings == 1)
    assert(build.notes(row) == "spills 40 B C7510", build.notes(row))
  end
  assert(compiles() == 1, "the flags are cached too")
end

local function no_leftovers()
  fresh()
  run(kernels("a", "bad"), "fail=bad")
  for _, sub in ipairs(host.list(dir .. "/cache")) do
    for _, name in ipairs(host.list(dir .. "/cache/" .. sub)) do
      assert(not name:find("part"), name)
    end
  end
end

return {
  { name = "ptxas's figures, the cubin and its log come back", run = figures },
  { name = "the same text a second time comes from the cache", run = hits },
  { name = "a cubin that was cut short is compiled again", run = function()
    miss_after(function(row) host.write(row.cubin, host.read(row.cubin):sub(1, 3)) end)
  end },
  { name = "an empty cubin is compiled again", run = function()
    miss_after(function(row) host.write(row.cubin, "") end)
  end },
  { name = "a cubin without its log is compiled again", run = function()
    miss_after(function(row) host.remove(row.log) end)
  end },
  { name = "equal text is built once", run = equal_text },
  { name = "another architecture is another entry", run = keyed },
  { name = "another header or compiler build is another entry", run = keyed_by_all },
  { name = "nvcc gets no flags from the environment", run = environment_is_cleared },
  { name = "a kernel of another name is refused", run = misnamed },
  { name = "a failed compile names the kernel's line and keeps its log", run = failing },
  { name = "an error of the compiler names the template's line", run = placed },
  { name = "a kernel with #line shadows no other in the cache", run = lined },
  { name = "the first error of a log is none of its warnings", run = function()
    local log = 'k.cu(7): warning #177-D: variable "error_bits" was declared but never referenced\n'
      .. 'k.cu(9): error: identifier "q" is undefined\n'
    assert(build.parse_log(log).error == 'k.cu(9): error: identifier "q" is undefined')
  end },
  { name = "a compiler that does not end is killed", run = hanging },
  { name = "crashes and hangs of the compiler leave the other kernels whole", run = among_good_ones },
  { name = "spills and C75xx are flagged, and kept", run = flagged },
  { name = "an nvcc that writes an empty cubin has failed", run = function()
    fresh()
    assert(run(kernels("a"), "empty")[1].built.error == "nvcc wrote no cubin")
  end },
  { name = "no half-written file stays in the cache", run = no_leftovers },
  { name = "NVCC=none is no nvcc", run = function()
    assert(build.nvcc { nvcc = "none" } == nil)
    local ok, err = pcall(build.need_nvcc, { nvcc = "none" })
    assert(not ok and fail.text(err):find("no nvcc on PATH", 1, true), tostring(err))
  end },
  { name = "an nvcc that is not there is one line", run = function()
    local ok, err = pcall(build.nvcc, { nvcc = "/nowhere/nvcc" })
    assert(not ok and fail.text(err) == "cannot open '/nowhere/nvcc': no such nvcc", tostring(err))
  end },
}
