-- desc_read: a launch descriptor's line, back into the table that desc.check takes. For kernels that come
-- as files; gen/desc.c is what launches read with.

local desc = require "desc"
local fail = require "fail"

local desc_read = {}

local value -- text, position -> value, position after it

local function need(ok, at, what)
  if not ok then error(string.format("%s expected at byte %d", what, at), 0) end
end

local function skip(text, at)
  return text:match("^%s*()", at)
end

local function text_value(text, at)
  local from, to = text:match('^"[^"]*()"()', at)
  need(from, at, "a string")
  return (text:sub(at + 1, from - 1):gsub("\\u00(%x%x)", function(hex)
    return string.char(tonumber(hex, 16))
  end)), to
end

-- The items between brackets; item(text, at) reads one and returns the position after it.
local function items(text, at, close, item)
  at = skip(text, at + 1)
  if text:sub(at, at) == close then return at + 1 end
  while true do
    at = skip(text, item(text, at))
    local c = text:sub(at, at)
    need(c == "," or c == close, at, "',' or '" .. close .. "'")
    at = skip(text, at + 1)
    if c == close then return at end
  end
end

local function list(text, at)
  local out = {}
  return out, items(text, at, "]", function(t, i)
    out[#out + 1], i = value(t, i)
    return i
  end)
end

local function object(text, at)
  local out = {}
  return out, items(text, at, "}", function(t, i)
    local name
    name, i = text_value(t, i)
    i = skip(t, i)
    need(t:sub(i, i) == ":", i, "':'")
    out[name], i = value(t, skip(t, i + 1))
    return i
  end)
end

local words = { ["true"] = true, ["false"] = false }

function value(text, at)
  local c = text:sub(at, at)
  if c == "{" then return object(text, at) end
  if c == "[" then return list(text, at) end
  if c == '"' then return text_value(text, at) end
  local word, after = text:match("^(%a+)()", at)
  if words[word] ~= nil then return words[word], after end
  local digits, to = text:match("^(%-?%d+)()", at)
  need(digits, at, "a value")
  return math.tointeger(tonumber(digits)), to
end

-- What launch {...} said, of a descriptor.
local function launch_of(d)
  local grid = d.grid
  return {
    args = d.args, grid = grid.rule, tile = grid.tile, split_k = grid.split_k, ctas_per_sm = grid.ctas_per_sm,
    block = d.block, smem = d.smem, cluster = d.cluster, pdl = d.pdl, cooperative = d.cooperative,
    tensors = d.tensors, workspace = d.workspace, legal = d.legal,
  }
end

-- What a descriptor says of its kernel, beside the launch.
local IDENTITY = { "key", "arch", "layout", "dtype", "acc" }

local function identity(d)
  local id = {}
  for _, name in ipairs(IDENTITY) do
    local text = d[name]
    if type(text) ~= "string" then error(string.format("'%s' is %s, and should be a text", name, tostring(text)), 0) end
    id[name] = d[name]
  end
  return id
end

-- The descriptor of the file at `path`: {key, arch, layout, dtype, acc}, its checked launch, its line.
function desc_read.file(path, shown)
  local line, err = host.read(path)
  if not line then fail(err) end
  local ok, d = pcall(value, line, skip(line, 1))
  if not ok or type(d) ~= "table" then
    fail(string.format("%s:1: no launch descriptor: %s", shown, tostring(d)))
  end
  if d.loom ~= desc.version or type(d.grid) ~= "table" then
    fail(string.format("%s:1: version %s of a descriptor, this loom knows %d", shown, tostring(d.loom), desc.version))
  end
  local fine, id, launch = pcall(function() return identity(d), desc.check(launch_of(d)) end)
  if not fine then fail(string.format("%s:1: %s", shown, tostring(id))) end
  return id, launch, line
end

return desc_read
