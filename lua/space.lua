-- space: specs loaded from their files with their bases, and the keys that name their candidates.
-- Reading a file is dsl.lua's part, meaning resolve.lua's; bound.lua binds a space to a problem.

local bound = require "bound"
local device = require "device"
local dsl = require "dsl"
local fail = require "fail"
local outdir = require "outdir"
local resolve = require "resolve"
local room = require "room"

local space = {}

space.bytes = 1024 * 1024 -- of one file
space.bases = 16 -- of one space, one behind the other

local fmt = string.format

local KEY_GIVENS = bound.key_givens

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

local load_text

local function refuse_file(path, ...)
  fail(fmt("%s:1: %s", outdir.shown(path), fmt(...)))
end

-- The text of a file that is there: a folder, a pipe or /dev/zero is no space.
local function read_file(path)
  local st = host.stat(path)
  if st and not st.file then refuse_file(path, "is no regular file") end
  if st and st.size > space.bytes then
    refuse_file(path, "has %d bytes; %d are the most", st.size, space.bytes)
  end
  local text, err = host.read(path, space.bytes)
  return text or fail(err)
end

-- Where the base of a file in `dir` lies: beside it, else in spaces/.
local function find_base(dir, name)
  local path = dir .. "/" .. name .. ".lua"
  return host.stat(path) and path or folder() .. "/" .. name .. ".lua"
end

-- Bases as they were read last, by path: {text, space, paths (its own and those of its bases)}. Whoever
-- edits or searches loads the same ones again and again.
local kept = {}

-- The entry of a base that is still what its file and those of its bases say; nil otherwise.
local function still(path, dir)
  local entry = kept[path]
  if not entry or host.read(path, space.bytes) ~= entry.text then return nil end
  local below = entry.space.base_name and find_base(dir, entry.space.base_name)
  local base = below and still(below, below:match("^(.*)/"))
  if (base and base.space) ~= entry.space.base then return nil end
  return entry
end

-- Whether the chain of files may go on with all that the entry stands for.
local function may_follow(chain, entry)
  for _, open in ipairs(chain) do
    for _, path in ipairs(entry.paths) do
      if open == path then return false end
    end
  end
  return #chain + #entry.paths - 1 <= space.bases
end

local function refuse_cycle(st, chain, from)
  local names = {}
  for k = from, #chain do names[#names + 1] = chain[k]:match("([^/]*)%.lua$") end
  names[#names + 1] = st.base
  dsl.refuse(st, "inherits from itself: %s", table.concat(names, " -> "))
end

local function load_base(st, dir, chain)
  local path = find_base(dir, st.base)
  local entry = still(path, path:match("^(.*)/"))
  if entry and may_follow(chain, entry) then return entry.space, entry.paths end
  for i, open in ipairs(chain) do
    if open == path then refuse_cycle(st, chain, i) end
  end
  if #chain > space.bases then dsl.refuse(st, "more than %d bases, one behind the other", space.bases) end
  if not host.stat(path) then dsl.refuse(st, "no base '%s'%s", st.base, fail.near(st.base, space.names())) end
  local text = read_file(path)
  local sp, paths = load_text(path, text, path:match("^(.*)/"), st.base, chain)
  kept[path] = { text = text, space = sp, paths = paths }
  return sp, paths
end

-- The space of a text, and the paths of its file and its bases.
function load_text(path, text, dir, stem, chain)
  local list = dsl.read(outdir.shown(path), text)
  local head, base, paths = list[1], nil, {}
  if head.name ~= stem then dsl.refuse(head, "file '%s.lua' holds space '%s'", stem, head.name) end
  chain = table.move(chain, 1, #chain, 1, {})
  chain[#chain + 1] = path
  if head.base then base, paths = load_base(head, dir, chain) end
  return resolve.space(list, base), { path, table.unpack(paths) }
end

local function load_path(path, dir, stem)
  return (load_text(path, read_file(path), dir, stem, {}))
end

-- The space of spaces/<name>.lua, or of a path (one with a '/' or ending in .lua).
function space.load(name)
  local path, dir, stem = locate(name)
  if stem == name and not host.stat(path) then
    local near = fail.near(name, space.names())
    if near == "" then near = fmt(" in spaces/: one elsewhere is SPACE=folder/%s.lua", name) end
    fail(fmt("no space '%s'%s", name, near))
  end
  return room.guard(outdir.shown(path), load_path, path, dir, stem)
end

-- The space that the file at `path` would be with this text; the file itself is not looked at.
function space.load_text(path, text)
  local dir, file = path:match("^(.*)/([^/]*)$")
  if #text > space.bytes then refuse_file(path, "has %d bytes; %d are the most", #text, space.bytes) end
  return room.guard(outdir.shown(path), load_text, path, text, dir or ".", ((file or path):gsub("%.lua$", "")), {})
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
    table.concat(text, ","), sp.name, dsl.rows_text(param.rows)))
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

-- Which of the spaces in the list `names`, of which some may be paths, the key is of; nil without a list.
function space.of_key(key, names)
  local name = split_key(key)
  for _, one in ipairs(names or {}) do
    local _, _, stem = locate(one)
    if stem == name then return space.load(one) end
  end
  if names then fail(fmt("key '%s' is not of SPACE=%s", key, table.concat(names, ","))) end
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
    for i, known in ipairs(resolve.given_values[given]) do rows[i] = { known } end
    if not dsl.row_index(rows, { value }) then
      fail(fmt("key '%s': '%s' is '%s', not one of %s", key, given, value, dsl.rows_text(rows)))
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
