-- expr: the expression language of a spec. Expressions are text, so their names are known: a rule
-- runs as soon as its names are bound, and can be printed with its numbers filled in.
-- text -> tokens -> Pratt parser -> tree {op, type...} -> `check` types it once at load -> `compile`
-- makes one Lua function f(V) of a table of values. Values are 64-bit integers, strings, booleans.
-- Types are settled before anything runs; what only a point can get wrong (overflow, inexact or zero
-- division) is checked by the compiled code and goes to `raise(V, message)`.

local expr = {}

local fmt = string.format

-- Deeper trees are refused: the compiled function keeps two locals for each level (Lua has 200).
local MAX_DEPTH = 64

local FUNCTIONS = { ceildiv = true, min = true, max = true }
local WORDS = { ["and"] = true, ["or"] = true, ["not"] = true }

expr.reserved = { "and", "or", "not", "ceildiv", "min", "max", "device" }

-- Tokens ---------------------------------------------------------------------------------------

local SHOWN, BESIDE = 200, 60 -- a longer text is shown by what stands beside the place alone

-- The part of a text that a message shows.
local function excerpt(text, at)
  if #text <= SHOWN then return text end
  local from, to = math.max(1, at - BESIDE), math.min(#text, at + BESIDE)
  while from > 1 and string.find(text, "^[\x80-\xbf]", from) do from = from - 1 end -- no half letters
  while to < #text and string.find(text, "^[\x80-\xbf]", to + 1) do to = to + 1 end
  return (from > 1 and "..." or "") .. string.sub(text, from, to) .. (to < #text and "..." or "")
end

local function stop(text, at, what, ...)
  error({ expr = fmt("%s in '%s' at column %d", fmt(what, ...), excerpt(text, at), at) }, 0)
end

local function integer(text, at, digits)
  if not string.match(digits, "^%d+$") and not string.match(digits, "^0[xX]%x+$") then
    stop(text, at, "'%s' is not an integer", digits)
  end
  local value = math.tointeger(tonumber(digits))
  local hex = string.match(digits, "^0[xX]0*(%x*)$")
  if not value or value < 0 or (hex and #hex > 16) then
    stop(text, at, "'%s' does not fit into 64 bits", digits)
  end
  return value
end

local function itself(s) return s end
local function quoted(s) return "str", string.sub(s, 2, -2) end

-- One entry a kind, tried in order: what it begins with, the whole pattern, then what it becomes.
local LEX = {
  { "%d", "^%d[%w_.]*", function(s, text, at) return "int", integer(text, at, s) end },
  { "[%a_]", "^[%a_][%w_]*", function(s) return (WORDS[s] and s or "name"), s end },
  { "'", "^'[^']*'", quoted }, { '"', '^"[^"]*"', quoted },
  { "/", "^//", itself }, { "=", "^==", itself }, { "~", "^~=", itself }, { "<", "^<=", itself },
  { ">", "^>=", itself }, { "[-+*/%%<>(),]", "^[-+*/%%<>(),]", itself },
}

local BY_BYTE = {} -- first byte -> the entries that may fit
for byte = 0, 255 do
  BY_BYTE[byte] = {}
  for _, rule in ipairs(LEX) do
    if string.find(string.char(byte), rule[1]) then table.insert(BY_BYTE[byte], rule) end
  end
end

-- What other languages write, and what this one does.
local HINTS = {
  ["&"] = "write 'and'", ["|"] = "write 'or'", ["!"] = "write 'not', or '~='", ["="] = "write '=='",
  ["?"] = "write 'c and a or b'", ["^"] = "there is no power", ["."] = "there are integers only",
}

local function lex_one(text, at)
  for _, rule in ipairs(BY_BYTE[string.byte(text, at)]) do
    local from, to = string.find(text, rule[2], at)
    if from then
      local kind, value = rule[3](string.sub(text, from, to), text, at)
      if kind == "name" then -- a dotted name is one name
        local _, last = string.find(text, "^[%w_]+%.[%a_][%w_.]*", at)
        if last then to, value = last, string.sub(text, at, last) end
      end
      return { kind = kind, value = value, from = at, to = to }
    end
  end
  local sign = string.match(text, utf8.charpattern, at)
  stop(text, at, "unexpected '%s'%s", sign, HINTS[sign] and ": " .. HINTS[sign] or "")
end

local function lex(text)
  local tokens, at = {}, string.find(text, "%S") or #text + 1
  while at <= #text do
    local token = lex_one(text, at)
    tokens[#tokens + 1] = token
    at = string.find(text, "%S", token.to + 1) or #text + 1
  end
  tokens[#tokens + 1] = { kind = "end", from = #text + 1, to = #text }
  return tokens
end

-- Parser ---------------------------------------------------------------------------------------

local BINDS = {
  ["or"] = 1, ["and"] = 2,
  ["=="] = 3, ["~="] = 3, ["<"] = 3, ["<="] = 3, [">"] = 3, [">="] = 3,
  ["+"] = 4, ["-"] = 4, ["*"] = 5, ["/"] = 5, ["//"] = 5, ["%"] = 5,
}
local UNARY = 6

local function unexpected(p, token)
  if token.kind == "end" then stop(p.text, token.from, "unexpected end") end
  stop(p.text, token.from, "unexpected '%s'", string.sub(p.text, token.from, token.to))
end

local function take(p, kind)
  local token = p.tokens[p.at]
  if kind and token.kind ~= kind then unexpected(p, token) end
  p.at = p.at + 1
  return token
end

local function node(p, op, from, to, args, value)
  local depth = 1
  for _, arg in ipairs(args) do depth = math.max(depth, arg.depth + 1) end
  if depth > MAX_DEPTH then
    stop(p.text, from, "more than %d levels", MAX_DEPTH)
  end
  return { op = op, from = from, to = to, args = args, value = value, depth = depth }
end

local parse_from

local function call(p, name)
  local args = {}
  take(p, "(")
  repeat
    args[#args + 1] = parse_from(p, 0)
    local more = p.tokens[p.at].kind == ","
    if more then p.at = p.at + 1 end
  until not more
  local close = take(p, ")")
  if not FUNCTIONS[name.value] then
    stop(p.text, name.from, "unknown function '%s'", name.value)
  elseif #args < 2 or (name.value == "ceildiv" and #args > 2) then
    stop(p.text, name.from, "'%s' takes %s, not %d", name.value,
      name.value == "ceildiv" and "2 values" or "2 values or more", #args)
  end
  return node(p, name.value, name.from, close.to, args)
end

local function name_or_call(p, token)
  if p.tokens[p.at].kind == "(" then return call(p, token) end
  if FUNCTIONS[token.value] then
    stop(p.text, token.from, "'%s' is a function", token.value)
  end
  if not p.seen[token.value] then
    p.seen[token.value] = true
    p.names[#p.names + 1] = token.value
  end
  return node(p, "name", token.from, token.to, {}, token.value)
end

local function prefix(p)
  local token = take(p)
  local kind = token.kind
  if kind == "int" or kind == "str" then
    return node(p, kind, token.from, token.to, {}, token.value)
  elseif kind == "name" then
    return name_or_call(p, token)
  elseif kind == "not" or kind == "-" then
    local arg = parse_from(p, UNARY)
    return node(p, kind == "-" and "neg" or kind, token.from, arg.to, { arg })
  elseif kind == "(" then
    local inner = parse_from(p, 0)
    local close = take(p, ")")
    inner.from, inner.to = token.from, close.to
    return inner
  end
  unexpected(p, token)
end

-- Keeps {name, string} of `name == 'string'` and its like.
local function note_compared(p, op, a, b)
  if op ~= "==" and op ~= "~=" then return end
  if a.op == "str" then a, b = b, a end
  if a.op == "name" and b.op == "str" then p.compared[#p.compared + 1] = { a.value, b.value } end
end

function parse_from(p, floor)
  p.nest = p.nest + 1
  if p.nest > MAX_DEPTH then
    stop(p.text, p.tokens[p.at].from, "more than %d levels", MAX_DEPTH)
  end
  local left = prefix(p)
  while (BINDS[p.tokens[p.at].kind] or 0) > floor do
    local op = take(p).kind
    local right = parse_from(p, BINDS[op])
    note_compared(p, op, left, right)
    left = node(p, op, left.from, right.to, { left, right })
  end
  p.nest = p.nest - 1
  return left
end

local function guarded(f, ...)
  local ok, got = pcall(f, ...)
  if ok then return got end
  if type(got) == "table" and got.expr then return nil, got.expr end
  error(got, 0)
end

local function parse(text)
  local p = { text = text, tokens = lex(text), at = 1, nest = 0, names = {}, seen = {}, compared = {} }
  local root = parse_from(p, 0)
  take(p, "end")
  return { text = text, root = root, names = p.names, tokens = p.tokens, compared = p.compared }
end

-- Trees of short texts are kept: a search or an editor loads much the same spec again and again.
local KEPT, KEPT_BYTES = 2000, 200
local kept, kept_count = {}, 0

-- text -> tree {text, root, names (in order of first use), tokens, compared (pairs of a name and a string
-- that it is compared with)}, or nil and a message. Trees are shared by all who parse the same text.
function expr.parse(text)
  if kept[text] then return kept[text] end
  local tree, err = guarded(parse, text)
  if tree and #text <= KEPT_BYTES then
    if kept_count >= KEPT then kept, kept_count = {}, 0 end
    kept[text], kept_count = tree, kept_count + 1
  end
  return tree, err
end

-- Types ----------------------------------------------------------------------------------------
-- "integer", "string", "boolean"; and for `c and a`, with `a` no boolean, "integer or false" or
-- "string or false", which only `or` with a value of a's type may consume: Lua's idiom.

local OR_FALSE = { integer = "integer or false", string = "string or false" }
local WITHOUT_FALSE = { ["integer or false"] = "integer", ["string or false"] = "string" }

local function article(kind)
  return (string.find(kind, "^integer") and "an " or "a ") .. kind
end

local function source(tree, at)
  return excerpt(string.sub(tree.text, at.from, at.to), 1)
end

local function clash(tree, at, what, ...)
  stop(tree.text, at.from, "%s", fmt(what, ...))
end

local function wants(tree, at, kind, op)
  if at.type ~= kind then
    clash(tree, at, "'%s' wants %s, '%s' is %s", op, article(kind), source(tree, at), article(at.type))
  end
end

local function type_arith(tree, at)
  local op = at.op == "neg" and "-" or at.op
  for _, arg in ipairs(at.args) do wants(tree, arg, "integer", op) end
  return "integer"
end

local function same(tree, at)
  local a, b = at.args[1], at.args[2]
  if a.type ~= b.type or WITHOUT_FALSE[a.type] then
    clash(tree, at, "'%s' between %s and %s", at.op, article(a.type), article(b.type))
  end
end

local function type_equal(tree, at)
  same(tree, at)
  return "boolean"
end

local function type_order(tree, at)
  same(tree, at)
  if at.args[1].type == "boolean" then clash(tree, at, "'%s' between booleans", at.op) end
  return "boolean"
end

local function type_and(tree, at)
  local a, b = at.args[1], at.args[2]
  wants(tree, a, "boolean", "and")
  return OR_FALSE[b.type] or b.type
end

local function type_or(tree, at)
  local a, b = at.args[1], at.args[2]
  local plain = WITHOUT_FALSE[a.type]
  if not plain then
    wants(tree, a, "boolean", "or")
    wants(tree, b, "boolean", "or")
    return "boolean"
  elseif b.type ~= plain and b.type ~= a.type then
    clash(tree, at, "'or' between %s and %s", article(plain), article(b.type))
  end
  return b.type
end

local TYPES = {
  int = function() return "integer" end, str = function() return "string" end,
  ["not"] = function(tree, at) wants(tree, at.args[1], "boolean", "not") return "boolean" end,
  ["and"] = type_and, ["or"] = type_or, ["=="] = type_equal, ["~="] = type_equal,
  ["<"] = type_order, ["<="] = type_order, [">"] = type_order, [">="] = type_order,
}

local function type_of(tree, at, types)
  for _, arg in ipairs(at.args) do type_of(tree, arg, types) end
  at.type = at.op == "name" and types(at.value) or (TYPES[at.op] or type_arith)(tree, at)
end

local function check(tree, types)
  type_of(tree, tree.root, types)
  local kind = tree.root.type
  if WITHOUT_FALSE[kind] then
    clash(tree, tree.root, "'%s' lacks its 'or': it would be false", source(tree, tree.root))
  end
  return kind
end

-- The type of the whole expression and the tree that has types at its nodes, or nil and a message;
-- types(name) gives the type of a name. Where the names of a shared tree have had other types, which
-- somebody may still read, it is a tree of its own.
function expr.check(tree, types)
  local kinds = {}
  for i, name in ipairs(tree.names) do kinds[i] = types(name) or "" end
  kinds = table.concat(kinds, ",")
  if tree.kinds and tree.kinds ~= kinds then tree = parse(tree.text) end
  tree.kinds = kinds
  local kind, err = guarded(check, tree, types)
  return kind, kind and tree or err
end

-- Compiler -------------------------------------------------------------------------------------
-- Statements over locals t1..tn, one for each level of the tree; `and`/`or` become ifs, so what
-- Lua would not evaluate is not evaluated here either.

local SMALL = 0x7fffffff -- products of two such numbers fit

local FAULTS = {
  overflow = "%s %s %s does not fit into 64 bits",
  zero = "%s%s%s divides by zero",
  exact = "%s%s%s is not exact",
}

local function small(operand)
  local value = math.tointeger(tonumber(operand))
  return value and value >= -SMALL and value <= SMALL
end

local function fault(g, condition, kind, a, op, b)
  g.code[#g.code + 1] = fmt("if %s then fault(V,%q,%s,%q,%s) end", condition, kind, a, op, b)
end

local function gen_add(g, d, a, b)
  g.code[#g.code + 1] = fmt("t%d=%s+%s", d, a, b)
  fault(g, fmt("(%s~t%d)&(%s~t%d)<0", a, d, b, d), "overflow", a, "+", b)
end

local function gen_sub(g, d, a, b)
  g.code[#g.code + 1] = fmt("t%d=%s-%s", d, a, b)
  fault(g, fmt("(%s~%s)&(%s~t%d)<0", a, b, a, d), "overflow", a, "-", b)
end

local function gen_neg(g, d, a)
  fault(g, fmt("%s==math_min", a), "overflow", "0", "-", a)
  g.code[#g.code + 1] = fmt("t%d=-%s", d, a)
end

local function gen_mul(g, d, a, b)
  local large = {}
  for _, x in ipairs { a, b } do
    if not small(x) then large[#large + 1] = fmt("%s>%d or %s<%d", x, SMALL, x, -SMALL) end
  end
  g.code[#g.code + 1] = fmt("t%d=%s*%s", d, a, b)
  if #large > 0 then
    fault(g, fmt("(%s) and wide(%s,%s,t%d)", table.concat(large, " or "), a, b, d),
      "overflow", a, "*", b)
  end
end

local function divisor(g, a, op, b)
  local value = math.tointeger(tonumber(b))
  if not value or value == 0 then fault(g, fmt("%s==0", b), "zero", a, op, b) end
  if (not value or value == -1) and op ~= "%" then
    fault(g, fmt("%s==-1 and %s==math_min", b, a), "overflow", a, op, b)
  end
end

local function gen_floor(g, d, a, b)
  divisor(g, a, "//", b)
  g.code[#g.code + 1] = fmt("t%d=%s//%s", d, a, b)
end

local function gen_mod(g, d, a, b)
  divisor(g, a, "%", b)
  g.code[#g.code + 1] = fmt("t%d=%s%%%s", d, a, b)
end

local function gen_div(g, d, a, b)
  divisor(g, a, "/", b)
  fault(g, fmt("%s%%%s~=0", a, b), "exact", a, "/", b)
  g.code[#g.code + 1] = fmt("t%d=%s//%s", d, a, b)
end

local function gen_ceildiv(g, d, a, b)
  divisor(g, a, "//", b)
  g.code[#g.code + 1] = fmt("t%d=%s//%s", d, a, b)
  g.code[#g.code + 1] = fmt("if %s%%%s~=0 then t%d=t%d+1 end", a, b, d, d)
end

local GEN = {
  ["+"] = gen_add, ["-"] = gen_sub, ["*"] = gen_mul, ["/"] = gen_div, ["//"] = gen_floor,
  ["%"] = gen_mod, neg = gen_neg, ceildiv = gen_ceildiv,
  ["not"] = function(g, d, a) g.code[#g.code + 1] = fmt("t%d=not %s", d, a) end,
}

-- Puts the value of `at` into local t<d> or below; returns the operand to use for it.
local function gen(g, at, d)
  if at.op == "name" then return fmt("V[%q]", at.value) end
  if at.op == "int" then return fmt("%d", at.value) end
  if at.op == "str" then return fmt("%q", at.value) end
  g.top = math.max(g.top, d)
  local code, target = g.code, fmt("t%d", d)
  if at.op == "and" or at.op == "or" or at.op == "min" or at.op == "max" then
    local first = gen(g, at.args[1], d)
    code[#code + 1] = fmt("%s=%s", target, first)
    local lazy = at.op == "and" or at.op == "or"
    if lazy then code[#code + 1] = fmt("if %s%s then", at.op == "or" and "not " or "", target) end
    for i = 2, #at.args do
      local x = gen(g, at.args[i], d + 1)
      local test = at.op == "min" and fmt("if %s<%s then ", x, target)
        or at.op == "max" and fmt("if %s>%s then ", x, target) or ""
      code[#code + 1] = fmt("%s%s=%s%s", test, target, x, test ~= "" and " end" or "")
    end
    if lazy then code[#code + 1] = "end" end
    return target
  end
  -- operands one and two levels down, so that the checks still see them beside the result
  local a = gen(g, at.args[1], d + 1)
  local b = at.args[2] and gen(g, at.args[2], d + 2)
  if GEN[at.op] then
    GEN[at.op](g, d, a, b)
  else
    code[#code + 1] = fmt("t%d=%s%s%s", d, a, at.op, b)
  end
  return target
end

-- Whether a*b is not what the wrapped product says.
local function wide(a, b, product)
  if a == 0 or b == 0 then return false end
  if a == math.mininteger or b == math.mininteger then return a ~= 1 and b ~= 1 end
  return product // b ~= a or product % b ~= 0
end

-- The text of the tree as a chunk that makes f(V); it does not depend on the types.
local function chunk_of(tree)
  local g = { code = {}, top = 1 }
  local result = gen(g, tree.root, 1)
  local locals = {}
  for i = 1, g.top do locals[i] = "t" .. i end
  local text = fmt("local fault,wide,math_min=... return function(V) local %s %s return %s end",
    table.concat(locals, ","), table.concat(g.code, " "), result)
  return assert(load(text, "=expr", "t"))
end

-- A checked tree -> f(V). raise(V, message) must not return.
function expr.compile(tree, raise)
  tree.chunk = tree.chunk or chunk_of(tree)
  local function faulty(V, kind, a, op, b)
    raise(V, fmt(FAULTS[kind], a, op, b))
  end
  return tree.chunk(faulty, wide, math.mininteger)
end

-- Printer --------------------------------------------------------------------------------------

-- The source text with every name replaced by its value in V (names V lacks stay).
function expr.show(tree, V)
  local out, at = {}, 1
  for i, token in ipairs(tree.tokens) do
    local value = nil
    if token.kind == "name" and tree.tokens[i + 1].kind ~= "(" then value = V[token.value] end
    if value ~= nil then
      out[#out + 1] = string.sub(tree.text, at, token.from - 1)
      out[#out + 1] = type(value) == "string" and fmt("'%s'", value) or tostring(value)
      at = token.to + 1
    end
  end
  out[#out + 1] = string.sub(tree.text, at)
  return table.concat(out)
end

return expr
