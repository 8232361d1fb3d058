-- compile: kernels through a pool of compiler processes, and a cache of what came out.
--
-- Which compiler, how it is called and what its log means is the tool's (build.lua: nvcc;
-- cpu_build.lua: g++). An entry's cache key is the hash of everything that decides its bytes. Entry:
-- out/cache/<2 hex>/<key>.cu, the product and .log; the log's first line holds the product's hash, so
-- an entry that was cut short or edited counts as missing. The source is compiled where it lies in
-- the cache: nvcc's symbols carry a hash of its path, so one checkout gives equal cubins for equal text.
--
-- A tool is {name, label, cache, ext, word, field, salt, env, timeout, jobs, command(paths), read(log),
-- flaw(log), take(row, path, sha)}: `word` names the product in the log, `field` is where a kernel
-- keeps its row, `flaw` says why a product that was written is no use.

local fail = require "fail"
local outdir = require "outdir"
local progress = require "progress"

local compile = {}

-- A program by its bare name: on PATH, else in one of `more` folders.
function compile.find(name, more)
  local dirs = (host.getenv("PATH") or "") .. (more and ":" .. more or "")
  for dir in dirs:gmatch("[^:]+") do
    local st = host.stat(dir .. "/" .. name)
    if st and not st.dir then return dir .. "/" .. name end
  end
end

-- Output of one short command, or nil where it cannot run or fails.
function compile.capture(argv, seconds)
  local pool = host.pool(1)
  pool:submit { argv = argv, timeout = seconds or 20, env = { "LC_ALL=C" } }
  local done = pool:wait()
  return done and done.code == 0 and done.output or nil
end

local function told(value, err)
  return value or fail(err)
end

-- Names and text of the files of `dir` whose name fits `pattern`.
function compile.texts(dir, pattern)
  local parts = {}
  for _, name in ipairs(told(host.list(dir))) do
    if name:find(pattern) then
      parts[#parts + 1] = name
      parts[#parts + 1] = told(host.read(dir .. "/" .. name))
    end
  end
  return table.concat(parts, "\0")
end

-- Compilers hand their paths to shells, unquoted, or to the preprocessor.
function compile.check_paths(name, ...)
  for _, path in ipairs { ... } do
    if path:find("[\"'`$\\;&|<>\n]") then
      fail(string.format("%s cannot work in '%s': its shell would read the punctuation", name, path))
    end
  end
end

-- ------------------------------------------------------------------------------- the cache

local function cache_paths(tool, text)
  local key = host.sha256(text .. "\0" .. tool.salt)
  local base = string.format("%s/%s/%s", tool.cache, key:sub(1, 2), key)
  return { key = key, source = base .. ".cu", product = base .. tool.ext, log = base .. ".log" }
end

-- A cached product whose hash is the one its log promises, as a row; nil is a miss.
local function cached(tool, paths)
  local log, product = host.read(paths.log), host.read(paths.product)
  local promised = log and log:match("^" .. tool.word .. " (%x+)\n")
  if not promised or not product or product == "" or host.sha256(product) ~= promised then return nil end
  local row = tool.read(log)
  row.code, row.seconds, row.cached, row.error = 0, 0.0, true, nil
  row.log, row.source = paths.log, paths.source
  tool.take(row, paths.product, promised)
  return row
end

local function write(path, text)
  local wrote, err = host.write(path, text)
  if wrote == nil then fail(err) end
end

-- One kernel's command. The compiler writes beside the entry; only a complete product gets its name.
local function submit(tool, pool, paths, text)
  write(paths.source, text)
  paths.part = string.format("%s.%d.part", paths.product, math.floor(host.now() * 1e6))
  pool:submit { argv = tool.command(paths), timeout = tool.timeout, tag = paths.key, env = tool.env }
end

-- ------------------------------------------------------------------------------- errors

local function why_failed(tool, done, row)
  if done.timeout then return string.format("no end after %d s", tool.timeout) end
  if done.signal then return string.format("killed by signal %d", done.signal) end
  if done.code == 0 then
    return tool.flaw and tool.flaw(done.output) or string.format("%s wrote no %s", tool.name, tool.word)
  end
  return row.error or string.format("%s exited with %d", tool.name, done.code)
end

-- The compiler speaks of the cache's copy; the user knows the kernel's own file.
local function with_user_path(text, paths, kernel)
  local from, to = text:find(paths.source, 1, true)
  if not from then return text end
  return text:sub(1, from - 1) .. outdir.shown(kernel.cu) .. text:sub(to + 1)
end

-- Where g++ says that a header's template is needed by the kernel.
local function required_line(log, source)
  local from = 1
  while true do
    local _, to = log:find(source, from, true)
    if not to then return nil end
    local line = log:match("^:(%d+):%d+:%s+required from here", to + 1)
    if line then return line end
    from = to + 1
  end
end

-- The kernel's line that an error is about: it names one, or a header's, and then the log says where
-- the kernel uses that.
local function kernel_line(text, log, source)
  local _, to = text:find(source, 1, true)
  local line = to and (text:match("^%((%d+)%)", to + 1) or text:match("^:(%d+):", to + 1)) -- preprocessor: x.cu:9:
  if not line then
    local at = log:find(" of " .. source, 1, true)
    line = at and log:sub(1, at - 1):match("at line (%d+)$") or required_line(log, source)
  end
  return math.tointeger(tonumber(line))
end

-- An error as the user should see it, with the line of the template that wrote the kernel's line.
local function placed(text, log, paths, kernel)
  local line = kernel.place and kernel_line(text, log, paths.source)
  local place = line and kernel.place(line)
  return with_user_path(text, paths, kernel) .. (place and string.format(" (%s)", place) or "")
end

-- ------------------------------------------------------------------------------- the pool

-- A finished process -> row; a good product gets its place in the cache, beside its log.
local function collect(tool, paths, done, kernel)
  local row = tool.read(done.output)
  local product = host.read(paths.part)
  row.code, row.signal, row.timeout = done.code, done.signal, done.timeout
  row.seconds, row.log, row.source = done.seconds, paths.log, paths.source
  local first = "failed\n"
  if done.code == 0 and product and product ~= "" and not (tool.flaw and tool.flaw(done.output)) then
    local ok, err = host.rename(paths.part, paths.product)
    if not ok then fail(err) end
    row.error = nil
    tool.take(row, paths.product, host.sha256(product))
    first = string.format("%s %s\n", tool.word, host.sha256(product))
  else
    row.error = placed(why_failed(tool, done, row), done.output, paths, kernel)
    host.remove(paths.part)
  end
  write(paths.log, first .. done.output)
  return row
end

-- Looks kernels up in the cache; those that miss are grouped by cache key: equal text builds once.
local function plan(tool, list, finish)
  local missing, waiting = {}, {}
  for _, kernel in ipairs(list) do
    local paths = cache_paths(tool, kernel.text)
    local row = not waiting[paths.key] and cached(tool, paths)
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

local function drain(tool, pool, waiting, finish)
  while pool:pending() > 0 do
    local done = pool:wait(1.0)
    if host.interrupted() then return true end
    if done then
      local group = waiting[done.tag]
      local row = collect(tool, group.paths, done, group.kernels[1])
      for _, kernel in ipairs(group.kernels) do finish(kernel, row) end
    end
  end
  return false
end

-- Compiles `list` (rendered kernels); each gets its row as kernel[tool.field] and `on_row(kernel, row)`
-- is called as rows come. A row is what tool.read found and {code, signal, timeout, seconds, log,
-- source, cached, error}; `error` is nil for a product that can be used. Returns false when the user
-- interrupted: kernels without a row were not compiled. `p` is a progress line, nil for one of its own.
function compile.run(list, tool, on_row, p)
  p = p or progress.new(tool.label, #list)
  local function finish(kernel, row)
    kernel[tool.field] = row
    p:step(kernel.stem)
    if on_row then on_row(kernel, row) end
  end
  local missing, waiting = plan(tool, list, finish)
  local pool = host.pool(tool.jobs or host.cpus())
  host.mkdir(tool.cache .. "/tmp")
  for _, group in ipairs(missing) do
    submit(tool, pool, group.paths, group.kernels[1].text)
  end
  local interrupted = drain(tool, pool, waiting, finish)
  pool:kill()
  for _, group in ipairs(missing) do host.remove(group.paths.part) end
  if not interrupted then p:done() else p:clear() end
  return not interrupted
end

return compile
