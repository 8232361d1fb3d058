-- build: kernels become cubins, through a pool of nvcc processes and a cache.
--
-- A cubin's cache key is the hash of everything that decides its bytes: source, templates/lib,
-- flags, `nvcc --version`. Entry: out/cache/<2 hex>/<key>.cu, .cubin and .log; the log's first line
-- holds the cubin's hash, so an entry that was cut short or edited counts as missing. The source is
-- compiled where it lies in the cache: symbols that are not inlined carry a hash of its path, so
-- one checkout gives equal cubins for equal text.

local fail = require "fail"
local outdir = require "outdir"
local progress = require "progress"

local build = { timeout = 60 }

-- A program by its bare name: on PATH, else in the toolkit's folder.
local function find_program(name)
  local dirs = (host.getenv("PATH") or "") .. ":" .. (host.getenv("CUDA_HOME") or "") .. "/bin"
  for dir in (dirs .. ":/usr/local/cuda/bin"):gmatch("[^:]+") do
    local st = host.stat(dir .. "/" .. name)
    if st and not st.dir then return dir .. "/" .. name end
  end
end

-- Where nvcc is: a path or a name by knob or environment, else what is found; nil without one.
-- NVCC=none means that there is none. The default name alone may be absent.
function build.nvcc(opt)
  local named = opt.nvcc or host.getenv("NVCC")
  if not named or named == "" then named = "nvcc" end
  if named == "none" then return nil end
  local path = named
  if not named:find("/", 1, true) then path = find_program(named) end
  if path and host.stat(path) then return path end
  return named ~= "nvcc" and fail(string.format("cannot open '%s': no such nvcc", named)) or nil
end

-- nvcc, or the one line that says what to do without.
function build.need_nvcc(opt)
  return build.nvcc(opt)
         or fail("no nvcc on PATH: say NVCC=path; `make gen`, `make bench BACKEND=fake` need none")
end

-- Output of one short command, or nil where it cannot run or fails.
function build.capture(argv, seconds)
  local pool = host.pool(1)
  pool:submit { argv = argv, timeout = seconds or 20, env = { "LC_ALL=C" } }
  local done = pool:wait()
  return done and done.code == 0 and done.output or nil
end

-- {path, version text, short version} of the compiler.
function build.compiler(opt)
  local path = build.need_nvcc(opt)
  local text = build.capture { path, "--version" }
  if not text then fail(string.format("'%s --version' failed", path)) end
  return { path = path, text = text, version = text:match("V(%d[%d.]*)") or "unknown" }
end

function build.flags(arch)
  local compute = arch:gsub("^sm_", "compute_")
  return { "-std=c++17", "-O3", "-cubin", "-gencode", "arch=" .. compute .. ",code=" .. arch,
           "-Xptxas", "-v" }
end

local function told(value, err)
  return value or fail(err)
end

-- The headers a kernel may include, names and text.
local function header_text()
  local dir, parts = build.headers or host.root .. "/templates/lib", {}
  for _, name in ipairs(told(host.list(dir))) do
    if name:find("%.c?u?h$") then
      parts[#parts + 1] = name
      parts[#parts + 1] = told(host.read(dir .. "/" .. name))
    end
  end
  return table.concat(parts, "\0")
end

-- Everything that is the same for all kernels of one run.
local function context(opt)
  local cc = build.compiler(opt)
  local flags = build.flags(opt.device.arch)
  local cache = outdir.path(opt, "cache")
  for _, path in ipairs { cache, host.root } do -- nvcc hands its paths to a shell, unquoted
    if path:find("[\"'`$\\;&|<>\n]") then
      fail(string.format("nvcc cannot work in '%s': its shell would read the punctuation", path))
    end
  end
  -- Flags from the environment would change the cubin behind the key's back.
  local env = { "LC_ALL=C", "TMPDIR=" .. cache .. "/tmp", "NVCC_PREPEND_FLAGS=", "NVCC_APPEND_FLAGS=" }
  for _, setting in ipairs(opt.env or {}) do env[#env + 1] = setting end
  return {
    cc = cc, flags = flags, timeout = opt.timeout or build.timeout, cache = cache, env = env,
    salt = table.concat({ header_text(), table.concat(flags, " "), cc.text }, "\0"),
  }
end

local function cache_paths(ctx, text)
  local key = host.sha256(text .. "\0" .. ctx.salt)
  local base = string.format("%s/%s/%s", ctx.cache, key:sub(1, 2), key)
  return { key = key, source = base .. ".cu", cubin = base .. ".cubin", log = base .. ".log" }
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

-- A cached cubin whose hash is the one its log promises, as a row; nil is a miss.
local function cached(paths)
  local log, cubin = host.read(paths.log), host.read(paths.cubin)
  local promised = log and log:match("^cubin (%x+)\n")
  if not promised or not cubin or cubin == "" or host.sha256(cubin) ~= promised then return nil end
  local row = build.parse_log(log)
  row.code, row.seconds, row.cached, row.error = 0, 0.0, true, nil
  row.cubin, row.cubin_sha, row.log = paths.cubin, promised, paths.log
  return row
end

local function write(path, text)
  local wrote, err = host.write(path, text)
  if wrote == nil then fail(err) end
end

-- One kernel's command. nvcc writes beside the entry; only a complete cubin gets its name.
local function submit(ctx, pool, paths, text)
  write(paths.source, text)
  paths.part = string.format("%s.%d.part", paths.cubin, math.floor(host.now() * 1e6))
  local argv = { ctx.cc.path }
  table.move(ctx.flags, 1, #ctx.flags, 2, argv)
  for _, arg in ipairs { "-I" .. host.root .. "/templates/lib", "-o", paths.part, paths.source } do
    argv[#argv + 1] = arg
  end
  pool:submit { argv = argv, timeout = ctx.timeout, tag = paths.key, env = ctx.env }
end

local function why_failed(done, row, timeout)
  if done.timeout then return string.format("no end after %d s", timeout) end
  if done.signal then return string.format("killed by signal %d", done.signal) end
  if done.code == 0 then return misnamed(done.output) or "nvcc wrote no cubin" end
  return row.error or string.format("nvcc exited with %d", done.code)
end

-- The compiler speaks of the cache's copy; the user knows the kernel's own file.
local function with_user_path(text, paths, kernel)
  local from, to = text:find(paths.source, 1, true)
  if not from then return text end
  return text:sub(1, from - 1) .. outdir.shown(kernel.cu) .. text:sub(to + 1)
end

-- The kernel's line that an error is about: it names one, or a header's, and then the log says where
-- the kernel uses that.
local function kernel_line(text, log, source)
  local _, to = text:find(source, 1, true)
  local line = to and (text:match("^%((%d+)%)", to + 1) or text:match("^:(%d+):", to + 1)) -- preprocessor: x.cu:9:
  if not line then
    local at = log:find(" of " .. source, 1, true)
    line = at and log:sub(1, at - 1):match("at line (%d+)$")
  end
  return math.tointeger(tonumber(line))
end

-- An error as the user should see it, with the line of the template that wrote the kernel's line.
local function placed(text, log, paths, kernel)
  local line = kernel.place and kernel_line(text, log, paths.source)
  local place = line and kernel.place(line)
  return with_user_path(text, paths, kernel) .. (place and string.format(" (%s)", place) or "")
end

-- A finished process -> row; a good cubin gets its place in the cache, beside its log.
local function collect(ctx, paths, done, kernel)
  local row = build.parse_log(done.output)
  local cubin = host.read(paths.part)
  row.code, row.signal, row.timeout = done.code, done.signal, done.timeout
  row.seconds, row.log = done.seconds, paths.log
  local first = "failed\n"
  if done.code == 0 and cubin and cubin ~= "" and not misnamed(done.output) then
    local ok, err = host.rename(paths.part, paths.cubin)
    if not ok then fail(err) end
    row.cubin, row.cubin_sha, row.error = paths.cubin, host.sha256(cubin), nil
    first = "cubin " .. row.cubin_sha .. "\n"
  else
    row.error = placed(why_failed(done, row, ctx.timeout), done.output, paths, kernel)
    host.remove(paths.part)
  end
  write(paths.log, first .. done.output)
  return row
end

-- What a user should know about a kernel that compiled: spills and ptxas's C75xx, or "".
function build.notes(row)
  local notes = {}
  if row.spills > 0 then notes[#notes + 1] = string.format("spills %d B", row.spills) end
  table.move(row.warnings, 1, #row.warnings, #notes + 1, notes)
  return table.concat(notes, " ")
end

-- Looks kernels up in the cache; those that miss are grouped by cache key: equal text builds once.
local function plan(ctx, list, finish)
  local missing, waiting = {}, {}
  for _, kernel in ipairs(list) do
    local paths = cache_paths(ctx, kernel.text)
    local row = not waiting[paths.key] and cached(paths)
    if row then
      finish(kernel, row)
    elseif waiting[paths.key] then
      table.insert(waiting[paths.key].kernels, kernel)
    else
      waiting[paths.key] = { paths = paths, kernels = { kernel } }
      missing[#missing + 1] = waiting[paths.key]
    end
  end
  return missing, waiting
end

local function drain(ctx, pool, waiting, finish)
  while pool:pending() > 0 do
    local done = pool:wait(1.0)
    if host.interrupted() then return true end
    if done then
      local group = waiting[done.tag]
      local row = collect(ctx, group.paths, done, group.kernels[1])
      for _, kernel in ipairs(group.kernels) do finish(kernel, row) end
    end
  end
  return false
end

-- Compiles `list` (rendered kernels); each gets its row as `kernel.built` and `on_row(kernel, row)`
-- is called as rows come. A row is {code, signal, timeout, seconds, regs, spills, stack, smem,
-- warnings, cubin, cubin_sha, log, cached, error}; `error` is nil for a cubin that can be used.
-- Returns false when the user interrupted (kernels without `built` were not compiled), and nvcc's
-- version. opt.progress is told in the place of a progress line of its own.
function build.run(list, opt, on_row)
  local ctx = context(opt)
  local p = opt.progress or progress.new("build", #list)
  local function finish(kernel, row)
    kernel.built = row
    p:step(kernel.stem)
    if on_row then on_row(kernel, row) end
  end
  local missing, waiting = plan(ctx, list, finish)
  local pool = host.pool(opt.jobs or host.cpus())
  host.mkdir(ctx.cache .. "/tmp")
  for _, group in ipairs(missing) do
    submit(ctx, pool, group.paths, group.kernels[1].text)
  end
  local interrupted = drain(ctx, pool, waiting, finish)
  pool:kill()
  for _, group in ipairs(missing) do host.remove(group.paths.part) end
  if not interrupted then p:done() else p:clear() end
  return not interrupted, ctx.cc.version
end

return build
