-- emit: a candidate becomes CUDA text and its launch descriptor.
--
-- What is emitted is a function of the key alone: templates see the parameters, the space's lets
-- and the words of the key, but neither a date nor a path nor the problem's M, N and K (one kernel
-- serves every size its descriptor allows). Templates are compiled once and rendered for every
-- candidate.

local desc = require "desc"
local fail = require "fail"
local progress = require "progress"

local emit = { instructions = 20000000 } -- of one render; the shipped templates take some thousands

local templates = {}     -- path -> template object, for this process

-- What a template may use besides the names of its candidate.
local library = {
  math = math, string = string, table = table, ipairs = ipairs, assert = assert, error = error,
  tostring = tostring, select = select,
}

local sizes = { M = true, N = true, K = true }

function emit.hash(key)
  return host.sha256(key):sub(1, 12)
end

local function stem_of(space_name, hash)
  return space_name .. "-" .. hash
end

function emit.stem(space_name, key)
  return stem_of(space_name, emit.hash(key))
end

-- Template errors carry their own `templates/x.cu:12:`; the key says which candidate met it.
-- Anything else is a fault of ours and keeps its text.
local function template_fail(err, key)
  if type(err) ~= "string" or not err:find("^templates/[^:]+:%d+: ") then error(err, 0) end
  fail(string.format("%s (KEY='%s')", err, key))
end

-- `dir` is the folder that holds the templates; tests point it elsewhere.
emit.dir = nil

local function load_template(name)
  local dir = emit.dir or host.root .. "/templates"
  local path = dir .. "/" .. name
  if templates[path] then return templates[path] end
  local text, err = host.read(path)
  if not text then
    fail(string.format("cannot open 'templates/%s': %s", name, err:match("': (.*)$") or err))
  end
  templates[path] = host.template("templates/" .. name, text)
  return templates[path]
end

-- The names of one render. `launched` receives what the template declares. A template reads names and
-- sets none: `tile_m = 32` would give a kernel that is not its key's.
local function environment(item, hash, launched)
  local full, env = item.full, {}
  local own = { space = item.b.space.name, key = item.key, hash = hash }
  function own.launch(t)
    if launched.desc then error("launch { ... } is called twice", 2) end
    local ok, d = pcall(desc.check, t)
    if not ok then error(d, 2) end
    launched.desc = d
  end
  function own.include(name)
    load_template(name):run(env)
  end
  local function refuse_write(_, name)
    error(string.format("cannot set '%s': write 'local %s'", tostring(name), tostring(name)), 2)
  end
  return setmetatable(env, { __newindex = refuse_write, __index = function(_, name)
    if own[name] then return own[name] end
    local v = full[name]
    if v ~= nil and not sizes[name] then return v end
    if library[name] then return library[name] end
    if sizes[name] then
      error("'" .. name .. "' is not part of the key: a kernel serves every size", 2)
    end
    error("unknown name '" .. tostring(name) .. "'", 2)
  end })
end

local function head(item, hash)
  local space = item.b.space
  return table.concat({
    string.format("// %s: %s", space.name, space.doc),
    string.format("// key   %s", item.key),
    string.format("// hash  %s   template %s", hash, space.template),
    string.format("// again make gen KEY='%s'", item.key),
    "", "",
  }, "\n")
end

-- Calls f with a limit on its instructions: a template must end, whatever its Lua says.
local function bounded(f)
  debug.sethook(function()
    error(string.format("more than %d instructions: does it end?", emit.instructions), 2)
  end, "", emit.instructions)
  local ok, text = pcall(f)
  debug.sethook()
  return ok, text
end

-- item {b, cand, full, key} -> {text, desc, launch, key, hash, stem}: nothing is written.
function emit.render(item)
  local space = item.b.space
  local launched = {}
  local hash = emit.hash(item.key)
  local env = environment(item, hash, launched)
  local ok, text = bounded(function() return (load_template(space.template):render(env)) end)
  if not ok then template_fail(text, item.key) end
  if not launched.desc then
    fail(string.format("templates/%s:1: the template declares no launch { ... }", space.template))
  end
  local full = item.full
  local id = { key = item.key, arch = space.arch, layout = full.layout, dtype = full.dtype,
               acc = full.acc }
  return {
    text = head(item, hash) .. text,
    desc = desc.line(launched.desc, id), launch = launched.desc,
    key = item.key, hash = hash, stem = stem_of(space.name, hash),
  }
end

-- Writes <stem>.cu and <stem>.json into `outdir`, each only where it differs from what lies there;
-- returns how many files changed. The paths are added to `r` as `cu` and `json`.
function emit.write(r, outdir)
  local changed = 0
  r.cu, r.json = outdir .. "/" .. r.stem .. ".cu", outdir .. "/" .. r.stem .. ".json"
  for _, file in ipairs { { r.cu, r.text }, { r.json, r.desc } } do
    local wrote, err = host.write(file[1], file[2])
    if wrote == nil then fail(err) end
    if wrote then changed = changed + 1 end
  end
  return changed
end

local LONG = 500 -- items from which on a progress line is worth it

-- Renders every item and writes each key once; returns the kernels in the items' order, each with
-- its `items`, and how many files changed. Two problems that share a key must give the same text.
function emit.all(items, outdir)
  local list, by_key, changed = {}, {}, 0
  local p = #items >= LONG and progress.new("emit", #items) or nil
  for _, item in ipairs(items) do
    if host.interrupted() then
      if p then p:done() end
      fail(string.format("interrupted: %d of %d kernels written", #list, #items))
    end
    local r = emit.render(item)
    if p then p:step(r.stem) end
    local seen = by_key[r.key]
    if not seen then
      by_key[r.key] = r
      list[#list + 1] = r
      changed = changed + emit.write(r, outdir)
      r.items = { item }
    elseif seen.text ~= r.text or seen.desc ~= r.desc then
      fail(string.format("templates/%s:1: the kernel depends on the problem's size, which its "
                         .. "key does not name (KEY='%s')", item.b.space.template, r.key))
    else
      table.insert(seen.items, item)
    end
  end
  if p then p:done() end
  return list, changed
end

return emit
