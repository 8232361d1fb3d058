-- cpu_build: kernels become shared objects for the CPU device, through g++; pool and cache are
-- compile.lua's.
--
-- The unit is bench/cpu/entry.cpp, which includes the kernel. What the kernel calls is declared in
-- templates/lib; the device itself is the program that loads the object. The kernel is called
-- "kernel.cu" in all that it reports (cpu.lua gives it its name back), so that equal text gives equal
-- objects.

local compile = require "compile"
local fail = require "fail"
local outdir = require "outdir"

local cpu_build = { timeout = 60, kernel = "kernel.cu" }

-- A register that nothing set holds a large number, not what the stack held. Warnings are for those who
-- write templates (tests/repro_test.lua compiles with all of them).
local FLAGS = { "-std=c++17", "-O1", "-fPIC", "-shared", "-w", "-Wno-psabi", "-Werror=return-type",
                "-ftrivial-auto-var-init=pattern", "-fstack-reuse=none" }

-- Its name: CXX may say another one.
local function named(opt)
  local name = opt.cxx or host.getenv("CXX")
  return name ~= "" and name or "g++"
end

-- Where g++ is, and what it says of its version; nil and the reason without one. Another compiler knows
-- neither the flags nor where variables that nothing set get their values.
function cpu_build.compiler(opt)
  local name = named(opt)
  local path = name:find("/", 1, true) and name or compile.find(name)
  if not path or not host.stat(path) then
    return nil, name == "g++" and "no g++ on PATH: the CPU device compiles kernels with it; `make deps` installs it"
                or string.format("no compiler '%s', which CXX names: the CPU device compiles kernels with g++", name)
  end
  local text = compile.capture { path, "--version" }
  if not text then
    return nil, host.interrupted() and "interrupted" or string.format("'%s --version' failed", outdir.shown(path))
  end
  if not text:find("g++", 1, true) and not text:find("Free Software Foundation", 1, true) then
    return nil, string.format("CXX names '%s', the CPU device compiles kernels with g++: say CXX=g++", name)
  end
  return path, text
end

local function need_compiler(opt)
  local path, text = cpu_build.compiler(opt)
  return path or fail(text), text
end

-- What stands behind an error that comes of CUDA's own words: the device knows the vocabulary alone.
local HINT = " (the CPU device runs the vocabulary of templates/lib/loom.cuh, neither asm nor CUDA's own functions)"

local function hinted(line)
  local foreign = line:find("'asm'", 1, true) or line:find("'__[%w_]+' was not declared")
  return line .. (foreign and HINT or "")
end

-- The figures of a log: the first line that is an error. The assembler's speak of a file that is gone.
function cpu_build.parse_log(log)
  local row = { warnings = {} }
  for line in log:gmatch("[^\n]+") do
    local assembler = line:match(": Error: (.*)$")
    if assembler then row.error = "the assembler: " .. assembler .. HINT end
    if line:find(": error: ", 1, true) or line:find("fatal error: ", 1, true) then row.error = hinted(line) end
    if row.error then break end
  end
  return row
end

local function command(path, paths)
  local argv = { path }
  table.move(FLAGS, 1, #FLAGS, 2, argv)
  for _, arg in ipairs {
    "-I" .. host.root .. "/templates/lib", "-I" .. host.root .. "/bench/cpu",
    string.format("-fmacro-prefix-map=%s=%s", paths.source, cpu_build.kernel),
    string.format('-DLOOM_KERNEL="%s"', paths.source), "-o", paths.part,
    host.root .. "/bench/cpu/entry.cpp",
  } do
    argv[#argv + 1] = arg
  end
  return argv
end

local function tool_of(opt)
  local path, version = need_compiler(opt)
  local cache = outdir.path(opt, "cache")
  compile.check_paths("g++", cache, host.root)
  local env = { "LC_ALL=C", "TMPDIR=" .. cache .. "/tmp" }
  for _, setting in ipairs(opt.env or {}) do env[#env + 1] = setting end
  local entry = host.root .. "/bench/cpu"
  local salt = { compile.texts(host.root .. "/templates/lib", "%.c?u?h$"), table.concat(FLAGS, " "), version }
  if host.stat(entry) then salt[#salt + 1] = compile.texts(entry, "^entry%.cpp$") end
  return {
    name = "g++", label = "build for the CPU device", word = "object", ext = ".so", field = "cpu", cache = cache,
    env = env, jobs = opt.jobs, timeout = opt.timeout or cpu_build.timeout, read = cpu_build.parse_log,
    salt = table.concat(salt, "\0"),
    command = function(paths) return command(path, paths) end,
    take = function(row, so, sha) row.so, row.so_sha = so, sha end,
  }
end

-- Compiles `list` (rendered kernels), see compile.run; a row, kernel.cpu, also has {so, so_sha}. Returns
-- false when the user interrupted.
function cpu_build.run(list, opt, on_row)
  return compile.run(list, tool_of(opt), on_row, opt.progress)
end

return cpu_build
