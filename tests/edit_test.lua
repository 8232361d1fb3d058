-- Edits of the values of parameters: which bytes change, what is refused and how, and that nothing else
-- moves.

local edit = require "edit"
local kit = require "edit_kit"
local luatok = require "luatok"

local root = host.root .. "/"
local dir, path, HEAD = kit.dir, kit.path, kit.HEAD
local equal, apply, test, edits, refuses = kit.equal, kit.apply, kit.test, kit.edits, kit.refuses

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
    "set-domain a 128", 'param "a" { 128, doc = "x" }',
    "set-domain a 7", 'param "a" { 7, doc = "x" }',
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
    "set-domain a 4", 'param "a" { 4, doc = "x" }',
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
    "set-domain a 3", 'local n = 3\nparam "a" { 3 }',
  }),
  edits("tied values move together", 'param "w" { {1, 2}, {2, 2},\n  as = {"x", "y"} }', {
    "add-value w 4,2", 'param "w" { {1, 2}, {2, 2}, {4, 2},\n  as = {"x", "y"} }',
    "remove-value w 1,2", 'param "w" { {2, 2},\n  as = {"x", "y"} }',
    "set-domain w 8,8", 'param "w" { {8, 8},\n  as = {"x", "y"} }',
    "set-domain w 2,2 1,2", 'param "w" { {2, 2}, {1, 2},\n  as = {"x", "y"} }',
  }),
  edits("new strings and rows are written as their neighbours", "param \"w\" { { 'p',1 }, as = {\"x\", \"y\"} }", {
    "add-value w q,2", "param \"w\" { { 'p',1 }, { 'q',2 }, as = {\"x\", \"y\"} }",
  }),
  edits("strings in any quotes", "param [[s]] { 'none', \"k\", [[mnk]], default = [==[k]==] }", {
    "add-value s m", "param [[s]] { 'none', \"k\", [[mnk]], 'm', default = [==[k]==] }",
    "remove-value s mnk", "param [[s]] { 'none', \"k\", default = [==[k]==] }",
    "set-domain s none", "param [[s]] { 'none', default = \"none\" }",
    'set-domain s "12" k', "param [[s]] { '12', \"k\", default = [==[k]==] }",
  }),
  edits("the only value left takes the default along", 'param "b" { true_ = nil, 1, 2, default = 2, when = "1 > 2" }', {
    "set-domain b 1", 'param "b" { true_ = nil, 1, default = 1, when = "1 > 2" }',
    "set-domain b 2", 'param "b" { true_ = nil, 2, default = 2, when = "1 > 2" }',
    "remove-value b 1", 'param "b" { true_ = nil, 2, default = 2, when = "1 > 2" }',
  }),
  edits("keys stand before, between and after the values", 'param "a" { doc = "x", 1, default = 2, 2, when = "1 > 2", 3 }', {
    "remove-value a 1", 'param "a" { doc = "x", default = 2, 2, when = "1 > 2", 3 }',
    "remove-value a 1 3", 'param "a" { doc = "x", default = 2, 2, when = "1 > 2" }',
    "add-value a 0 4", 'param "a" { doc = "x", 0, 1, default = 2, 2, when = "1 > 2", 3, 4 }',
    "set-domain a 3 2", 'param "a" { doc = "x", 3, 2, default = 2, when = "1 > 2" }',
    "set-domain a 3", 'param "a" { doc = "x", default = 3, when = "1 > 2", 3 }',
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
    "set-domain a 7", [[
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
    "set-domain b 1", 'param "a" {1,2,} param "b" {1}\r\nparam("c")({1,2});param"d"{1,2}',
    "remove-value c 1", 'param "a" {1,2,} param "b" {1,2}\r\nparam("c")({2});param"d"{1,2}',
    "set-domain d 5", 'param "a" {1,2,} param "b" {1,2}\r\nparam("c")({1,2});param"d"{5}',
  }),
  edits("computed values may stay or go", 'local n = 4\nparam "a" { n, 2 * n, (16) }', {
    "remove-value a 4", 'local n = 4\nparam "a" { 2 * n, (16) }',
    "add-value a 12", 'local n = 4\nparam "a" { n, 2 * n, 12, (16) }',
    "set-domain a 16 8", 'local n = 4\nparam "a" { (16), 2 * n }',
  }),
  edits("a seed gives up a value that went, the only value left takes its place",
    'param "a" { 1, 2 }\nparam "w" { {1, 2}, {3, 4}, as = {"x", "y"} }\n'
    .. "seed { a = 2, w = {3, 4} } -- one\nseed { x = 3, a = 1, y = 4 }", {
    "remove-value a 2", 'param "a" { 1 }\nparam "w" { {1, 2}, {3, 4}, as = {"x", "y"} }\n'
      .. "seed { w = {3, 4} } -- one\nseed { x = 3, a = 1, y = 4 }",
    "remove-value w 3,4", 'param "a" { 1, 2 }\nparam "w" { {1, 2}, as = {"x", "y"} }\n'
      .. "seed { a = 2 } -- one\nseed { a = 1 }",
    "set-domain w 1,2", 'param "a" { 1, 2 }\nparam "w" { {1, 2}, as = {"x", "y"} }\n'
      .. "seed { a = 2, w = {1, 2} } -- one\nseed { x = 1, a = 1, y = 2 }",
    "set-domain a 3 4", 'param "a" { 3, 4 }\nparam "w" { {1, 2}, {3, 4}, as = {"x", "y"} }\n'
      .. "seed { w = {3, 4} } -- one\nseed { x = 3, y = 4 }",
    "set-range a 3 3", 'param "a" { range = {3, 3} }\nparam "w" { {1, 2}, {3, 4}, as = {"x", "y"} }\n'
      .. "seed { a = 3, w = {3, 4} } -- one\nseed { x = 3, a = 3, y = 4 }",
    "set-range a 2 3", 'param "a" { range = {2, 3} }\nparam "w" { {1, 2}, {3, 4}, as = {"x", "y"} }\n'
      .. "seed { a = 2, w = {3, 4} } -- one\nseed { x = 3, y = 4 }",
    "set-domain a 1", 'param "a" { 1 }\nparam "w" { {1, 2}, {3, 4}, as = {"x", "y"} }\n'
      .. "seed { a = 1, w = {3, 4} } -- one\nseed { x = 3, a = 1, y = 4 }",
  }),
  edits("seeds of a loop and twins on a line",
    'param "a" { 1, 2 }\nparam "b" { 1, 2 }\nfor i = 1, 2 do seed { a = 2, b = i } end seed { a = 2 } seed { a = 2 }', {
    "remove-value a 2",
    'param "a" { 1 }\nparam "b" { 1, 2 }\nfor i = 1, 2 do seed { b = i } end seed { } seed { }',
  }),
  edits("statements in comments and strings are none",
    '-- param "a" { 1 }\nparam "a" { 1, 2, doc = "param \\"a\\" { 9 }" }\n--[[ seed { a = 2 } ]]', {
    "set-domain a 1", '-- param "a" { 1 }\nparam "a" { 1, doc = "param \\"a\\" { 9 }" }\n--[[ seed { a = 2 } ]]',
  }),
  refuses("what a parameter cannot take is refused at its line", table.concat({
    'param "tile_m" { 64, 128, default = 128 }', 'param "warps" { {"ping", 2}, as = {"schedule", "consumers"} }',
    'param "s" { "a", "b" }', 'param "stages" { range = {2, 20} }' }, "\n"), {
    "set-domain tile_n 64", "1: no param 'tile_n' (did you mean 'tile_m'?)",
    "set-domain nothing 64", "1: no param 'nothing'",
    "set-domain schedule ping", "3: param 'warps': ties 'schedule' to others: edit 'warps'",
    "add-value tile_m 64", "2: param 'tile_m': has the value 64 already",
    "add-value warps ping,2", "3: param 'warps': has the value {'ping', 2} already",
    "add-value tile_m 32 32", "2: param 'tile_m': value 32 is given twice",
    "set-domain tile_m 64 128", "2: param 'tile_m': its values are 64, 128 already",
    "set-domain tile_m 128 128", "2: param 'tile_m': value 128 is given twice",
    "set-domain tile_m 64 96", "2: param 'tile_m': its default 128 would not be among its values",
    "remove-value tile_m 128", "2: param 'tile_m': its default 128 would not be among its values",
    "remove-value tile_m 96", "2: param 'tile_m': has no value 96; it has 64, 128",
    "remove-value stages 1", "5: param 'stages': has no value 1; it has 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, ...",
    "remove-value tile_m 64 128", "2: param 'tile_m': 64, 128 is all it has: one value must stay",
    "remove-value warps ping,2", "3: param 'warps': {'ping', 2} is all it has: one value must stay",
    "set-domain warps ping,2", "3: param 'warps': its values are {'ping', 2} already",
    "pin tile_m 64 128", "2: param 'tile_m': a pin wants one value, not 2",
    "pin tile_m 96", "2: param 'tile_m': has no value 96; it has 64, 128",
    "pin warps 2,ping", "3: param 'warps': 2 is an integer, 'schedule' holds strings",
    "unpin tile_m", "2: param 'tile_m': is not pinned",
    "unpin tile_n", "1: no param 'tile_n' (did you mean 'tile_m'?)",
    "set-range tile_m 64 96", "2: param 'tile_m': its default 128 would not be among its values",
    "set-range tile_m 128 64", "2: param 'tile_m': the range {128, 64} is empty",
    "set-range tile_m 64 128 0", "2: param 'tile_m': the range has step 0",
    "set-range tile_m 64 x", "2: param 'tile_m': a range wants integers, not 'x'",
    "set-range tile_m 64 1,2", "2: param 'tile_m': a range wants integers, not {1, 2}",
    "set-range tile_m 0 65536", "2: param 'tile_m': the range has more than 65536 values",
    "set-range tile_m -9223372036854775807 9223372036854775807", "2: param 'tile_m': the range has more than 65536 values",
    "set-range warps 1 2", "3: param 'warps': holds tied values: a range wants one integer",
    "set-range s 1 2", "4: param 's': holds strings: a range wants one integer",
    "set-range stages 2 20", "5: param 'stages': its range is {2, 20} already",
    "set-range stages 2 20 1", "5: param 'stages': its range is {2, 20, 1} already",
    "set-domain tile_m x", "2: param 'tile_m': 'x' is a string, 'tile_m' holds integers",
    "set-domain tile_m 1.5", "2: param 'tile_m': '1.5' is a string, 'tile_m' holds integers",
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
    "set-domain b 1", "5: param 'b': is not written as param \"b\" { ... }: edit the file by hand",
    "set-domain d 1", "9: param 'd': is not written as param \"d\" { ... }: edit the file by hand",
    "set-domain c 1", "6: param 'c': the seed at line 7 asks for 2, which is computed: edit the file by hand",
  }),
  refuses("a file that is no space before the edit", 'param "a" { 1, 1 }', {
    "set-domain a 1", "2: param 'a': value 1 stands twice",
  }),
  test("a byte order mark, a zero byte and a lone bracket are refused where they stand", function()
    for _, case in ipairs { { "\xEF\xBB\xBF" .. HEAD, "1: begins with a byte order mark: save it without" },
      { HEAD .. "\0", "2: unexpected symbol" }, { HEAD .. 'param "a" { 1, 2 } [', "2: " } } do
      local new, err = apply(case[1], "pin a 1")
      assert(not new)
      local start = dir .. "/e.lua:" .. case[2]
      equal(err:sub(1, #start), start)
    end
  end),
  edits("tabs, form feeds and UTF-8 stay", "\tparam\t\"a\"\t{\t1,\f2,\tdoc\t=\t\"\xC3\xBC\" }\v-- \xE2\x82\xAC", {
    "add-value a 3", "\tparam\t\"a\"\t{\t1,\f2, 3,\tdoc\t=\t\"\xC3\xBC\" }\v-- \xE2\x82\xAC",
    "pin a 2", "\tparam\t\"a\"\t{\t1,\f2, pin = 2,\tdoc\t=\t\"\xC3\xBC\" }\v-- \xE2\x82\xAC",
    "remove-value a 1", "\tparam\t\"a\"\t{\t\f2,\tdoc\t=\t\"\xC3\xBC\" }\v-- \xE2\x82\xAC",
    "add-seed a=2", "\tparam\t\"a\"\t{\t1,\f2,\tdoc\t=\t\"\xC3\xBC\" }\v-- \xE2\x82\xAC\nseed { a = 2 }",
  }),
  refuses("a file that is not Lua before the edit", 'param "a" { 1, ', {
    "set-domain a 1", "3: unexpected symbol near <eof>",
  }),
  test("an inherited parameter is refused with the place where it stands", function()
    assert(host.write(root .. dir .. "/under.lua", 'space "under" { format = 1, template = "simt.cu" }\n'
      .. 'param "a" { 1, 2 }\nparam "b" { 1, 2 }\nseed { b = 1 }\n') ~= nil)
    local text = 'space "e" { format = 1, base = "under" }\nparam "b" { 1, 2, 3 }\n'
    local new, err = apply(text, "set-domain a 2")
    assert(not new)
    equal(err, dir .. "/e.lua:1: param 'a' is inherited: it stands at " .. dir .. "/under.lua:2")
    -- the base's seed is left out then, as the language says
    equal(apply(text, "remove-value b 1"), 'space "e" { format = 1, base = "under" }\nparam "b" { 2, 3 }\n')
    assert(apply(text, "set-domain b 1"))
  end),
  test("a space without a template can be edited", function()
    local text = 'space "e" { format = 1 }\nparam "a" { 1, 2 }\nlet "x" "a * unknown"\n'
    equal((apply(text, "set-domain a 2")), 'space "e" { format = 1 }\nparam "a" { 2 }\nlet "x" "a * unknown"\n')
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
    refused({ kind = "set-range", param = "a", values = { 1 } }, "2: param 'a': a range wants LOW HIGH [STEP]")
    refused({ kind = "set-range", param = "a" }, "2: param 'a': a range wants LOW HIGH [STEP]")
    refused({ kind = "pinn", param = "a", values = { 1 } }, "1: unknown edit 'pinn' (did you mean 'pin'?)")
    refused({ param = "a", values = { 1 } }, "1: unknown edit 'nil'")
    equal(edit.format { kind = "pinn", param = "a", values = { 1 } }, "pinn a 1") -- to be named where it is refused
    equal(edit.format {}, "nil nil")
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
    refused("", "an edit wants OP and what it takes")
    refused("set-domain a", "edit 'set-domain' wants PARAM VALUE...")
    refused("set-range a 1", "edit 'set-range' wants PARAM LOW HIGH [STEP]")
    refused("set-range a 1 2 3 4", "edit 'set-range' wants PARAM LOW HIGH [STEP]")
    refused("unpin a 1", "edit 'unpin' wants PARAM")
    refused("pim a 1", "unknown edit 'pim' (did you mean 'pin'?); there are set-domain, add-value, remove-value, "
      .. "set-range, pin, unpin, add-seed, set-let, add-rule, drop-rule, set-search")
    refused("set-domain a 1,,2", "value '1,,2' has an empty part")
    refused("set-domain a ,", "value ',' has an empty part")
    refused("set-domain a 99999999999999999999", "value '99999999999999999999' does not fit in 64 bits")
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
  edits("a range is written at its ends, its other bytes stay", "param 'a' { doc = [[y]]; range = { 0x4; 13, 4 } ; }", {
    "set-range a 4 16 4", "param 'a' { doc = [[y]]; range = { 0x4; 16, 4 } ; }",
    "set-range a 4 12 4", "param 'a' { doc = [[y]]; range = { 0x4; 12, 4 } ; }",
    "set-range a 4 13", "param 'a' { doc = [[y]]; range = { 0x4; 13 } ; }",
    "set-range a 8 9 1", "param 'a' { doc = [[y]]; range = { 8; 9, 1 } ; }",
    "set-range a -4 -2", "param 'a' { doc = [[y]]; range = { -4; -2 } ; }",
  }),
  edits("a range gets a step, and one of computed ends is written anew",
    'local n = 3\nparam "a" { range = {1,9} } param "b" { range = {1, n} }', {
    "set-range a 1 9 2", 'local n = 3\nparam "a" { range = {1,9,2} } param "b" { range = {1, n} }',
    "set-range b 1 4", 'local n = 3\nparam "a" { range = {1,9} } param "b" { range = {1, 4} }',
  }),
  edits("a list becomes a range", 'param "a" { -- some\n  1, --[[ one ]] default = 2, 2,\n  3, -- three\n}', {
    "set-range a 1 8", 'param "a" { -- some\n  range = {1, 8}, --[[ one ]] default = 2, -- three\n}',
    "set-range a 2 2", 'param "a" { -- some\n  range = {2, 2}, --[[ one ]] default = 2, -- three\n}',
    "set-range a 5 5", 'param "a" { -- some\n  range = {5, 5}, --[[ one ]] default = 5, -- three\n}',
  }),
  edits("a pin joins the values, which stay", 'param "a" { 64, 128, default = 128, doc = "x" }\nparam "b" { 1, 2, } -- c\n'
    .. "param 'c' { range = {2, 6}; }param(\"d\")({ 'p', 'q' })param \"w\" { {1,2}, {3,4}, as = {\"x\", \"y\"} }", {
    "pin a 64", 'param "a" { 64, 128, default = 128, pin = 64, doc = "x" }\nparam "b" { 1, 2, } -- c\n'
      .. "param 'c' { range = {2, 6}; }param(\"d\")({ 'p', 'q' })param \"w\" { {1,2}, {3,4}, as = {\"x\", \"y\"} }",
    "pin b 0x2", 'param "a" { 64, 128, default = 128, doc = "x" }\nparam "b" { 1, 2, pin = 2, } -- c\n'
      .. "param 'c' { range = {2, 6}; }param(\"d\")({ 'p', 'q' })param \"w\" { {1,2}, {3,4}, as = {\"x\", \"y\"} }",
    "pin c 4", 'param "a" { 64, 128, default = 128, doc = "x" }\nparam "b" { 1, 2, } -- c\n'
      .. "param 'c' { range = {2, 6}, pin = 4; }param(\"d\")({ 'p', 'q' })param \"w\" { {1,2}, {3,4}, as = {\"x\", \"y\"} }",
    "pin d q", 'param "a" { 64, 128, default = 128, doc = "x" }\nparam "b" { 1, 2, } -- c\n'
      .. "param 'c' { range = {2, 6}; }param(\"d\")({ 'p', 'q', pin = 'q' })param \"w\" { {1,2}, {3,4}, as = {\"x\", \"y\"} }",
    "pin w 3,4", 'param "a" { 64, 128, default = 128, doc = "x" }\nparam "b" { 1, 2, } -- c\n'
      .. "param 'c' { range = {2, 6}; }param(\"d\")({ 'p', 'q' })param \"w\" { {1,2}, {3,4}, pin = {3,4}, as = {\"x\", \"y\"} }",
  }),
  edits("a pin changes and goes", 'param "a" { 1, --[[ it ]] pin = 0x1, -- one\n  2, 3 }\nparam "b" { ["pin"] = 2, 2 }', {
    "pin a 3", 'param "a" { 1, --[[ it ]] pin = 3, -- one\n  2, 3 }\nparam "b" { ["pin"] = 2, 2 }',
    "unpin a", 'param "a" { 1, --[[ it ]] -- one\n  2, 3 }\nparam "b" { ["pin"] = 2, 2 }',
    "unpin b", 'param "a" { 1, --[[ it ]] pin = 0x1, -- one\n  2, 3 }\nparam "b" { 2 }',
  }),
  edits("a pinned parameter's values change around the pin", 'param "a" { 1, 2, 3, pin = 2 }\nseed { a = 3 }', {
    "unpin a", 'param "a" { 1, 2, 3 }\nseed { a = 3 }',
    "pin a 1", 'param "a" { 1, 2, 3, pin = 1 }\nseed { a = 3 }',
    "add-value a 4", 'param "a" { 1, 2, 3, 4, pin = 2 }\nseed { a = 3 }',
    "remove-value a 3", 'param "a" { 1, 2, pin = 2 }\nseed { }',
    "set-domain a 2", 'param "a" { 2, pin = 2 }\nseed { a = 2 }',
    "set-range a 2 9", 'param "a" { range = {2, 9}, pin = 2 }\nseed { a = 3 }',
  }),
  refuses("a pin stays among the values",
    'param "a" { 1, 2, 3, pin = 2 }\nlocal n = 2\nparam "b" { 1, 2, [n == 2 and "pin" or ""] = 2 }\n'
    .. 'param "c" { 1, 2, pin = 2, ["pin"] = 1 }', {
    "pin c 2", "5: param 'c': its values are computed: edit the file by hand",
    "unpin c", "5: param 'c': its values are computed: edit the file by hand",
    "remove-value a 2", "2: param 'a': is pinned to 2: unpin it first",
    "set-domain a 1 3", "2: param 'a': is pinned to 2: unpin it first",
    "set-range a 3 9", "2: param 'a': is pinned to 2: unpin it first",
    "pin a 2", "2: param 'a': is pinned to 2 already",
    "pin b 1", "4: param 'b': its pin is computed: edit the file by hand",
    "unpin b", "4: param 'b': its pin is computed: edit the file by hand",
  }),
  test("a pin that goes leaves no trace, wherever it stood", function()
    for _, body in ipairs { 'param "a" { 1, 2 }', 'param "a" {1,2,}', 'param "a" {\n  1, -- x\n  2, -- y\n}',
      'param "a" { range = {1, 2}; }',
      'param "a" { 1,\r\n\t2\r\n}', 'param "a" { doc = "d", 1, 2, default = 2 --[[ z ]], }', 'param "a" { 1, 2 -- last\n}' } do
      local text = HEAD .. body .. "\n"
      local pinned = assert(apply(text, "pin a 2"))
      equal((apply(pinned, "unpin a")), text)
      local again = assert(apply(pinned, "pin a 1"))
      equal((apply(again, "unpin a")), text)
    end
  end),
  edits("the least and the largest integer", 'param "a" { 1, 2 }\nparam "b" { range = {1, 2} }', {
    "add-value a -9223372036854775808 9223372036854775807",
      'param "a" { 0x8000000000000000, 1, 2, 9223372036854775807 }\nparam "b" { range = {1, 2} }',
    "set-range b -9223372036854775808 -9223372036854775807",
      'param "a" { 1, 2 }\nparam "b" { range = {0x8000000000000000, -9223372036854775807} }',
    "set-range a -9223372036854775808 -9223372036854775808 7",
      'param "a" { range = {0x8000000000000000, 0x8000000000000000, 7} }\nparam "b" { range = {1, 2} }',
    "set-range b 9223372036854775806 9223372036854775807",
      'param "a" { 1, 2 }\nparam "b" { range = {9223372036854775806, 9223372036854775807} }',
  }),
  test("a large list is edited in a moment", function()
    local values = {}
    for i = 1, 4000 do values[i] = tostring(2 * i) end
    local text = HEAD .. 'param "a" { ' .. table.concat(values, ", ") .. " }\n"
    local start = host.now()
    local new = assert(apply(text, "add-value a 31"))
    equal((apply(new, "remove-value a 31")), text)
    assert(apply(text, "set-domain a 8"))
    assert(host.now() - start < 10, "took " .. host.now() - start .. " s")
  end),
  test("edits of many values, of many seeds, of statements in blocks take seconds", function()
    local numbers, seeds, values, long = {}, {}, {}, {}
    for i = 1, 40000 do numbers[i] = tostring(i) end
    for i = 1, 10000 do values[i], long[i] = 2 * i, 100000 + i end
    for i = 1, 800 do seeds[i] = "seed { a = " .. i .. " }" end
    local lets = table.concat(seeds, "\n"):gsub("seed { a = (%d+) }", 'let "x%1" "a"')
    local ballast = "local t = { " .. table.concat(numbers, ", ") .. " }\n"
    local text = HEAD .. 'param "a" { range = {1, 800} }\n' .. ballast
    local start = host.cpu()
    local function op(kind, list)
      return assert(edit.apply(text, path, { kind = kind, param = "a", values = list }))
    end
    text = op("set-domain", values)
    text = op("add-value", long)
    op("remove-value", long)
    text = HEAD .. 'param "a" { range = {1, 800} }\n' .. ballast .. table.concat(seeds, "\n") .. "\n"
    op("set-range", { 1000, 1001 })
    text = HEAD .. ballast .. 'do\nparam "a" { 1, 2 }\n' .. lets .. "\nend\n"
    assert(apply(text, "add-rule must r a>0 why"))
    assert(host.cpu() - start < 15, "took " .. host.cpu() - start .. " s")
  end),
}
