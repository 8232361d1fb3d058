-- Edits of space files: which bytes change, what is refused and how, and that nothing else moves.

local dsl = require "dsl"
local edit = require "edit"
local luatok = require "luatok"
local sh = require "tests_sh"
local space = require "space"

local root = host.root .. "/"
local dir = "out/build/test/edit" -- as messages show it
local path = root .. dir .. "/e.lua"
local HEAD = 'space "e" { format = 1, template = "simt.cu" } -- line 1\n'

local function equal(got, want)
  assert(got == want, string.format("got\n%s\nwant\n%s", tostring(got), tostring(want)))
end

local function apply(text, words)
  return edit.apply(text, path, assert(edit.parse(words)))
end

local function test(name, run)
  return { name = name, run = run }
end

-- `before` and what an edit makes of it; "word VALUE...; after" a pair.
local function edits(name, before, list)
  return test(name, function()
    for i = 1, #list, 2 do
      local new, err = apply(HEAD .. before .. "\n", list[i])
      assert(new, list[i] .. ": " .. tostring(err))
      equal(new, HEAD .. list[i + 1] .. "\n")
      assert(edit.check(new, path))
    end
  end)
end

-- The message that each edit of the text is refused with, without "out/.../e.lua:".
local function refuses(name, body, list)
  return test(name, function()
    for i = 1, #list, 2 do
      local new, err = apply(HEAD .. body .. "\n", list[i])
      assert(not new, list[i] .. " is accepted: " .. tostring(new))
      equal(err, dir .. "/e.lua:" .. list[i + 1])
    end
  end)
end

-- Properties ---------------------------------------------------------------------------------------

-- The new text differs from the old one in the reported bytes and nowhere else.
local function check_changes(old, new, changes)
  local at, to = 1, 1
  for _, c in ipairs(changes) do
    assert(c.from >= at and c.to >= c.from - 1 and c.to <= #old, "a change out of order")
    equal(new:sub(to, to + c.from - at - 1), old:sub(at, c.from - 1))
    to = to + c.from - at
    equal(new:sub(to, to + #c.text - 1), c.text)
    at, to = c.to + 1, to + #c.text
  end
  equal(new:sub(to), old:sub(at))
end

local function domain(sp, name)
  for _, param in ipairs(sp.params) do
    if param.name == name then return param.rows, param end
  end
end

local function text_of(rows)
  local out = {}
  for i, row in ipairs(rows) do out[i] = dsl.row_text(row) end
  return table.concat(out, " ")
end

local function value_of(row)
  return #row == 1 and row[1] or row
end

-- A row of the parameter's types that it may have or not.
local function random_row(param)
  local row = {}
  for i in ipairs(param.names) do
    local known = param.rows[math.random(#param.rows)][i]
    if math.random(2) == 1 then
      row[i] = known
    elseif math.type(known) then
      row[i] = math.random(0, 3) == 0 and known * 2 or math.random(1, 300)
    else
      row[i] = "w" .. math.random(9)
    end
  end
  return row
end

local function random_op(param)
  local kind = edit.ops[math.random(#edit.ops)]
  local op = { kind = kind, param = param.name, values = {} }
  local rows = {}
  for _ = 1, kind == "pin" and 1 or math.random(3) do
    local row = random_row(param)
    if kind == "remove-value" then row = param.rows[math.random(#param.rows)] end
    if not dsl.row_index(rows, row) then rows[#rows + 1] = row end
  end
  for i, row in ipairs(rows) do op.values[i] = value_of(row) end
  return op, rows
end

-- What the domain must be afterwards; order is looked at for set-domain alone.
local function expected(op, old, rows)
  local want = {}
  if op.kind == "set-domain" or op.kind == "pin" then return rows, true end
  for _, row in ipairs(old) do
    if op.kind == "add-value" or not dsl.row_index(rows, row) then want[#want + 1] = row end
  end
  if op.kind == "add-value" then table.move(rows, 1, #rows, #want + 1, want) end
  return want, false
end

local REFUSALS = { "already$", "its default .* would not be among its values$", "one value must stay$" }

-- One random edit of the text; the new text, or nil where it is refused for a known reason.
local function random_edit(text, file, count)
  local sp = assert(edit.check(text, file))
  local param = sp.params[math.random(#sp.params)]
  local op, rows = random_op(param)
  local words = edit.format(op)
  equal(edit.format(assert(edit.parse(words))), words)
  local new, changes = edit.apply(text, file, assert(edit.parse(words)))
  if not new then
    for _, pattern in ipairs(REFUSALS) do
      if changes:find(pattern) then return nil end
    end
    error(words .. ": " .. changes .. "\n" .. text, 0)
  end
  check_changes(text, new, changes)
  local after = domain(assert(edit.check(new, file)), param.name)
  local want, ordered = expected(op, param.rows, rows)
  equal(#after, #want)
  for _, row in ipairs(want) do assert(dsl.row_index(after, row), dsl.row_text(row) .. " is gone") end
  if ordered then equal(text_of(after), text_of(want)) end
  count.done = count.done + 1
  return new, op
end

-- Adding a value and removing it gives the bytes back, but for a range that had to become a list.
local function check_restores(text, file)
  local sp = assert(edit.check(text, file))
  for _, param in ipairs(sp.params) do
    local row = random_row(param)
    if not dsl.row_index(param.rows, row) then
      local op = { kind = "add-value", param = param.name, values = { value_of(row) } }
      local added = assert(edit.apply(text, file, op))
      op.kind = "remove-value"
      local back = assert(edit.apply(added, file, op))
      local _, ranges = text:gsub("range", "")
      if select(2, added:gsub("range", "")) == ranges then equal(back, text) end
      equal(text_of(domain(edit.check(back, file), param.name)), text_of(param.rows))
    end
  end
end

-- Random spellings of one spec: layout, comments, separators and the order of fields vary.

local function pick(...)
  return (select(math.random(select("#", ...)), ...))
end

local function blank()
  return pick("", " ", " ", " ", "  ", "\n  ", "\r\n\t", " -- it's, {a} note\n  ", " --[[ c, ]] ", "\n\n  ")
end

local function shuffle(list)
  for i = #list, 2, -1 do
    local k = math.random(i)
    list[i], list[k] = list[k], list[i]
  end
  return list
end

local function braces(fields)
  local out = { "{", blank() }
  for i, field in ipairs(fields) do
    out[#out + 1] = field .. blank() .. ((i < #fields or math.random(2) == 1) and pick(",", ";", ",") or "") .. blank()
  end
  return table.concat(out) .. "}"
end

-- Keyed fields in any place among the values, whose order stays.
local function mixed(values, keyed)
  local fields = table.move(values, 1, #values, 1, {})
  for _, field in ipairs(shuffle(keyed)) do table.insert(fields, math.random(#fields + 1), field) end
  return braces(fields)
end

local function number(n)
  return math.random(4) == 1 and string.format("0x%X", n) or tostring(n)
end

local function numbers(n)
  local values = {}
  for i = 1, math.random(n) do values[i] = 8 * i * i end
  if math.random(3) == 1 then shuffle(values) end
  return values
end

local function random_params()
  local out, a, b = {}, numbers(5), numbers(4)
  local spelled, rows = {}, {}
  for i, n in ipairs(a) do spelled[i] = number(n) end
  out[1] = 'param "a" ' .. mixed(spelled, { 'doc = "it\'s { a, } doc"', "default = " .. a[1] })
  for i, n in ipairs(b) do rows[i] = string.format(pick('{ "w%d", %d }', '{"w%d",%d}', "{'w%d', %d}"), i % 3, n) end
  out[2] = 'param("b")' .. blank() .. mixed(rows, { 'as = {"b1", "b2"}', "doc = [==[long ]] text]==]" })
  out[3] = 'param "c" ' .. mixed({}, { pick("range = {2, 9}", "range = { 0x4, 40, 4 }", "range = {1,1}"), "doc = [[x]]" })
  out[4] = "param 'd' " .. mixed({ '"none"', "[[k]]", "'mnk'" }, { "default = [[k]]", 'when = "a > 8"' })
  local seeds = {}
  for i = 1, math.random(0, 2) do
    local spread = math.random(2) == 1
    local fields = shuffle { "a = " .. a[math.random(#a)], 'd = "mnk"', spread and "b1 = 'w1'" or nil }
    if spread then fields[#fields + 1] = "b2 = " .. b[1] elseif math.random(2) == 1 then fields[#fields + 1] = "b = " .. rows[#rows] end
    seeds[i] = "seed " .. braces(fields)
  end
  return HEAD .. table.concat(out, pick("\n", " ", "\n\n-- c\n")) .. "\n" .. table.concat(seeds, "\n") .. pick("", "\n")
end

local function comments(text)
  return select(2, text:gsub("%-%- it's, {a} note", "")), select(2, text:gsub("%-%-%[%[ c, %]%]", ""))
end

local SHIPPED = { "hopper", "mma", "simt" }

-- Runs body(seeded number) `n` times; a failure names the seed.
local function seeded(n, body)
  for i = 1, n do
    math.randomseed(i)
    local ok, err = pcall(body, i)
    assert(ok, string.format("seed %d: %s", i, tostring(err)))
  end
end

-- The verb -----------------------------------------------------------------------------------------

local function loom(...)
  local got = sh.run { sh.loom, "edit", ... }
  return got.code, got.output
end

return {
  edits("values are set, added and removed in a list", 'param "a" { 64, 128, 256, doc = "x" }', {
    "set-domain a 64 256", 'param "a" { 64, 256, doc = "x" }',
    "set-domain a 256 64", 'param "a" { 256, 64, doc = "x" }',
    "set-domain a 96", 'param "a" { 96, doc = "x" }',
    "set-domain a 32 64 96 512", 'param "a" { 32, 64, 96, 512, doc = "x" }',
    "set-domain a 1 2 128", 'param "a" { 1, 2, 128, doc = "x" }',
    "add-value a 96", 'param "a" { 64, 96, 128, 256, doc = "x" }',
    "add-value a 512 32", 'param "a" { 32, 64, 128, 256, 512, doc = "x" }',
    "add-value a -1", 'param "a" { -1, 64, 128, 256, doc = "x" }',
    "remove-value a 64", 'param "a" { 128, 256, doc = "x" }',
    "remove-value a 256", 'param "a" { 64, 128, doc = "x" }',
    "remove-value a 64 256", 'param "a" { 128, doc = "x" }',
    "pin a 128", 'param "a" { 128, doc = "x" }',
    "pin a 7", 'param "a" { 7, doc = "x" }',
  }),
  edits("what is not in rising order grows at its end", 'param "a" { 128, 64 }', {
    "add-value a 96", 'param "a" { 128, 64, 96 }',
  }),
  edits("numbers keep their spelling, new ones are decimal", 'param "a" {0x40,0X80 ,-3}', {
    "add-value a 256", 'param "a" {0x40,0X80 ,-3,256}',
    "remove-value a -3", 'param "a" {0x40,0X80}',
    "remove-value a 64", 'param "a" {0X80 ,-3}',
    "set-domain a 128 64", 'param "a" {0X80,0x40}',
    "add-value a 0x100", 'param "a" {0x40,0X80 ,-3,256}',
  }),
  edits("a range changes at its ends and becomes a list where it must", 'param "a" { range = {2, 6}, doc = "x" }', {
    "add-value a 7", 'param "a" { range = {2, 7}, doc = "x" }',
    "add-value a 1 7", 'param "a" { range = {1, 7}, doc = "x" }',
    "add-value a 9", 'param "a" { 2, 3, 4, 5, 6, 9, doc = "x" }',
    "remove-value a 2 6", 'param "a" { range = {3, 5}, doc = "x" }',
    "remove-value a 4", 'param "a" { 2, 3, 5, 6, doc = "x" }',
    "set-domain a 3 4", 'param "a" { range = {3, 4}, doc = "x" }',
    "set-domain a 4 3", 'param "a" { 4, 3, doc = "x" }',
    "set-domain a 4", 'param "a" { 4, doc = "x" }',
    "pin a 4", 'param "a" { 4, doc = "x" }',
  }),
  edits("a range with a step keeps it", "param 'a' { doc = [[y]]; range = { 0x4; 13, 4 } ; }", {
    "add-value a 16", "param 'a' { doc = [[y]]; range = { 0x4; 16, 4 } ; }",
    "remove-value a 4", "param 'a' { doc = [[y]]; range = { 8; 13, 4 } ; }",
    "remove-value a 8", "param 'a' { doc = [[y]]; 4, 12 ; }",
    "add-value a 14", "param 'a' { doc = [[y]]; 4, 8, 12, 14 ; }",
    "remove-value a 8 4", "param 'a' { doc = [[y]]; range = { 12; 13, 4 } ; }",
  }),
  edits("a range of computed ends becomes a list", 'local n = 3\nparam "a" { range = {1, n} }', {
    "add-value a 4", 'local n = 3\nparam "a" { 1, 2, 3, 4 }',
    "pin a 3", 'local n = 3\nparam "a" { 3 }',
  }),
  edits("tied values move together", 'param "w" { {1, 2}, {2, 2},\n  as = {"x", "y"} }', {
    "add-value w 4,2", 'param "w" { {1, 2}, {2, 2}, {4, 2},\n  as = {"x", "y"} }',
    "remove-value w 1,2", 'param "w" { {2, 2},\n  as = {"x", "y"} }',
    "pin w 8,8", 'param "w" { {8, 8},\n  as = {"x", "y"} }',
    "set-domain w 2,2 1,2", 'param "w" { {2, 2}, {1, 2},\n  as = {"x", "y"} }',
  }),
  edits("new strings and rows are written as their neighbours", "param \"w\" { { 'p',1 }, as = {\"x\", \"y\"} }", {
    "add-value w q,2", "param \"w\" { { 'p',1 }, { 'q',2 }, as = {\"x\", \"y\"} }",
  }),
  edits("strings in any quotes", "param [[s]] { 'none', \"k\", [[mnk]], default = [==[k]==] }", {
    "add-value s m", "param [[s]] { 'none', \"k\", [[mnk]], 'm', default = [==[k]==] }",
    "remove-value s mnk", "param [[s]] { 'none', \"k\", default = [==[k]==] }",
    "pin s none", "param [[s]] { 'none', default = \"none\" }",
    'set-domain s "12" k', "param [[s]] { '12', \"k\", default = [==[k]==] }",
  }),
  edits("a pin takes the default along", 'param "b" { true_ = nil, 1, 2, default = 2, when = "1 > 2" }', {
    "pin b 1", 'param "b" { true_ = nil, 1, default = 1, when = "1 > 2" }',
    "pin b 2", 'param "b" { true_ = nil, 2, default = 2, when = "1 > 2" }',
    "remove-value b 1", 'param "b" { true_ = nil, 2, default = 2, when = "1 > 2" }',
  }),
  edits("keys stand before, between and after the values", 'param "a" { doc = "x", 1, default = 2, 2, when = "1 > 2", 3 }', {
    "remove-value a 1", 'param "a" { doc = "x", default = 2, 2, when = "1 > 2", 3 }',
    "remove-value a 1 3", 'param "a" { doc = "x", default = 2, 2, when = "1 > 2" }',
    "add-value a 0 4", 'param "a" { doc = "x", 0, 1, default = 2, 2, when = "1 > 2", 3, 4 }',
    "set-domain a 3 2", 'param "a" { doc = "x", 3, 2, default = 2, when = "1 > 2" }',
    "pin a 3", 'param "a" { doc = "x", default = 3, when = "1 > 2", 3 }',
  }),
  edits("comments stay", [[
param "a" { -- values
  64, -- the small one
  --[=[ both ]=] 128; -- the middle
  256 -- the large one
}]], {
    "remove-value a 64", [[
param "a" { -- values
  -- the small one
  --[=[ both ]=] 128; -- the middle
  256 -- the large one
}]],
    "remove-value a 128", [[
param "a" { -- values
  64, -- the small one
  --[=[ both ]=] -- the middle
  256 -- the large one
}]],
    "remove-value a 256", [[
param "a" { -- values
  64, -- the small one
  --[=[ both ]=] 128 -- the middle
  -- the large one
}]],
    "pin a 7", [[
param "a" { -- values
  7 -- the small one
  --[=[ both ]=]  -- the middle
  -- the large one
}]],
    "add-value a 96", [[
param "a" { -- values
  64, 96, -- the small one
  --[=[ both ]=] 128; -- the middle
  256 -- the large one
}]],
    "add-value a 512", [[
param "a" { -- values
  64, -- the small one
  --[=[ both ]=] 128; -- the middle
  256, 512 -- the large one
}]],
  }),
  edits("a value on a line of its own takes the line along", 'param "a" {\n  64,\n  128,\n  256,\n  doc = "x",\n}', {
    "remove-value a 64", 'param "a" {\n  128,\n  256,\n  doc = "x",\n}',
    "remove-value a 128", 'param "a" {\n  64,\n  256,\n  doc = "x",\n}',
    "add-value a 512", 'param "a" {\n  64,\n  128,\n  256,\n  512,\n  doc = "x",\n}',
    "add-value a 32", 'param "a" {\n  32,\n  64,\n  128,\n  256,\n  doc = "x",\n}',
  }),
  edits("several parameters on a line, line ends of two bytes",
    'param "a" {1,2,} param "b" {1,2}\r\nparam("c")({1,2});param"d"{1,2}', {
    "add-value a 3", 'param "a" {1,2,3,} param "b" {1,2}\r\nparam("c")({1,2});param"d"{1,2}',
    "pin b 1", 'param "a" {1,2,} param "b" {1}\r\nparam("c")({1,2});param"d"{1,2}',
    "remove-value c 1", 'param "a" {1,2,} param "b" {1,2}\r\nparam("c")({2});param"d"{1,2}',
    "set-domain d 5", 'param "a" {1,2,} param "b" {1,2}\r\nparam("c")({1,2});param"d"{5}',
  }),
  edits("computed values may stay or go", 'local n = 4\nparam "a" { n, 2 * n, (16) }', {
    "remove-value a 4", 'local n = 4\nparam "a" { 2 * n, (16) }',
    "add-value a 12", 'local n = 4\nparam "a" { n, 2 * n, 12, (16) }',
    "set-domain a 16 8", 'local n = 4\nparam "a" { (16), 2 * n }',
  }),
  edits("a seed gives up a value that went, a pin puts its own there",
    'param "a" { 1, 2 }\nparam "w" { {1, 2}, {3, 4}, as = {"x", "y"} }\n'
    .. "seed { a = 2, w = {3, 4} } -- one\nseed { x = 3, a = 1, y = 4 }", {
    "remove-value a 2", 'param "a" { 1 }\nparam "w" { {1, 2}, {3, 4}, as = {"x", "y"} }\n'
      .. "seed { w = {3, 4} } -- one\nseed { x = 3, a = 1, y = 4 }",
    "remove-value w 3,4", 'param "a" { 1, 2 }\nparam "w" { {1, 2}, as = {"x", "y"} }\n'
      .. "seed { a = 2 } -- one\nseed { a = 1 }",
    "pin w 1,2", 'param "a" { 1, 2 }\nparam "w" { {1, 2}, as = {"x", "y"} }\n'
      .. "seed { a = 2, w = {1, 2} } -- one\nseed { x = 1, a = 1, y = 2 }",
    "set-domain a 3", 'param "a" { 3 }\nparam "w" { {1, 2}, {3, 4}, as = {"x", "y"} }\n'
      .. "seed { w = {3, 4} } -- one\nseed { x = 3, y = 4 }",
    "pin a 1", 'param "a" { 1 }\nparam "w" { {1, 2}, {3, 4}, as = {"x", "y"} }\n'
      .. "seed { a = 1, w = {3, 4} } -- one\nseed { x = 3, a = 1, y = 4 }",
  }),
  edits("seeds of a loop and twins on a line",
    'param "a" { 1, 2 }\nparam "b" { 1, 2 }\nfor i = 1, 2 do seed { a = 2, b = i } end seed { a = 2 } seed { a = 2 }', {
    "remove-value a 2",
    'param "a" { 1 }\nparam "b" { 1, 2 }\nfor i = 1, 2 do seed { b = i } end seed { } seed { }',
  }),
  edits("statements in comments and strings are none",
    '-- param "a" { 1 }\nparam "a" { 1, 2, doc = "param \\"a\\" { 9 }" }\n--[[ seed { a = 2 } ]]', {
    "pin a 1", '-- param "a" { 1 }\nparam "a" { 1, doc = "param \\"a\\" { 9 }" }\n--[[ seed { a = 2 } ]]',
  }),
  refuses("what a parameter cannot take is refused at its line", table.concat({
    'param "tile_m" { 64, 128, default = 128 }', 'param "warps" { {"ping", 2}, as = {"schedule", "consumers"} }',
    'param "s" { "a", "b" }', 'param "stages" { range = {2, 20} }' }, "\n"), {
    "pin tile_n 64", "1: no param 'tile_n' (did you mean 'tile_m'?)",
    "pin nothing 64", "1: no param 'nothing'",
    "pin schedule ping", "3: param 'warps': ties 'schedule' to others: edit 'warps'",
    "add-value tile_m 64", "2: param 'tile_m': has the value 64 already",
    "add-value warps ping,2", "3: param 'warps': has the value {'ping', 2} already",
    "add-value tile_m 32 32", "2: param 'tile_m': value 32 is given twice",
    "set-domain tile_m 64 128", "2: param 'tile_m': its values are 64, 128 already",
    "set-domain tile_m 128 128", "2: param 'tile_m': value 128 is given twice",
    "set-domain tile_m 64", "2: param 'tile_m': its default 128 would not be among its values",
    "remove-value tile_m 128", "2: param 'tile_m': its default 128 would not be among its values",
    "remove-value tile_m 96", "2: param 'tile_m': has no value 96; it has 64, 128",
    "remove-value stages 1", "5: param 'stages': has no value 1; it has 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, ...",
    "remove-value tile_m 64 128", "2: param 'tile_m': 64, 128 is all it has: one value must stay",
    "remove-value warps ping,2", "3: param 'warps': {'ping', 2} is all it has: one value must stay",
    "pin warps ping,2", "3: param 'warps': its values are {'ping', 2} already",
    "pin tile_m 64 128", "2: param 'tile_m': a pin wants one value, not 2",
    "pin tile_m x", "2: param 'tile_m': 'x' is a string, 'tile_m' holds integers",
    "pin tile_m 1.5", "2: param 'tile_m': '1.5' is a string, 'tile_m' holds integers",
    "add-value s 12", "4: param 's': 12 is an integer, 's' holds strings",
    "add-value s a*b", "4: param 's': value 'a*b' has other characters than letters, digits, '_', '.', '+', '-'",
    "add-value warps 2,ping", "3: param 'warps': 2 is an integer, 'schedule' holds strings",
    "add-value warps ping,x", "3: param 'warps': 'x' is a string, 'consumers' holds integers",
    "add-value warps ping", "3: param 'warps': value 'ping' wants 2 parts: {schedule, consumers}",
    "add-value warps ping,2,3", "3: param 'warps': value {'ping', 2, 3} wants 2 parts: {schedule, consumers}",
    "add-value tile_m 1,2", "2: param 'tile_m': value {1, 2} wants one part",
  }),
  refuses("what is computed is refused", 'local list = { 1, 2 }\nparam "a" (list)\nlocal n = 2\n'
    .. 'for _, x in ipairs { "b" } do param(x) { 1, 2 } end\nparam "c" { 1, n }\nseed { c = n }\n'
    .. 'local p = param\np "d" { 1, 2 }', {
    "pin a 1", "3: param 'a': is not written as param \"a\" { ... }: edit the file by hand",
    "pin b 1", "5: param 'b': is not written as param \"b\" { ... }: edit the file by hand",
    "pin d 1", "9: param 'd': is not written as param \"d\" { ... }: edit the file by hand",
    "pin c 1", "6: param 'c': the seed at line 7 asks for 2, which is computed: edit the file by hand",
  }),
  refuses("a file that is no space before the edit", 'param "a" { 1, 1 }', {
    "pin a 1", "2: param 'a': value 1 stands twice",
  }),
  refuses("a file that is not Lua before the edit", 'param "a" { 1, ', {
    "pin a 1", "3: unexpected symbol near <eof>",
  }),
  test("an inherited parameter is refused with the place where it stands", function()
    assert(host.write(root .. dir .. "/under.lua", 'space "under" { format = 1, template = "simt.cu" }\n'
      .. 'param "a" { 1, 2 }\nparam "b" { 1, 2 }\nseed { b = 1 }\n') ~= nil)
    local text = 'space "e" { format = 1, base = "under" }\nparam "b" { 1, 2, 3 }\n'
    local new, err = apply(text, "pin a 2")
    assert(not new)
    equal(err, dir .. "/e.lua:1: param 'a' is inherited: it stands at " .. dir .. "/under.lua:2")
    new, err = apply(text, "remove-value b 1")
    assert(not new)
    equal(err, dir .. "/e.lua:2: param 'b': the seed at " .. dir .. "/under.lua:4 asks for 1")
    assert(apply(text, "pin b 1"))
  end),
  test("a space without a template can be edited", function()
    local text = 'space "e" { format = 1 }\nparam "a" { 1, 2 }\nlet "x" "a * unknown"\n'
    equal((apply(text, "pin a 2")), 'space "e" { format = 1 }\nparam "a" { 2 }\nlet "x" "a * unknown"\n')
  end),
  test("ops that no words make are refused too", function()
    local text = HEAD .. 'param "a" { 1, 2 }\n'
    local function refused(op, message)
      local new, err = edit.apply(text, path, op)
      assert(not new)
      equal(err, dir .. "/e.lua:" .. message)
    end
    refused({ kind = "pin", param = "a", values = { 1.5 } }, "2: param 'a': a value is a float; values are integers or strings")
    refused({ kind = "pin", param = "a", values = { true } }, "2: param 'a': a value is a boolean; values are integers or strings")
    refused({ kind = "pin", param = "a", values = { { { 1 } } } }, "2: param 'a': a value is a table; values are integers or strings")
    refused({ kind = "pin", param = "a", values = {} }, "2: param 'a': no value is given")
    refused({ kind = "pin", param = "a" }, "2: param 'a': no value is given")
    refused({ kind = "pin", values = { 1 } }, "1: no param 'nil'")
    refused({ kind = "pinn", param = "a", values = { 1 } }, "1: unknown edit 'pinn' (did you mean 'pin'?)")
    refused({ param = "a", values = { 1 } }, "1: unknown edit 'nil'")
  end),
  test("words and ops are two forms of one thing", function()
    local op = edit.parse { "set-domain", "w", "pingpong,2", "-3", '"12",0x10', "a.b" }
    equal(op.kind .. " " .. op.param .. " " .. #op.values, "set-domain w 4")
    assert(op.values[1][1] == "pingpong" and op.values[1][2] == 2 and op.values[2] == -3)
    assert(op.values[3][1] == "12" and op.values[3][2] == 16 and op.values[4] == "a.b")
    equal(edit.format(op), 'set-domain w pingpong,2 -3 "12",16 a.b')
    equal(edit.format(edit.parse(edit.format(op))), edit.format(op))
    local function refused(words, message)
      local got, err = edit.parse(words)
      assert(got == nil)
      equal(err, message)
    end
    refused("pin a", "an edit wants OP PARAM VALUE...")
    refused("pim a 1", "unknown edit 'pim' (did you mean 'pin'?); there are set-domain, add-value, remove-value, pin")
    refused("pin a 1,,2", "value '1,,2' has an empty part")
    refused("pin a ,", "value ',' has an empty part")
    refused("pin a 99999999999999999999", "value '99999999999999999999' does not fit in 64 bits")
  end),
  test("tokens keep every byte and know their lines", function()
    local text = "a=[==[\n]]]==]..'x\\\n\\'\\z \n y'--[[\n]]0x1p-3\r\n3..2 //::... ~= --c\nend"
    local out, at = {}, 1
    for _, token in ipairs(luatok.scan(text)) do
      out[#out + 1] = token.kind:sub(1, 1) .. token.line .. token.text:gsub("[\r\n]", "~")
      assert(token.from >= at and token.text == text:sub(token.from, token.to))
      at = token.to + 1
    end
    equal(table.concat(out, " "), "n1a o1= s1[==[~]]]==] o2.. s2'x\\~\\'\\z ~ y' n50x1p-3 n63..2 o6// o6:: o6... o6~= n7end")
    for _, wrong in ipairs { "'a", "[[a", "a $", "--[[", "'a\nb'" } do assert(luatok.scan(wrong) == nil, wrong) end
  end),
  test("a large list is edited in a moment", function()
    local values = {}
    for i = 1, 4000 do values[i] = tostring(2 * i) end
    local text = HEAD .. 'param "a" { ' .. table.concat(values, ", ") .. " }\n"
    local start = host.now()
    local new = assert(apply(text, "add-value a 31"))
    equal((apply(new, "remove-value a 31")), text)
    assert(apply(text, "pin a 8"))
    assert(host.now() - start < 10, "took " .. host.now() - start .. " s")
  end),
  test("random edits of the shipped spaces change the reported bytes alone", function()
    local count = { done = 0 }
    seeded(15, function(i)
      local name = SHIPPED[i % #SHIPPED + 1]
      local text, file = host.read(root .. "spaces/" .. name .. ".lua"), root .. "spaces/" .. name .. ".lua"
      for _ = 1, 4 do text = random_edit(text, file, count) or text end
    end)
    assert(count.done > 20, "only " .. count.done .. " edits went through")
  end),
  test("a value added to a shipped space and removed leaves no trace", function()
    seeded(6, function(i)
      local file = root .. "spaces/" .. SHIPPED[i % #SHIPPED + 1] .. ".lua"
      check_restores(host.read(file), file)
    end)
  end),
  test("the same in any layout, and no comment is lost", function()
    local count = { done = 0 }
    seeded(120, function()
      local text = random_params()
      check_restores(text, path)
      local before, long = comments(text)
      for _ = 1, 4 do text = random_edit(text, path, count) or text end
      local after, long_after = comments(text)
      equal(after .. " " .. long_after, before .. " " .. long)
    end)
    assert(count.done > 200, "only " .. count.done .. " edits went through")
  end),
  test("a space is loaded from a text in the place of its file", function()
    local sp = space.load_text(path, HEAD .. 'param "a" { 5 }')
    assert(sp.name == "e" and sp.params[1].rows[1][1] == 5 and sp.file == dir .. "/e.lua")
    local _, err = edit.check('space "f" { format = 1 }', path)
    equal(err, dir .. "/e.lua:1: space 'f': file 'e.lua' holds space 'f'")
  end),
  test("loom edit writes the file and prints what changed", function()
    local file = sh.tmpdir("edit") .. "/e.lua"
    assert(host.write(file, HEAD .. 'param "a" { 1,\n  2, default = 2 }\nlet "x" "a"\nseed { a = 2 }'))
    local code, output = loom(file, "pin", "a", "1")
    equal(output, '@@ line 2\n-param "a" { 1,\n-  2, default = 2 }\n+param "a" { 1, default = 1 }\n'
      .. "@@ line 5\n-seed { a = 2 }\n+seed { a = 1 }\n")
    equal(code, 0)
    equal(host.read(file), HEAD .. 'param "a" { 1, default = 1 }\nlet "x" "a"\nseed { a = 1 }')
  end),
  test("loom edit keeps a file's mode, and edits what a symbolic link leads to", function()
    local folder = sh.tmpdir("edit")
    local file, link = folder .. "/real/e.lua", folder .. "/e.lua"
    assert(host.write(file, HEAD .. 'param "a" { 1, 2 }\n'))
    equal(sh.run({ "sh", "-c", 'chmod 664 real/e.lua && ln -s real/e.lua e.lua' }, { cwd = folder }).code, 0)
    equal((loom(link, "pin", "a", "1")), 0)
    equal(host.read(file), HEAD .. 'param "a" { 1 }\n')
    equal(sh.run({ "stat", "-c", "%a %F", "real/e.lua", "e.lua" }, { cwd = folder }).output,
          "664 regular file\n777 symbolic link\n")
  end),
  test("loom edit refuses with one line, writes nothing and says so by its exit code", function()
    local text = HEAD .. 'param "a" { 1, 2 }\n'
    local file, shown = root .. dir .. "/cli/e.lua", dir .. "/cli/e.lua"
    assert(host.write(file, text) ~= nil)
    local function refused(code, message, ...)
      local got, output = loom(...)
      equal(output, message .. "\n")
      equal(got, code)
      equal(host.read(file), text)
      equal(table.concat(host.list(file:match("^(.*)/")), " "), "e.lua")
    end
    local USAGE = "loom: edit wants FILE OP PARAM VALUE...: set-domain tile_m 64 128, add-value warps pingpong,2, "
      .. "remove-value stages 3, pin stages 4"
    refused(1, shown .. ":2: param 'a': has the value 2 already", file, "add-value", "a", "2")
    refused(1, shown .. ":1: no param 'b'", file, "pin", "b", "2")
    refused(1, "loom: cannot open '" .. file .. "x': No such file or directory", file .. "x", "pin", "a", "2")
    refused(2, USAGE, file, "pin", "a")
    refused(2, USAGE)
    refused(2, "loom: unknown edit 'pinn' (did you mean 'pin'?); there are set-domain, add-value, remove-value, pin",
      file, "pinn", "a", "2")
    refused(2, "loom: value '2,' has an empty part", file, "pin", "a", "2,")
  end),
}
