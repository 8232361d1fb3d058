-- edits: random edits of the shipped specs, chained, valid and senseless ones. Of each that is applied:
-- the bytes outside of its changes are equal, the result loads, and it means what a model of the space
-- (edit_model.lua, which knows nothing of text) says. Of each that is refused: the reason stands
-- at file:line. What is meant to be valid must be applied, what is meant to be senseless refused.
--
--   loom test tests/check/edits.lua        100,000 edits from a new seed, which is printed
--   LOOM_EDIT_SEED=7 LOOM_EDIT_COUNT=5000  the same edits again, so many of them

local draw = require "check.edit_draw"
local edit = require "edit"
local kit = require "edit_kit"
local luatok = require "luatok"
local model = require "check.edit_model"

local edits = {}

local CHAIN = 40 -- edits of one text before another begins
-- The small ones more often: what an edit costs is loading its result.
local SHIPPED = { "simt", "common", "mma", "simt", "common", "simt", "hopper", "simt" }

-- Spellings ----------------------------------------------------------------------------------------

-- The spec as another author might write it: other line ends, hex numbers, comments between.
local function respelled(text)
  local out, at, style = {}, 1, math.random(4)
  for _, token in ipairs(luatok.scan(text)) do
    local piece = token.text
    out[#out + 1] = text:sub(at, token.from - 1)
    if style == 1 and token.kind == "number" and math.random(3) == 1 then piece = string.format("0x%X", luatok.value(token)) end
    if style == 2 and piece == "," and math.random(4) == 1 then piece = ";" end
    if style == 3 and piece == "," and math.random(4) == 1 then piece = ", --[[ it's, { ]]" end
    out[#out + 1], at = piece, token.to + 1
  end
  text = table.concat(out) .. text:sub(at)
  if math.random(4) == 1 then text = text:gsub("\n", "\r\n") end
  if math.random(4) == 1 then text = text:gsub("%s+$", "") end
  if math.random(4) == 1 then text = text:gsub("  ", "\t") end
  return text
end

-- One edit -----------------------------------------------------------------------------------------

local function fault(at, words, what)
  error(string.format("edit %d of seed %d, in %s: %s\n%s\nthe text:\n%s", at.number, at.seed, at.file:match("[^/]*$"), words,
    what, at.text), 0)
end

-- Is the message one line that names the file and a line of it, or of a base.
local function well_said(message)
  return message:find("^[^\n]*/%l+%.lua:%d+: [^\n]+$") ~= nil and not message:find("[%z\1-\31]")
end

local function check_applied(at, words, op, new, changes)
  local ok, err = pcall(kit.check_changes, at.text, new, changes)
  if not ok then fault(at, words, err) end
  if #changes == 0 or new == at.text then fault(at, words, "nothing changed") end
  local sp
  sp, err = edit.check(new, at.file)
  if not sp then fault(at, words, "does not load: " .. err) end
  local want, got = model.text(model.after(at.model, op)), model.of(sp)
  if model.text(got) ~= want then fault(at, words, "means\n" .. model.text(got) .. "\nand not\n" .. want .. "\nas\n" .. new) end
  at.text, at.space, at.model = new, sp, got
end

-- A random edit of at = {text, file, seed, number}, tallied in count; returns the op where it applied.
-- Words and ops say the same, and the op goes through its words.
function edits.one(at, count)
  local op, fate = draw.op(at.space, at.model)
  local words = edit.format(op)
  local again, why = edit.parse(words)
  if not again or edit.format(again) ~= words then fault(at, words, why or edit.format(again)) end
  local new, changes = edit.apply(at.text, at.file, again)
  local tally = count[op.kind]
  if new then
    if fate == "senseless" then fault(at, words, "is applied:\n" .. new) end
    tally.applied = tally.applied + 1
    check_applied(at, words, again, new, changes)
    return again
  else
    if fate == "valid" then fault(at, words, "is refused: " .. changes) end
    if not well_said(changes) then fault(at, words, "is refused with: " .. changes) end
    tally.refused = tally.refused + 1
  end
end

-- Edits begin with a text.
function edits.begin(at, text, file)
  at.text, at.file, at.space = text, file, assert(edit.check(text, file))
  at.model = model.of(at.space)
end

local function begin(at, chain)
  math.randomseed(at.seed, chain)
  local file = host.root .. "/spaces/" .. SHIPPED[chain % #SHIPPED + 1] .. ".lua"
  edits.begin(at, respelled(host.read(file)), file)
end

function edits.tally()
  local count = {}
  for _, kind in ipairs(edit.ops) do count[kind] = { applied = 0, refused = 0 } end
  return count
end

-- `total` edits; the tally by operation.
function edits.run(seed, total)
  local count, at = edits.tally(), { seed = seed, number = 0 }
  local restore = model.quicken()
  local ok, err = pcall(function()
    while at.number < total do
      begin(at, at.number // CHAIN)
      for _ = 1, math.min(CHAIN, total - at.number) do
        at.number = at.number + 1
        edits.one(at, count)
      end
    end
  end)
  restore()
  if not ok then error(err, 0) end
  return count
end

local function report(seed, total, count, seconds)
  local all, words = 0, {}
  for i, kind in ipairs(edit.ops) do
    all = all + count[kind].applied
    words[i] = string.format("%s %d/%d", kind, count[kind].applied, count[kind].applied + count[kind].refused)
  end
  host.out(string.format("# %s\n# edits: seed %d, %d edits, %d applied, %.1f s\n", table.concat(words, ", "), seed, total, all, seconds))
end

-- The test of so many edits from a seed.
function edits.test(seed, total)
  return { name = string.format("%d random edits of the shipped specs", total), run = function()
    local start = host.now()
    local count = edits.run(seed, total)
    report(seed, total, count, host.now() - start)
    for _, kind in ipairs(edit.ops) do
      local least = total // #edit.ops // 10
      assert(math.min(count[kind].applied, count[kind].refused) >= least, kind .. " is hardly tried")
    end
  end }
end

local function number(name, otherwise)
  local text = host.getenv(name) or ""
  return text == "" and otherwise or assert(math.tointeger(tonumber(text)), name .. " wants a whole number")
end

edits[1] = edits.test(number("LOOM_EDIT_SEED", math.tointeger(host.now() * 1000 // 1) % 1000000), number("LOOM_EDIT_COUNT", 100000))

return edits
