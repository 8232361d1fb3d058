-- gap: how far a point is from obeying a rule. A violated comparison of integers is as far off as its
-- sides differ, in parts of the larger one, at most 1; what holds is 0, anything else that does not
-- hold 1. `and` adds, `or` takes the nearer side. Arithmetic is in floats: it only ranks points.

local gap = {}

local fmt = string.format

local function part(by, a, b)
  local share = by / math.max(math.abs(a), math.abs(b), 1)
  return share >= 0 and share < 1 and share or 1 -- NaN is 1 too
end

local helpers = {
  lt = function(a, b) return a < b and 0 or part(a - b + 1, a, b) end,
  le = function(a, b) return a <= b and 0 or part(a - b, a, b) end,
  eq = function(a, b) return a == b and 0 or part(math.abs(a - b), a, b) end,
  ne = function(a, b) return a ~= b and 0 or part(1, a, b) end,
  ceildiv = function(a, b) return -(-a // b) end,
  min = math.min, max = math.max,
}

local value

local OPERATORS = { ["+"] = "+", ["-"] = "-", ["*"] = "*", ["/"] = "/", ["//"] = "//", ["%"] = "%",
  ["=="] = "==", ["~="] = "~=", ["<"] = "<", ["<="] = "<=", [">"] = ">", [">="] = ">=",
  ["and"] = "and", ["or"] = "or" }

-- A Lua expression for the value of a node.
function value(node)
  if node.op == "name" then
    return fmt(node.type == "integer" and "(V[%q]+0.0)" or "V[%q]", node.value)
  end
  if node.op == "int" then return fmt("%d.0", node.value) end
  if node.op == "str" then return fmt("%q", node.value) end
  local args = {}
  for i, arg in ipairs(node.args) do args[i] = value(arg) end
  if node.op == "not" then return fmt("(not %s)", args[1]) end
  if node.op == "neg" then return fmt("(- %s)", args[1]) end
  if OPERATORS[node.op] then return fmt("(%s %s %s)", args[1], OPERATORS[node.op], args[2]) end
  return fmt("H.%s(%s)", node.op, table.concat(args, ", "))
end

-- Comparison -> helper, are its sides swapped; and the comparison that holds where it does not.
local COMPARE = { ["<"] = { "lt" }, ["<="] = { "le" }, [">"] = { "lt", true }, [">="] = { "le", true },
  ["=="] = { "eq" }, ["~="] = { "ne" } }
local OPPOSITE = { ["<"] = ">=", ["<="] = ">", [">"] = "<=", [">="] = "<", ["=="] = "~=", ["~="] = "==" }

-- A Lua expression for the gap of a boolean node, or of its negation.
local function distance(node, negated)
  local op = node.op
  if op == "not" then return distance(node.args[1], not negated) end
  if op == "and" or op == "or" then
    local both = (op == "and") ~= negated
    return fmt(both and "(%s + %s)" or "H.min(%s, %s)", distance(node.args[1], negated),
      distance(node.args[2], negated))
  end
  if COMPARE[op] and node.args[1].type == "integer" then
    local compare = COMPARE[negated and OPPOSITE[op] or op]
    local a, b = value(node.args[1]), value(node.args[2])
    if compare[2] then a, b = b, a end
    return fmt("H.%s(%s, %s)", compare[1], a, b)
  end
  return fmt(negated and "(%s and 1 or 0)" or "(%s and 0 or 1)", value(node))
end

-- The checked tree of a rule -> function of the table of values.
function gap.compile(node)
  return assert(load("local H = ... return function(V) return " .. distance(node, false) .. " end", "=gap", "t"))(
    helpers)
end

return gap
