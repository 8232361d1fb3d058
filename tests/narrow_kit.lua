-- narrow_kit.lua -- the space hopper with next to no choice, made of spaces/hopper.lua: every parameter has its default
-- alone, but for those below. tests/gpu/narrow/hopper.lua is it as a file to look at and to search from.

local edit = require "edit"
local fail = require "fail"
local space = require "space"

local kit = { path = host.root .. "/tests/gpu/narrow/hopper.lua", again = "`loom test tests/gpu/make_narrow.lua` writes it anew" }

local SHIPPED = host.root .. "/spaces/hopper.lua"
local VALUES = { tile_m = { 128 }, tile_n = { 64 }, warps = { { "cooperative", 1 } }, chunk_buffers = { 1 }, stages = { 2, 3 } }
local HEAD = "-- hopper.lua -- the space hopper with next to no choice: one tile, two depths. A search widens it; all else is\n"
  .. "-- spaces/hopper.lua's, and its keys are too. Made of that by tests/narrow_kit.lua.\n\n"

local function values_of(param)
  local row = param.default or param.rows[1]
  return VALUES[param.name] or { #row == 1 and row[1] or row }
end

-- One edit of the text.
local function edited(text, kind, param, values)
  local new, err = edit.apply(text, SHIPPED, { kind = kind, param = param.name, values = values })
  return new or fail(err)
end

-- The text, as the editor makes it: defaults follow their values. Seeds would bring back what went. With `free`, a set
-- of names, the other parameters are pinned: a search looks for values of those alone.
function kit.text(free)
  local text = host.read(SHIPPED):gsub("^.-\n(space )", "%1"):gsub("\n%-%-[^\n]*\nseed .*", ""):gsub("\nseed .*", "")
  text = text:gsub("%s*$", "\n")
  for _, param in ipairs(space.load(SHIPPED).params) do
    local values = values_of(param)
    text = edited(text, "set-domain", param, values)
    if free and not free[param.name] and not param.pinned then text = edited(text, "pin", param, { values[1] }) end
  end
  return HEAD .. text
end

-- The same as a file below `dir`; its path.
function kit.write(dir, free)
  local path = dir .. "/narrow/hopper.lua"
  assert(host.write(path, kit.text(free)) ~= nil)
  return path
end

-- What the tests of searches are about: few enough for a short search to find the best of.
kit.searched = { tile_m = true, tile_n = true, warps = true, chunk_buffers = true, stages = true, group_m = true }

return kit
