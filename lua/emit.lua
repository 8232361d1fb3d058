-- emit: a candidate becomes CUDA text and its launch descriptor.
--
-- What is emitted is a function of the key alone: templates see the parameters, the space's lets
-- and the words of the key, but neither a date nor a path nor the problem's M, N and K (one kernel
-- serves every size its descriptor allows). Templates are compiled once and rendered for every
-- candidate.

local checks = require "checks"
local desc = require "desc"
local fail = require "fail"
local library = require "library"
local lines = require "lines"
local progress = require "progress"
local reads = require "reads"

local emit = {
  instructions = 20000000, -- of one render; the shipped templates take some thousands
  includes = 16,           -- that lie inside each other
  bytes = 256 << 20,       -- of Lua's memory for one render
  file = 17 << 20,         -- of a template as it is read: host.template says what is too long
}

local templates = {}     -- path -> template object, for this process

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
-- Anything else is a fault of ours and keeps its text. The front of a long name is cut off, also of our
-- own files.
local function template_fail(err, item)
  if type(err) ~= "string" then error(err, 0) end
  if err == "not enough memory" then
    err = string.format("templates/%s:1: %s", item.b.space.template, err)
  end
  local cut = err:match("^(%.%.%.[^:\n]+):%d+: ")
  local named = err:find("^templates/[^:\n]+:%d+: ") or cut and not cut:find("%.lua$")
  if not named then error(err, 0) end
  err = err:gsub("(: not enough memory)$", "%1: a render may take " .. (emit.bytes >> 20) .. " MiB")
  fail(string.format("%s (KEY='%s')", checks.plain(err), item.key))
end

-- `dir` is the folder that holds the templates; tests point it elsewhere.
emit.dir = nil

local function folder()
  return emit.dir or host.root .. "/templates"
end

-- Refuses a space whose template is not there, at the space's line.
function emit.need_template(sp)
  if templates[folder() .. "/" .. sp.template] or host.stat(folder() .. "/" .. sp.template) then return end
  fail(string.format("%s:%d: space '%s': no template 'templates/%s'%s", sp.file, sp.line, sp.name, sp.template,
                     fail.near(sp.template, host.list(folder()) or {})))
end

local function load_template(name)
  local path = folder() .. "/" .. name
  if templates[path] then return templates[path] end
  local text, err = host.read(path, emit.file)
  if not text then
    fail(string.format("cannot open 'templates/%s': %s", name, err:match("': (.*)$") or err))
  end
  templates[path] = host.template("templates/" .. name, text)
  return templates[path]
end

-- What `include` is in a render of template `top`. All files of a render see the same names, so one that
-- comes back into itself would not end.
local function includer(top, env)
  local open = { top } -- the files that are being included, outermost first
  return function(name)
    if type(name) ~= "string" or not name:find("^[%w_][%w_./-]*$") or name:find("..", 1, true) then
      error("include wants the name of a file in templates/", 2)
    end
    open[#open + 1] = name
    for i = 1, #open - 1 do
      if open[i] == name then
        error("a file includes itself: " .. table.concat(open, " -> ", i), 2)
      end
    end
    if #open > emit.includes + 1 then
      error(string.format("more than %d includes inside each other", emit.includes), 2)
    end
    load_template(name):run(env)
    open[#open] = nil
  end
end

local function too_long()
  error(string.format("more than %d instructions: does it end?", emit.instructions), 2)
end

-- Counting instructions slows every one of them down.
local function limit(on)
  if on then debug.sethook(too_long, "", emit.instructions) else debug.sethook() end
end

-- What a template's names end in: the library, else an error.
local unknown = {
  __index = function(_, name)
    if library.names[name] then return library.names[name] end
    if sizes[name] then
      error("'" .. name .. "' is not part of the key: a kernel serves every size", 2)
    end
    error("unknown name '" .. tostring(name) .. "'", 2)
  end,
}

local function refuse_write(_, name)
  error(string.format("cannot set '%s': write 'local %s'", tostring(name), tostring(name)), 2)
end

-- The names of one render. `launched` receives what the template declares. A template reads names and
-- sets none: `tile_m = 32` would give a kernel that is not its key's.
local function environment(item, hash, launched)
  local names, env = {}, {}
  for name, value in pairs(item.full) do -- order does not matter: a copy
    if not sizes[name] then names[name] = value end
  end
  names.space, names.key, names.hash = item.b.space.name, item.key, hash
  function names.launch(t)
    if launched.desc then error("launch { ... } is called twice", 2) end
    limit(false)
    local ok, d = pcall(desc.check, t)
    limit(true)
    if not ok then error(d, 2) end
    launched.desc = d
  end
  names.include = includer(item.b.space.template, env)
  return setmetatable(env, { __newindex = refuse_write, __index = setmetatable(names, unknown) })
end

local function head(item, hash)
  local space = item.b.space
  return table.concat({
    string.format("// %s: %s", space.name, (space.doc:gsub("%c+", " "))),
    string.format("// key   %s", item.key),
    string.format("// hash  %s   template %s", hash, space.template),
    string.format("// again make gen KEY='%s'", item.key),
    "", "",
  }, "\n")
end

-- Renders template `name`, with limits on its instructions and its memory: it must end, whatever its Lua
-- says.
local function bounded(name, env)
  local methods = getmetatable("")
  debug.setmetatable("", library.methods)
  limit(true)
  host.memory(emit.bytes)
  local ok, text, map, files = pcall(function() return load_template(name):render(env) end)
  limit(false)
  host.memory(0)
  debug.setmetatable("", methods)
  return ok, text, map, files
end

-- Which line of which template wrote line `number` of a kernel, as "templates/x.cu:12", nil for the head.
-- Found out by one more render: few kernels are ever asked for it.
local function place(item, hash, number)
  local name = item.b.space.template
  local ok, _, map, files = bounded(name, environment(item, hash, {}))
  local _, above = head(item, hash):gsub("\n", "")
  local at = number - above
  if not ok or not map[at] then return nil end
  return string.format("%s:%d", files and files[at] or "templates/" .. name, map[at])
end

-- item {b, cand, full, key} -> {text, desc, launch, key, hash, stem, full, place}: nothing is written.
-- place(n) says which line of which template wrote line n of the text. With opt.lines the text says so
-- itself, to the compiler, and there is no place.
function emit.render(item, opt)
  local space = item.b.space
  emit.need_template(space)
  local launched = {}
  local hash = emit.hash(item.key)
  local env = environment(item, hash, launched)
  local ok, text, map, files = bounded(space.template, env)
  if not ok then template_fail(text, item) end
  if not launched.desc then
    fail(string.format("templates/%s:1: the template declares no launch { ... }", space.template))
  end
  local full, lined = item.full, opt and opt.lines
  if lined then text = lines.directives(text, map, files, "templates/" .. space.template) end
  local id = { key = item.key, arch = space.arch, layout = full.layout, dtype = full.dtype,
               acc = full.acc }
  return {
    text = head(item, hash) .. text,
    desc = desc.line(launched.desc, id), launch = launched.desc,
    key = item.key, hash = hash, stem = stem_of(space.name, hash), full = full, space = space,
    place = not lined and function(number) return place(item, hash, number) end or nil,
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

local noted = {}

local function note_unread(space)
  if noted[space] then return end
  noted[space] = true
  for _, text in ipairs(reads.unread(space, load_template)) do host.err("note: " .. text .. "\n") end
end

local LONG = 500 -- items from which on a progress line is worth it

-- Renders every item and writes each key once; returns the kernels in the items' order, each with
-- its `items`, and how many files changed. Two problems that share a key must give the same text.
-- opt is render's. A space with parameters that nothing reads gets its note.
function emit.all(items, outdir, opt)
  local list, by_key, changed = {}, {}, 0
  local p = #items >= LONG and progress.new("emit", #items) or nil
  for _, item in ipairs(items) do
    if host.interrupted() then
      if p then p:done() end
      fail(string.format("interrupted: %d of %d kernels written", #list, #items))
    end
    local r = emit.render(item, opt)
    note_unread(item.b.space)
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
