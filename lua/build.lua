-- build: kernels become cubins, through nvcc: its flags, what its log says, what decides a cubin's bytes.
-- The pool and the cache are compile.lua's.

local compile = require "compile"
local fail = require "fail"
local outdir = require "outdir"
local rules = require "rules"

local build = { timeout = 60 }

-- Where nvcc is: a path or a name by knob or environment, else what is found; nil without one.
-- NVCC=none means that there is none. The default name alone may be absent.
function build.nvcc(opt)
  local named = opt.nvcc or host.getenv("NVCC")
  if not named or named == "" then named = "nvcc" end
  if named == "none" then return nil end
  local path = named
  if not named:find("/", 1, true) then
    path = compile.find(named, (host.getenv("CUDA_HOME") or "") .. "/bin:/usr/local/cuda/bin")
  end
  if path and host.stat(path) then return path end
  return named ~= "nvcc" and fail(string.format("cannot open '%s': no such nvcc", named)) or nil
end

-- nvcc, or the one line that says what to do without.
function build.need_nvcc(opt)
  return build.nvcc(opt)
         or fail("no nvcc on PATH: say NVCC=path; `make gen`, `make bench BACKEND=cpu` need none")
end

-- {path, version text, short version} of the compiler.
function build.compiler(opt)
  local path = build.need_nvcc(opt)
  local text = compile.capture { path, "--version" }
  if not text then fail(string.format("'%s --version' failed", path)) end
  return { path = path, text = text, version = text:match("V(%d[%d.]*)") or "unknown" }
end

function build.flags(arch)
  local compute = arch:gsub("^sm_", "compute_")
  return { "-std=c++17", "-O3", "-cubin", "-gencode", "arch=" .. compute .. ",code=" .. arch,
           "-Xptxas", "-v" }
end

-- Sum of the integers that `pattern` captures in `text`.
local function total(text, pattern)
  local sum = 0
  for n in text:gmatch(pattern) do sum = sum + math.tointeger(tonumber(n)) end
  return sum
end

-- The different C75xx codes of a log: ptxas's notes on serialised wgmma.
local function performance_codes(log)
  local codes, seen = {}, {}
  for code in log:gmatch("%((C75%d%d)%)") do
    if not seen[code] then codes[#codes + 1] = code end
    seen[code] = true
  end
  return codes
end

-- The kernel's name is part of its contract; another one would be found out by the launcher only.
local function misnamed(log)
  for name in log:gmatch("Compiling entry function '([^']*)'") do
    if name ~= "loom_kernel" then
      return string.format("the kernel is called '%s', the launcher wants 'loom_kernel'", name)
    end
  end
end

-- What ptxas -v and the compiler said -> regs, spills, stack, smem, warnings, first error line.
function build.parse_log(log)
  local row = { warnings = performance_codes(log) }
  row.regs = math.tointeger(tonumber(log:match("Used (%d+) registers")))
  row.smem = math.tointeger(tonumber(log:match("(%d+) bytes smem"))) or 0
  row.stack = total(log, "(%d+) bytes stack frame")
  row.spills = total(log, "(%d+) bytes spill stores") + total(log, "(%d+) bytes spill loads")
  for line in log:gmatch("[^\n]+") do
    local bad = line:find("error", 1, true) or line:find("fatal", 1, true)
    if bad and not line:find(": warning", 1, true) then -- a warning may speak of what is called error
      row.error = line
      break
    end
  end
  return row
end

-- What a user should know about a kernel that compiled: spills and ptxas's C75xx, or "".
function build.notes(row)
  local notes = {}
  if row.spills > 0 then notes[#notes + 1] = string.format("spills %d B", row.spills) end
  table.move(row.warnings, 1, #row.warnings, #notes + 1, notes)
  return table.concat(notes, " ")
end

-- An ELF file for NVIDIA's machines (number 190); what a stand-in for nvcc writes is none.
local function is_cubin(bytes)
  return bytes:find("^\127ELF") ~= nil and #bytes > 20 and string.unpack("<I2", bytes, 19) == 190
end

-- nvcc as compile.lua's tool, and its version. `variant` {field, flags} is a build that is not timed: the rules
-- are not for it.
local function tool_of(opt, variant)
  local cc, flags, cache = build.compiler(opt), build.flags(opt.device.arch), outdir.path(opt, "cache")
  if variant then table.move(variant.flags, 1, #variant.flags, #flags + 1, flags) end
  compile.check_paths("nvcc", cache, host.root)
  -- Flags from the environment would change the cubin behind the key's back.
  local env = { "LC_ALL=C", "TMPDIR=" .. cache .. "/tmp", "NVCC_PREPEND_FLAGS=", "NVCC_APPEND_FLAGS=" }
  for _, setting in ipairs(opt.env or {}) do env[#env + 1] = setting end
  local headers = compile.texts(build.headers or host.root .. "/templates/lib", "%.c?u?h$")
  return {
    name = "nvcc", label = "build", word = "cubin", ext = ".cubin", cache = cache,
    field = variant and variant.field or "built",
    env = env, jobs = opt.jobs, timeout = opt.timeout or build.timeout, read = build.parse_log,
    flaw = misnamed, salt = table.concat({ headers, table.concat(flags, " "), cc.text }, "\0"),
    command = function(paths)
      local argv = { cc.path }
      table.move(flags, 1, #flags, 2, argv)
      for _, arg in ipairs { "-I" .. host.root .. "/templates/lib", "-o", paths.part, paths.source } do
        argv[#argv + 1] = arg
      end
      return argv
    end,
    take = function(row, path, sha)
      row.cubin, row.cubin_sha = path, sha
      local bytes = not variant and host.read(path)
      if bytes and is_cubin(bytes) then row.error = rules.refused(host.read(row.source), bytes) end
    end,
  }, cc.version
end

-- Compiles `list` (rendered kernels), see compile.run; a row, kernel.built, also has {regs, spills, stack,
-- smem, warnings, cubin, cubin_sha}. Returns false when the user interrupted, and nvcc's version.
-- opt.progress is told in the place of a progress line of its own.
function build.run(list, opt, on_row)
  local tool, version = tool_of(opt)
  return compile.run(list, tool, on_row, opt.progress), version
end

local quiet = { step = function() end, done = function() end, clear = function() end }

-- Compiles `list` for something else than timing: with more flags, and a kernel's row is kernel[field].
function build.variant(list, opt, field, flags)
  return compile.run(list, (tool_of(opt, { field = field, flags = flags })), nil, quiet)
end

-- In nanoseconds; a wait of a small product takes microseconds.
local WAIT_LIMIT = "-DLOOM_WAIT_LIMIT=500000000"

-- The kernel of a cubin as a build whose waits give up (templates/lib/loom_stuck.cuh): the path of that, or nil.
-- The source lies beside the cubin in the cache.
function build.bounded(cubin, opt)
  local source = cubin:gsub("%.cubin$", "") .. ".cu"
  local text = host.read(source)
  if not text then return nil end
  local kernel = { text = text, stem = "bounded", cu = source }
  local limited = setmetatable({ timeout = math.min(opt.timeout or 4, 4) }, { __index = opt })
  build.variant({ kernel }, limited, "bounded", { WAIT_LIMIT })
  local row = kernel.bounded
  return row and not row.error and row.cubin or nil
end

return build
