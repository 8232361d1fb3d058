-- space: specs loaded from their files with their bases, and the keys that name their candidates.
-- Reading a file is dsl.lua's part, meaning resolve.lua's; bound.lua binds a space to a problem.

local bound = require "bound"
local device = require "device"
local dsl = require "dsl"
local fail = require "fail"
local outdir = require "outdir"
local resolve = require "resolve"

local space = {}

local fmt = string.format

local KEY_GIVENS = bound.key_givens
local DOMAINS = { layout = { "nn", "tn", "nt", "tt" }, dtype = { "f16", "bf16" }, acc = { "f32", "f16" } }

-- Loading ------------------------------------------------------------------------------------------

local function folder()
  return host.root .. "/spaces"
end

-- The names of all files in spaces/, bases too.
function space.names()
  local names = {}
  for _, file in ipairs(host.list(folder()) or {}) do
    names[#names + 1] = file:match("^([%w_][%w_.-]*)%.lua$")
  end
  return names
end

-- Name or path -> path to read, its folder, the stem.
local function locate(name)
  if name:find("/", 1, true) or name:find("%.lua$") then
    return name, name:match("^(.*)/[^/]*$") or ".", (name:match("([^/]*)$"):gsub("%.lua$", ""))
  end
  return folder() .. "/" .. name .. ".lua", folder(), name
end

-- The file of a shipped space's name, or the path itself.
function space.path(name)
  return (locate(name))
end

local load_path

local function load_base(st, dir, chain)
  local path = dir .. "/" .. st.base .. ".lua"
  if not host.stat(path) then path = folder() .. "/" .. st.base .. ".lua" end
  for i, open in ipairs(chain) do
    if open == path then
      local names = {}
      for k = i, #chain do names[#names + 1] = chain[k]:match("([^/]*)%.lua$") end
      names[#names + 1] = st.base
      dsl.refuse(st, "inherits from itself: %s", table.concat(names, " -> "))
    end
  end
  if not host.stat(path) then dsl.refuse(st, "no base '%s'%s", st.base, fail.near(st.base, space.names())) end
  return load_path(path, path:match("^(.*)/"), st.base, chain)
end

local function load_text(path, text, dir, stem, chain)
  local list = dsl.read(outdir.shown(path), text)
  local head = list[1]
  if head.name ~= stem then dsl.refuse(head, "file '%s.lua' holds space '%s'", stem, head.name) end
  chain = table.move(chain, 1, #chain, 1, {})
  chain[#chain + 1] = path
  return resolve.space(list, head.base and load_base(head, dir, chain))
end

function load_path(path, dir, stem, chain)
  local text, err = host.read(path)
  if not text then fail(err) end
  return load_text(path, text, dir, stem, chain)
end

-- The space of spaces/<name>.lua, or of a path (one with a '/' or ending in .lua).
function space.load(name)
  local path, dir, stem = locate(name)
  if stem == name and not host.stat(path) then
    fail(fmt("no space '%s'%s", name, fail.near(name, space.names())))
  end
  return load_path(path, dir, stem, {})
end

-- The space that the file at `path` would be with this text; the file itself is not looked at.
function space.load_text(path, text)
  local dir, file = path:match("^(.*)/([^/]*)$")
  return load_text(path, text, dir or ".", ((file or path):gsub("%.lua$", "")), {})
end

-- Names of the spaces that make kernels for the device, sorted.
function space.list(dev)
  local names = {}
  for _, name in ipairs(space.names()) do
    local ok, sp = pcall(space.load, name)
    if not ok then
      -- somebody is at work on it: the others need not wait, and naming it shows the error
      host.err(string.format("note: space '%s' is left out: %s\n", name, fail.text(sp) or error(sp, 0)))
    elseif sp.template and device.runs(dev, sp.arch) then
      names[#names + 1] = name
    end
  end
  return names
end

space.bind = bound.new

-- Keys -----------------------------------------------------------------------------------------------

local function split_key(key)
  local name, rest = key:match("^([%w_][%w_.-]*):(.*)$")
  if not name then fail(fmt("key '%s' is not of the form space:name=value,...", key)) end
  local pairs_, names = {}, {}
  for item in (rest .. ","):gmatch("([^,]*),") do
    local field, value = item:match("^([%a_][%w_]*)=([%w_.+-]+)$")
    if not field then fail(fmt("key '%s': '%s' is not of the form name=value", key, item)) end
    if pairs_[field] then fail(fmt("key '%s': '%s' stands twice", key, field)) end
    pairs_[field] = value
    names[#names + 1] = field
  end
  return name, pairs_, names
end

local function take_field(key, fields, name, sp)
  if not fields[name] then fail(fmt("key '%s' lacks '%s' of space '%s'", key, name, sp.name)) end
  return fields[name]
end

local function listed(rows)
  local out = {}
  for i, row in ipairs(rows) do
    if i > 12 then return table.concat(out, ", ") .. ", ..." end
    out[i] = dsl.row_text(row)
  end
  return table.concat(out, ", ")
end

-- The row of a parameter whose text the key holds.
local function key_row(key, fields, param, sp)
  local text = {}
  for i, name in ipairs(param.names) do text[i] = take_field(key, fields, name, sp) end
  for _, row in ipairs(param.rows) do
    local same = true
    for i, value in ipairs(row) do same = same and tostring(value) == text[i] end
    if same then return row end
  end
  fail(fmt("key '%s': '%s' is %s; space '%s' has %s", key, table.concat(param.names, ","),
    table.concat(text, ","), sp.name, listed(param.rows)))
end

local function check_fields(key, names, sp)
  local known = table.move(KEY_GIVENS, 1, #KEY_GIVENS, 1, {})
  for _, param in ipairs(sp.params) do table.move(param.names, 1, #param.names, #known + 1, known) end
  local is = {}
  for _, name in ipairs(known) do is[name] = true end
  for _, name in ipairs(names) do
    if not is[name] then
      fail(fmt("key '%s': space '%s' has no '%s'%s", key, sp.name, name, fail.near(name, known)))
    end
  end
end

-- key -> name of the space, {layout, dtype, acc}, candidate, the space. `sp` is given when the space
-- is already there (one that does not live in spaces/).
function space.parse_key(key, sp)
  local name, fields, names = split_key(key)
  if sp and sp.name ~= name then fail(fmt("key '%s' is not of space '%s'", key, sp.name)) end
  sp = sp or space.load(name)
  check_fields(key, names, sp)
  local part, cand = {}, {}
  for _, given in ipairs(KEY_GIVENS) do
    local value = take_field(key, fields, given, sp)
    local rows = {}
    for i, known in ipairs(DOMAINS[given]) do rows[i] = { known } end
    if not dsl.row_index(rows, { value }) then
      fail(fmt("key '%s': '%s' is '%s', not one of %s", key, given, value, listed(rows)))
    end
    part[given], cand[given] = value, value
  end
  for _, param in ipairs(sp.params) do
    local row = key_row(key, fields, param, sp)
    for i, field in ipairs(param.names) do cand[field] = row[i] end
  end
  return name, part, cand, sp
end

return space
