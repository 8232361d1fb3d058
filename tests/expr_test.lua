-- The expression language: parsing, types, checked arithmetic, printing.

local expr = require "expr"

local TYPES = { a = "integer", b = "integer", c = "integer", s = "string", t = "string", yes = "boolean",
  no = "boolean", ["device.sms"] = "integer" }

local V = { a = 7, b = 2, c = -3, s = "tn", t = "nn", yes = true, no = false, ["device.sms"] = 132 }

local function value(text, values)
  local tree = assert(expr.parse(text))
  assert(expr.check(tree, function(name) return TYPES[name] end))
  return expr.compile(tree, function(_, message) error("raised: " .. message, 0) end)(values or V)
end

local function is(text, want, values)
  local got = value(text, values)
  assert(got == want and math.type(got) == math.type(want),
    string.format("%s gives %s, not %s", text, tostring(got), tostring(want)))
end

local function raises(text, message, values)
  local ok, err = pcall(value, text, values)
  assert(not ok, text .. " is accepted")
  assert(err == "raised: " .. message, err)
end

local function refused(text, message)
  local tree, err = expr.parse(text)
  local kind
  if tree then kind, err = expr.check(tree, function(name) return TYPES[name] end) end
  assert(not kind, text .. " is accepted")
  assert(err == message, err)
end

local MAX, MIN = math.maxinteger, math.mininteger

-- A random expression over small numbers in the words that Lua has too.
local function random_int(rng, depth)
  if depth == 0 or rng(4) == 1 then
    return ({ "a", "b", "c", "1", "13", "0x1f" })[rng(6)]
  end
  local op = ({ "+", "-", "*", "//", "%", "-", "+" })[rng(7)]
  local left, right = random_int(rng, depth - 1), random_int(rng, depth - 1)
  if op == "//" or op == "%" then right = tostring(rng(9)) end
  if rng(3) == 1 then left = "(" .. left .. ")" end
  return rng(2) == 1 and string.format("%s %s (%s)", left, op, right)
    or string.format("%s %s %s", left, op, right:find("[-+*/%%]") and "(" .. right .. ")" or right)
end

local function random_bool(rng, depth)
  local pick = rng(5)
  if depth == 0 or pick == 1 then
    return string.format("%s %s %s", random_int(rng, 2), ({ "<", "<=", "==", "~=", ">", ">=" })[rng(6)],
      random_int(rng, 2))
  elseif pick == 2 then
    return "not (" .. random_bool(rng, depth - 1) .. ")"
  end
  return string.format("(%s) %s (%s)", random_bool(rng, depth - 1), pick == 3 and "and" or "or",
    random_bool(rng, depth - 1))
end

return {
  { name = "operators bind as in Lua", run = function()
    is("1 + 2 * 3", 7)
    is("(1 + 2) * 3", 9)
    is("10 - 2 - 3", 5)
    is("100 // 7 % 4", 2)
    is("-a % 4", 1)
    is("- - a", 7)
    is("2 * -a", -14)
    is("1 < 2 and 2 < 3 or 1 > 2", true)
    is("not yes or yes", true)
    is("1 + 1 == 2", true)
    is("a - -b", 9)
  end },
  { name = "random expressions agree with Lua's own arithmetic", run = function()
    math.randomseed(20, 24)
    for _ = 1, 2000 do
      local values = { a = math.random(-50, 50), b = math.random(0, 9), c = math.random(1, 1000) }
      local text = math.random(2) == 1 and random_int(math.random, 4) or random_bool(math.random, 3)
      is(text, load("return " .. text, "=x", "t", values)(), values)
    end
  end },
  { name = "values may be integers, strings and booleans", run = function()
    is("s == 'tn'", true)
    is('s ~= "tn"', false)
    is("s < 'zz'", true)
    is("yes ~= no", true)
    is("device.sms * 2", 264)
    is("0x10 + 0xff", 271)
  end },
  { name = "c and a or b chooses", run = function()
    is("a > 1 and 10 or 20", 10)
    is("a < 1 and 10 or 20", 20)
    is("a < 1 and 10 or b == 2 and 30 or 40", 30)
    is("s == 'nn' and 'left' or 'right'", "right")
    is("no and yes or no", false)
    is("(a > 1 and 2 or 3) * (a < 1 and 5 or 7)", 14)
  end },
  { name = "what is not chosen is not computed", run = function()
    is("b ~= 0 and a // b or 0", 0, { a = 7, b = 0 })
    is("b == 0 or a % b == 0", true, { a = 7, b = 0 })
    raises("b == 0 and a // b or 0", "7//0 divides by zero", { a = 7, b = 0 })
  end },
  { name = "functions: ceildiv, min, max", run = function()
    is("ceildiv(a, b)", 4)
    is("ceildiv(8, 2)", 4)
    is("ceildiv(-7, 2)", -3)
    is("min(a, b, c)", -3)
    is("max(a, b, c)", 7)
    is("max(min(a, 3), ceildiv(a, 3)) + 1", 4)
    is("min(a + 1, b * b, max(c, a) - 4)", 3)
    raises("ceildiv(a, b - 2)", "7//0 divides by zero")
  end },
  { name = "division must be exact, and never by zero", run = function()
    is("8 / b", 4)
    is("-8 / b", -4)
    raises("a / b", "7/2 is not exact")
    raises("a / (b - 2)", "7/0 divides by zero")
    raises("a // 0", "7//0 divides by zero")
    raises("a % 0", "7%0 divides by zero")
    is("a // -b", -4)
  end },
  { name = "64 bits are enough or refused", run = function()
    is("a + b", MAX, { a = MAX - 1, b = 1 })
    raises("a + b", MAX .. " + 1 does not fit into 64 bits", { a = MAX, b = 1 })
    raises("a - b", MIN .. " - 1 does not fit into 64 bits", { a = MIN, b = 1 })
    is("a - b", MAX, { a = -1, b = MIN })
    raises("a - b", "0 - " .. MIN .. " does not fit into 64 bits", { a = 0, b = MIN })
    raises("-a", "0 - " .. MIN .. " does not fit into 64 bits", { a = MIN })
    is("a * b", 3037000499 * 3037000499, { a = 3037000499, b = 3037000499 })
    raises("a * b", "3037000500 * 3037000500 does not fit into 64 bits", { a = 3037000500, b = 3037000500 })
    is("a * b", MIN, { a = MIN, b = 1 })
    raises("a * b", MIN .. " * -1 does not fit into 64 bits", { a = MIN, b = -1 })
    is("a * b", MIN, { a = 1 << 62, b = -2 })
    raises("a * b", (1 << 62) .. " * 2 does not fit into 64 bits", { a = 1 << 62, b = 2 })
    raises("a * 4096", (1 << 60) .. " * 4096 does not fit into 64 bits", { a = 1 << 60 })
    is("a * b", 0, { a = 0, b = MIN })
    raises("a // b", MIN .. " // -1 does not fit into 64 bits",
      { a = MIN, b = -1 })
    is("9223372036854775807", MAX)
  end },
  { name = "types are settled before anything runs", run = function()
    refused("s + 1", "'+' wants an integer, 's' is a string in 's + 1' at column 1")
    refused("a == s", "'==' between an integer and a string in 'a == s' at column 1")
    refused("yes < no", "'<' between booleans in 'yes < no' at column 1")
    refused("a and 1 or 2", "'and' wants a boolean, 'a' is an integer in 'a and 1 or 2' at column 1")
    refused("a or 2", "'or' wants a boolean, 'a' is an integer in 'a or 2' at column 1")
    refused("(yes and 1) + 1", "'+' wants an integer, '(yes and 1)' is an integer or false in '(yes and 1) + 1' at column 1")
    refused("(yes and 1) == (no and 1)",
      "'==' between an integer or false and an integer or false in '(yes and 1) == (no and 1)' at column 1")
    refused("min(a, s)", "'min' wants an integer, 's' is a string in 'min(a, s)' at column 8")
    refused("-s", "'-' wants an integer, 's' is a string in '-s' at column 2")
  end },
  { name = "the types of a shared tree stay what they were for who had it first", run = function()
    local function typed(kind)
      return select(2, expr.check(assert(expr.parse("left == right")), function() return kind end))
    end
    local first, other = typed("integer"), typed("string")
    assert(first.root.args[1].type == "integer" and other.root.args[1].type == "string")
    assert(typed("integer").root.args[2].type == "integer" and first ~= other)
  end },
  { name = "names are listed in order of first use, dotted ones whole", run = function()
    local tree = assert(expr.parse("b + a*device.sms + b - max(a, c)"))
    assert(table.concat(tree.names, " ") == "b a device.sms c")
  end },
  { name = "an expression is shown with its numbers filled in", run = function()
    local function show(text, want)
      local got = expr.show(assert(expr.parse(text)), V)
      assert(got == want, got)
    end
    show("a*(b + 1) <= device.sms", "7*(2 + 1) <= 132")
    show("s == 'nn' or no", "'tn' == 'nn' or false")
    show("min(a,c) > unknown", "min(7,-3) > unknown")
  end },
  { name = "long expressions compile", run = function()
    is(("a + "):rep(60) .. "0", 420)
    is(("a + ("):rep(28) .. "0" .. (")"):rep(28), 196)
    is(("max(a, "):rep(28) .. "b" .. (")"):rep(28), 7)
    local tree, err = expr.parse(("("):rep(1000))
    assert(not tree and err:find("more than 64 levels", 1, true))
  end },
  { name = "bytes that are no expression are refused, never a crash", run = function()
    math.randomseed(7, 7)
    local pieces = { "a", "b", "12", "(", ")", "+", "-", "//", "/", "%", "and", "or", "not", "'x'", "'", ",",
      "min", "<", "==", "=", ".", "device.sms", "\n", "\xff", "é", "0x", "1.5" }
    for _ = 1, 3000 do
      local words = {}
      for i = 1, math.random(8) do words[i] = pieces[math.random(#pieces)] end
      local tree, err = expr.parse(table.concat(words, math.random(2) == 1 and " " or ""))
      assert(tree or type(err) == "string", err)
      if tree then expr.check(tree, function(name) return TYPES[name] or "integer" end) end
    end
  end },
}
