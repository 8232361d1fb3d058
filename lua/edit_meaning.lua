-- edit_meaning: what an edit is to mean, said in statements and not in bytes, and the proof that the new
-- text means that and nothing else. An edit says of the file's own statements which become what
-- (fields by name), which go and which join them; the new text is read and must hold just these.

local dsl = require "dsl"
local space = require "space"

local meaning = {}

local refuse = dsl.refuse

function meaning.becomes(ed, st, fields)
  local all = ed.becomes[st] or {}
  ed.becomes[st] = all
  for _, field in ipairs(fields) do all[field[1]] = { value = field[2] } end
end

-- Where a statement stands and how it is written is not what it means.
local FORM = { file = true, line = true, ranged = true, touched = true }

local function same(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not FORM[key] and not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if not FORM[key] and a[key] == nil then return false end
  end
  return true
end

meaning.same = same

-- The statement as it should be read from the new text.
local function changed(st, fields)
  if not fields then return st end
  local new = {}
  for key, value in pairs(st) do new[key] = value end
  for key, field in pairs(fields) do new[key] = field.value end
  return new
end

-- What the statement should have become and did not; nil when all is as it should be.
local function first_fault(ed, own)
  local k, joined = 1, 0
  for _, st in ipairs(ed.own) do
    if not ed.gone[st] then
      while joined < #ed.added and own[k] and same(ed.added[joined + 1], own[k]) do
        k, joined = k + 1, joined + 1
      end
      if not own[k] or not same(changed(st, ed.becomes[st]), own[k]) then return st end
      k = k + 1
    end
  end
  while joined < #ed.added and own[k] and same(ed.added[joined + 1], own[k]) do
    k, joined = k + 1, joined + 1
  end
  if joined < #ed.added or own[k] then return ed.target end
end

-- Fails unless the text loads and says what was asked.
function meaning.verify(ed, path, text)
  space.load_text(path, text)
  local fault = first_fault(ed, dsl.read(ed.sp.file, text))
  if not fault then return end
  if fault.kind == "param" then refuse(fault, "its values are computed: edit the file by hand") end
  refuse(fault, "would not mean what is asked: edit the file by hand")
end

return meaning
