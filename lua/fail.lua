-- fail: user errors. One clear line: lower case, the subject in single quotes, no full stop; what
-- the user wrote wrongly stands at the user's own `file:line:`. Thrown as a table so that main.lua
-- tells a refusal (exit 1, or 2 for wrong usage) from a fault of our own, which keeps its
-- traceback. Uses no string methods: they are switched off while a spec runs.

local meta = { __tostring = function(e) return e.user end }

local function throw(text, code, more)
  local e = more or {}
  e.user, e.code = text, code
  error(setmetatable(e, meta), 0)
end

local fail = setmetatable({}, { __call = function(_, text, more) throw(text, 1, more) end })

-- A wrong command line: exit code 2.
function fail.usage(text)
  throw(text, 2)
end

-- The text of a user error, nil for anything else.
function fail.text(e)
  return type(e) == "table" and getmetatable(e) == meta and e.user or nil
end

-- Edit distance (insert, delete, replace, swap of neighbours), letters compared without case.
local function distance(a, b)
  a, b = string.lower(a), string.lower(b)
  local before, last, row -- two rows up, one row up, this row
  row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    before, last, row = last, row, { [0] = i }
    for j = 1, #b do
      local cost = string.byte(a, i) == string.byte(b, j) and 0 or 1
      row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
      if i > 1 and j > 1 and string.byte(a, i) == string.byte(b, j - 1)
        and string.byte(a, i - 1) == string.byte(b, j) then
        row[j] = math.min(row[j], before[j - 2] + 1)
      end
    end
  end
  return row[#b]
end

-- " (did you mean 'x'?)" for the first of the nearest names in `list`, "" when none is near.
function fail.near(name, list)
  if #name > 64 then return "" end
  local best, at = (#name == 1 and 0 or math.max(1, #name // 3)) + 1, nil
  for _, known in ipairs(list) do
    local d = distance(name, known)
    if d < best then best, at = d, known end
  end
  return at and string.format(" (did you mean '%s'?)", at) or ""
end

return fail
