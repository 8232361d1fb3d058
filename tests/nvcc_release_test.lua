-- nvcc_release_test.lua -- a release made with the real nvcc builds in a fresh folder with make and
-- nvcc alone: no loom, no lua; without warnings, from the very cubins, exporting loom.h's functions
-- only. Needs the CUDA toolkit, no GPU: a part of `make check`.

local build = require "build"
local device = require "device"
local emit = require "emit"
local release = require "release"
local select_ = require "select"
local sh = require "tests_sh"
local store = require "store"

local PROBLEM = { M = 1024, N = 1024, K = 1024, layout = "tn", dtype = "f16", acc = "f32" }

local FUNCTIONS = {
  "loom_create", "loom_destroy", "loom_gemm", "loom_last_error", "loom_last_path",
  "loom_problem_at", "loom_problem_count", "loom_served", "loom_set_pdl",
}

local function toolkit()
  local nvcc = build.nvcc {}
  local home = nvcc and nvcc:match("^(.*)/bin/nvcc$")
  return home and host.stat(home .. "/include/cublas_v2.h") and nvcc
end

-- A store in `dir` with one measured kernel for each space of the device.
local function measure(dir, opt)
  local st = store.open(dir .. "/store.db")
  for i, name in ipairs { "hopper", "mma", "simt" } do
    local problem = { M = 1024 * i }
    for k, v in pairs(PROBLEM) do problem[k] = problem[k] or v end -- order does not matter: a copy
    local kernel = emit.render(select_.pick(problem, opt.device, { space = { name }, n = 1 })[1])
    kernel.cu = dir .. "/" .. kernel.stem .. ".cu"
    build.run({ kernel }, opt)
    st:add {
      run = st:new_run(), m = problem.M, n = problem.N, k = problem.K, layout = problem.layout,
      dtype = problem.dtype, acc = problem.acc, key = kernel.key, hash = kernel.hash,
      cubin = assert(kernel.built.cubin_sha, kernel.built.error), preset = "h200", device = "d",
      driver = "1", cuda = "13.0", cublas = "13.1", nvcc = "13.0", backend = "cuda", pass = 4,
      status = "ok", us = 10.0, cublas_nn_us = 10.0, cublas_tn_us = 10.0, ratio = 1.0,
      ratio_lo = 1.0, ratio_hi = 1.0,
    }
  end
  st:close()
end

local function fresh_folder()
  local nvcc = toolkit() or skip("no CUDA toolkit on this machine")
  local dir = sh.tmpdir "release with nvcc"
  local opt = { out = dir, device = device.get "h200", nvcc = nvcc, problems = {} }
  measure(dir, opt)
  local made = release.run(opt)
  assert(#made.rows == 3 and #made.refused == 0)
  local copy = dir .. "/a copy"
  local run = sh.run({ "sh", "-c", 'cp -r "$1" "$2" && cd "$2" && make -j2 NVCC="$3" CFLAGS="-Werror -Wshadow"', "sh",
                       made.dir, copy, nvcc }, { timeout = 300 })
  assert(run.code == 0, run.output)
  assert(not run.output:find("note: not the measured cubins", 1, true), run.output)
  assert(not run.output:find("warning"), run.output)
  run = sh.run { "nm", "-D", "--defined-only", copy .. "/build/libloom.so" }
  local names = {}
  for name in run.output:gmatch("%x+ %a ([^\n@]+)") do names[#names + 1] = name end
  assert(table.concat(names, " ") == table.concat(FUNCTIONS, " "), run.output)
  run = sh.run { "make", "-C", copy, "-q", "NVCC=" .. nvcc }
  assert(run.code == 0, "a second make builds again")
  local makefile = host.read(copy .. "/Makefile")
  host.write(copy .. "/Makefile", makefile .. "# changed\n")
  run = sh.run { "make", "-C", copy, "-n", "NVCC=" .. nvcc }
  for _, what in ipairs { "-o build/hopper%-%x+%.cubin", "-o build/loom%.o", "-o build/example%.data%.o" } do
    assert(run.output:find(what), "flags may have changed: " .. run.output)
  end
  host.write(copy .. "/Makefile", makefile)
  run = sh.run { copy .. "/build/example", "nonsense" }
  assert(run.code == 2 and run.output:find("'nonsense' is not understood", 1, true), run.output)
  host.write(copy .. "/kernels/SHA256SUMS", ("0000" .. host.read(copy .. "/kernels/SHA256SUMS"):sub(5)))
  run = sh.run { "make", "-C", copy, "NVCC=" .. nvcc }
  assert(run.code == 0 and run.output:find("note: not the measured cubins", 1, true), run.output)
  sh.remove(dir)
end

-- Their names would carry a hash of the source's path: equal text would give other cubins elsewhere.
local function no_internal_names()
  local nvcc = toolkit() or skip("no CUDA toolkit on this machine")
  local dir = sh.tmpdir "release cubins"
  local opt = { out = dir, device = device.get "h200", nvcc = nvcc }
  local kernels = {}
  for i, item in ipairs(select_.pick(PROBLEM, opt.device, { n = 6 })) do
    kernels[i] = emit.render(item)
    kernels[i].cu = dir .. "/" .. kernels[i].stem .. ".cu"
  end
  build.run(kernels, opt)
  for _, kernel in ipairs(kernels) do
    local cubin = assert(host.read(kernel.built.cubin or ""), kernel.built.error)
    assert(not cubin:find("_INTERNAL_", 1, true), kernel.key .. " has static symbols left")
  end
  sh.remove(dir)
end

return {
  { name = "a release builds in a fresh folder with nvcc alone, from the measured cubins", run = fresh_folder },
  { name = "no kernel leaves a static function, so equal text gives equal cubins anywhere", run = no_internal_names },
}
