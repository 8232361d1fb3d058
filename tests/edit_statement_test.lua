-- Edits of whole statements: seeds, lets, rules, the search. Where new ones go, how they are written,
-- what is refused.

local edit = require "edit"
local kit = require "edit_kit"

local root = host.root .. "/"
local dir, path, HEAD = kit.dir, kit.path, kit.HEAD
local equal, apply, test, edits, refuses = kit.equal, kit.apply, kit.test, kit.edits, kit.refuses

local PARAMS = 'param "a" { 1, 2 }\nparam "w" { {"p", 2}, {"q", 4}, as = {"x", "y"} }\n'

-- Rules, and what stands around them.
local RULE = 'given { "layout" } param "a" { 1, 2 }\n  must "r" { "a < 3", why = "x" } -- here'
local ABOUT = 'param "a" { 1 }\n-- about r\n'
local R, S = 'must "r" { "a < 3",\n  why = "x" }', '  must "s" { "a < 4", why = "x" }'
local T = 'local n = 1 must "t" { "a < 5", why = "x" };(ipairs){}'

-- An edit of `before`, whole files; the new one.
local function becomes(before, words, after)
  local new, changes = apply(before, words)
  assert(new, tostring(changes))
  equal(new, after)
  kit.check_changes(before, new, changes)
end

local UNDER = [[
space "under" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
let "x" "a + 1"
must "small" { "x <= 3", why = "x is {x}" }
prefer "even" { "x % 2 == 0", why = "x is odd" }
]]

local function under(name, body, list)
  return test(name, function()
    assert(host.write(root .. dir .. "/under.lua", UNDER) ~= nil)
    local head = 'space "e" { format = 1, base = "under" }\n'
    for i = 1, #list, 2 do becomes(head .. body, list[i], head .. list[i + 1]) end
  end)
end

local function under_refuses(name, body, list)
  return test(name, function()
    assert(host.write(root .. dir .. "/under.lua", UNDER) ~= nil)
    for i = 1, #list, 2 do
      local new, err = apply('space "e" { format = 1, base = "under" }\n' .. body, list[i])
      assert(not new, list[i] .. " is accepted: " .. tostring(new))
      equal(err, dir .. "/" .. list[i + 1])
    end
  end)
end

return {
  edits("a seed goes behind the last one, written as it is", PARAMS .. "seed { a = 1 }\nseed {w={'p',2},a=2} -- last", {
    "add-seed a=2", PARAMS .. "seed { a = 1 }\nseed {w={'p',2},a=2} -- last\nseed {a=2}",
    "add-seed a=1 w=q,4", PARAMS .. "seed { a = 1 }\nseed {w={'p',2},a=2} -- last\nseed {a=1,w={'q',4}}",
    "add-seed y=4 a=0x1 x=q", PARAMS .. "seed { a = 1 }\nseed {w={'p',2},a=2} -- last\nseed {y=4,a=1,x='q'}",
  }),
  edits("the first seed goes to the end of the file", PARAMS .. 'let "z" "a"\n-- the end', {
    "add-seed a=2 w=p,2", PARAMS .. 'let "z" "a"\n-- the end\nseed { a = 2, w = {"p", 2} }',
  }),
  edits("a seed with something behind it on its line, indented, in a block",
    PARAMS .. "do\n  seed { a = 1 };\nend\n  seed { a = 2 } --[[ long\n comment ]] ; -- x\nlocal n = 1", {
    "add-seed x=p y=2", PARAMS .. "do\n  seed { a = 1 };\nend\n  seed { a = 2 } --[[ long\n comment ]] ; -- x\n"
      .. '  seed { x = "p", y = 2 }\nlocal n = 1',
  }),
  edits("code behind a seed moves to the next line", PARAMS .. "seed { a = 1 } local n = 1", {
    "add-seed a=2", PARAMS .. "seed { a = 1 }\nseed { a = 2 } local n = 1",
  }),
  edits("seeds of a block, of a field and in comments are no place for one",
    PARAMS .. 'for i = 1, 2 do seed { a = i } end\nlocal t = { seed = function() end }\nt.seed { a = 1 } -- seed { a = 7 }', {
    "add-seed a=1 w=p,2", PARAMS .. "for i = 1, 2 do seed { a = i } end\nlocal t = { seed = function() end }\n"
      .. 't.seed { a = 1 } -- seed { a = 7 }\nseed { a = 1, w = {"p", 2} }',
  }),
  edits("the last seed of a block stands behind the last that is in none",
    PARAMS .. "seed { a = 1 }\nlocal t = { seed = function() end } t.seed { a = 1 } seed { a = 2 } do seed { x = 'p', y = 2 } end", {
    "add-seed w=q,4", PARAMS .. "seed { a = 1 }\nlocal t = { seed = function() end } t.seed { a = 1 } seed { a = 2 }\n"
      .. 'seed { w = {"q", 4} } do seed { x = \'p\', y = 2 } end',
  }),
  test("line ends, and a last line without one, stay as they are", function()
    local text = (HEAD .. PARAMS .. "seed { a = 1 }"):gsub("\n", "\r\n")
    becomes(text, "add-seed a=2", text .. "\r\nseed { a = 2 }")
    becomes(text .. "\r\n", "add-seed a=2", text .. "\r\nseed { a = 2 }\r\n")
    becomes(HEAD .. 'param "a" { 1 }', "add-seed a=1", HEAD .. 'param "a" { 1 }\nseed { a = 1 }')
    becomes(HEAD .. 'param "a" { 1 }', 'add-rule must r "a > 0" "none"', HEAD .. 'param "a" { 1 }\nmust "r" { "a > 0", why = "none" }')
    local long = ("w"):rep(100)
    becomes(text, 'add-rule must r "a > 0" "' .. long .. '"',
      (text:gsub("seed", 'must "r" { "a > 0",\r\n  why = "' .. long .. '" }\r\n%0')))
    becomes((text:gsub("\r\n", "\r")), "add-seed a=2", (text:gsub("\r\n", "\r")) .. "\rseed { a = 2 }")
  end),
  refuses("a seed that cannot be", PARAMS .. 'seed { x = "p", y = 2 }\nseed { a = 1 }', {
    "add-seed a=1", "5: seed: asks for the same already",
    "add-seed w=p,2", "4: seed: asks for the same already",
    "add-seed a=3", "1: seed: 'a' has no value 3",
    "add-seed b=3", "1: seed: unknown parameter 'b'",
    "add-seed a=1 a=2", "1: seed: 'a' is given twice",
    "add-seed a=p", "1: seed: 'p' is a string, 'a' holds integers",
    "add-seed a=1,2", "1: seed: value {1, 2} wants one part",
    "add-seed w=1,2", "1: seed: 1 is an integer, 'x' holds strings",
    "add-seed w=p", "1: seed: value 'p' wants 2 parts: {x, y}",
    "add-seed w=p,4", "1: seed: 'w' has no value {'p', 4}",
    "add-seed x=p", "1: seed: 'x', 'y' are tied: give all of them or none",
    "add-seed x=p y=2 w=q,4", "1: seed: 'x', 'y' are tied: give all of them or none",
  }),
  edits("a let takes another expression in its own quotes",
    "given { 'layout' } param 'a' { 1 }\nlet 'x' 'a + 1' -- one\nlet(\"y\")(\"x\")\nlet \"z\" [[a]]", {
    "set-let x a", "given { 'layout' } param 'a' { 1 }\nlet 'x' 'a' -- one\nlet(\"y\")(\"x\")\nlet \"z\" [[a]]",
    [[set-let y "layout == 'nn' and x or a"]],
      "given { 'layout' } param 'a' { 1 }\nlet 'x' 'a + 1' -- one\nlet(\"y\")(\"layout == 'nn' and x or a\")\nlet \"z\" [[a]]",
    [[set-let x "layout == 'nn' and 1 or a"]],
      "given { 'layout' } param 'a' { 1 }\nlet 'x' \"layout == 'nn' and 1 or a\" -- one\nlet(\"y\")(\"x\")\nlet \"z\" [[a]]",
    'set-let z "a*2"', "given { 'layout' } param 'a' { 1 }\nlet 'x' 'a + 1' -- one\nlet(\"y\")(\"x\")\nlet \"z\" \"a*2\"",
  }),
  refuses("a let that cannot be", 'param "a" { 1 }\nlet "x" "a + 1"\nlet("y")("x" .. "")\nlet "z" "y"', {
    'set-let x "a + 1"', "3: let 'x': is 'a + 1' already",
    "set-let xx 1", "1: no let 'xx' (did you mean 'x'?)",
    "set-let a 1", "1: no let 'a'",
    "set-let y a", "4: let 'y': is not written as let \"y\" \"...\": edit the file by hand",
    "set-let x q", "3: let 'x': unknown name 'q'",
    "set-let x z", "3: let 'x': depends on itself: x -> z -> y -> x",
    'set-let x "a +"', "3: let 'x': unexpected end in 'a +' at column 4",
    'set-let x ""', "3: let 'x': the expression is empty",
    'set-let x "a\\n"', "3: let 'x': the expression has a control character",
    'set-let x "a\\255"', "3: let 'x': the expression is not UTF-8",
  }),
  under("an inherited let is replaced, never changed where it stands", 'must "r" { "x > 0", why = "" }\n', {
    "set-let x a*2", 'let "x" "a*2"\nmust "r" { "x > 0", why = "" }\n',
  }),
  edits("a rule goes behind the last", RULE .. "\n\nseed { a = 1 }", {
    'add-rule must s "a < 2" "a is {a}"', RULE .. '\n  must "s" { "a < 2", why = "a is {a}" }\n\nseed { a = 1 }',
    [[add-rule prefer s "layout == 'nn'" "say \"it\\ so\""]],
      RULE .. "\n" .. [[  prefer "s" { "layout == 'nn'", why = 'say "it\\ so"' }]] .. "\n\nseed { a = 1 }",
    [[add-rule prefer s a>1 "both \" and '"]],
      RULE .. "\n" .. [[  prefer "s" { "a>1", why = "both \" and '" }]] .. "\n\nseed { a = 1 }",
  }),
  edits("without a rule behind the last let or parameter, without these behind the head",
    'given { "layout" }\nparam "a" { 1 }\nseed { a = 1 }', {
    "add-rule must s a<2 why", 'given { "layout" }\nparam "a" { 1 }\nmust "s" { "a<2", why = "why" }\nseed { a = 1 }',
  }),
  test("a rule in a file that has nothing else", function()
    local text = 'space "e" { format = 1, doc = "d" } -- line 1\n\n-- the end'
    becomes(text, "add-rule must s 1<2 why", 'space "e" { format = 1, doc = "d" } -- line 1\nmust "s" { "1<2", why = "why" }\n\n-- the end')
  end),
  refuses("a rule that cannot be", 'param "a" { 1 }\nmust "r" { "a < 3", why = "x" }\nforbid { a = 1, why = "y" }', {
    "add-rule must r a<3 x", "3: must 'r': is there already: give another name",
    "add-rule may r a<3 x", "1: a rule is 'must' or 'prefer', not 'may'",
    "add-rule must s q<3 x", "4: must 's': unknown name 'q'",
    "add-rule must s a x", "4: must 's': 'a' is an integer, not a boolean",
    "add-rule must s a<3 x{a", "1: must 's': the reason has a brace without its partner",
    "add-rule must s a<3 {a+}", "1: must 's': unexpected end in 'a+' at column 3",
    'add-rule must "s t" a<3 x', "4: must: 's t' is not a name of letters, digits and '_' or '-'",
    'add-rule must "s\nt" a<3 x', "1: must 's t': the name has a control character",
    'drop-rule "s\r\nt"', "1: no rule 's  t'",
    'add-rule must s a<3 " "', "1: must 's': the reason is empty",
    'add-rule must s "a\\0000" x', "1: must 's': the expression has a control character",
    "drop-rule rr", "1: no rule 'rr' (did you mean 'r'?)",
    "drop-rule a", "1: no rule 'a'",
    "drop-rule forbid-1", "1: 'forbid-1' counts a forbid statement: edit the file by hand",
  }),
  edits("a rule goes with its line, comments stay", ABOUT .. R .. "\n" .. S .. " -- about s\n" .. T, {
    "drop-rule r", ABOUT .. S .. " -- about s\n" .. T,
    "drop-rule s", ABOUT .. R .. "\n  -- about s\n" .. T,
    "drop-rule t", ABOUT .. R .. "\n" .. S .. " -- about s\nlocal n = 1 ;(ipairs){}",
  }),
  edits("a rule of a block, with its semicolon, at the end",
    'param "a" { 1 }\ndo must "r" { "a < 3", why = "x" }; end\nmust("s")({ "a < 4", why = "x" });', {
    "drop-rule r", 'param "a" { 1 }\ndo end\nmust("s")({ "a < 4", why = "x" });',
    "drop-rule s", 'param "a" { 1 }\ndo must "r" { "a < 3", why = "x" }; end',
  }),
  under("an inherited rule is dropped, also where this file replaced it", 'must "small" { "x <= 2", why = "y" } -- mine\n', {
    "drop-rule even", 'must "small" { "x <= 2", why = "y" } -- mine\ndrop "even"\n',
    "drop-rule small", 'drop "small" -- mine\n',
  }),
  under("a drop stands behind the head where nothing else is", "", { "drop-rule small", 'drop "small"\n' }),
  under_refuses("what is inherited and cannot be", 'drop "even"\n', {
    "drop-rule even", "e.lua:2: drop 'even': the rule is dropped already",
    "add-rule must small a<2 x", "under.lua:4: must 'small': is there already: give another name",
    "add-rule must even a<2 x", "e.lua:2: drop 'even': takes the name: give another one",
  }),
  edits("a key of the search changes, joins the others, or begins them", "search { budget = '60s', -- time\n  rng = 0x1 }", {
    "set-search rng 2", "search { budget = '60s', -- time\n  rng = 2 }",
    "set-search budget 2h", "search { budget = \"2h\", -- time\n  rng = 0x1 }",
    "set-search n 8", "search { budget = '60s', -- time\n  rng = 0x1, n = 8 }",
    "set-search mutator llm", "search { budget = '60s', -- time\n  rng = 0x1, mutator = 'llm' }",
    "set-search budget 30", "search { budget = \"30\", -- time\n  rng = 0x1 }",
  }),
  edits("the search is the last statement", 'param "a" { 1 }', {
    "set-search budget 30m", 'param "a" { 1 }\nsearch { budget = "30m" }',
  }),
  refuses("a search that cannot be", 'search { rng = 1, budget = "60s" }', {
    "set-search rng 1", "2: search: 'rng' has the value 1 already",
    "set-search budget 1m", "2: search: 'budget' has the value 1m already",
    "set-search rn 1", "2: search: unknown key 'rn' (did you mean 'rng'?)",
    "set-search rng x", "2: search: 'rng' wants an integer, not 'x'",
    "set-search rng -1", "2: search: rng -1 is not a number from 0 to 2147483647",
    "set-search budget soon", "2: search: budget 'soon' is not a time like 60s, 30m or 2h",
    "set-search strategy anneal", "2: search: strategy 'anneal' is none of evolve",
    'set-search mutator "a\\nb"', "2: search: 'mutator' has a control character",
  }),
  test("ops that no words make are refused too", function()
    local text = HEAD .. PARAMS .. 'let "z" "a"\nmust "r" { "a < 3", why = "x" }\nsearch { n = 4 }\n'
    local function refused(op, message)
      local new, err = edit.apply(text, path, op)
      assert(not new)
      equal(err, dir .. "/e.lua:" .. message)
    end
    refused({ kind = "add-seed" }, "1: seed: no value is given")
    refused({ kind = "add-seed", fields = { {} } }, "1: seed: unknown parameter 'nil'")
    refused({ kind = "add-seed", fields = { { name = "a" } } }, "1: seed: value {} wants one part")
    refused({ kind = "add-seed", fields = { { name = "a", value = 1.0 } } }, "1: seed: a value is a float; values are integers or strings")
    refused({ kind = "set-let" }, "1: no let 'nil'")
    refused({ kind = "set-let", name = "z", expr = 1 }, "4: let 'z': the expression is a number, not a text")
    refused({ kind = "add-rule" }, "1: a rule is 'must' or 'prefer', not 'nil'")
    refused({ kind = "add-rule", rule = "must", name = "q", expr = "a < 3" }, "1: must 'q': the reason is a nil, not a text")
    refused({ kind = "drop-rule" }, "1: no rule 'nil'")
    refused({ kind = "set-search", key = "n" }, "6: search: 'n' wants an integer, not nil")
    refused({ kind = "set-search", key = "budget", value = 60 }, "6: search: 'budget' wants a string, not 60")
  end),
  test("words and ops are two forms of one thing", function()
    for _, words in ipairs { "unpin a", "set-range a 1 9 2", "add-seed a=1 w=p,2 q=\"12\"", 'set-let x "a + 1"',
      [[add-rule must r.1 "layout == 'nn'" "say \"no\"\\\n\t\001"]], "drop-rule r-1", "set-search budget 60s",
      'set-search "a b" "c d"', [[pin a 1 EXPECT="param \"a\" {\r\n  1, 2 }"]] } do
      equal(edit.format(assert(edit.parse(words))), words)
    end
    local op = edit.parse { "add-rule", "EXPECT=must", "must", "r", 'say "x"', 'why "not"' }
    equal(op.expr .. op.why .. op.expect, 'say "x"why "not"must')
    equal(edit.format(op), [[add-rule must r "say \"x\"" "why \"not\"" EXPECT="must"]])
    equal(edit.parse("set-let  x   a").expr, "a")
    local function refused(words, message)
      local got, err = edit.parse(words)
      assert(got == nil)
      equal(err, message)
    end
    refused("add-seed a", "'a' is not of the form NAME=VALUE")
    refused("add-seed a=1,", "value '1,' has an empty part")
    refused('set-let x "a', 'no quote closes "a')
    refused('set-let x "a\\"', 'no quote closes "a\\"')
    refused("set-let x a + 1", "edit 'set-let' wants NAME EXPR")
    refused("pin a 1 EXPECT=a EXPECT=b", "EXPECT= is given twice")
    refused("EXPECT=a", "an edit wants OP and what it takes")
  end),
}
