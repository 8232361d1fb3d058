-- odd_text_test.lua -- what becomes of odd text in a template: a test for each row of the table in
-- templates/README.md, by its first cell, and no row without a test.

local function same(got, want)
  if got ~= want then error(("got:\n%q\nwant:\n%q"):format(got, want), 3) end
end

local ENV = setmetatable({ n = 3, minus = -1, name = "abc", n1 = 41, list = {} },
                         { __index = function(_, k) error("unknown name '" .. k .. "'") end })

local function render(text, env)
  return host.template("t.cu", text):render(env or ENV)
end

-- Pairs of template and output.
local function gives(pairs_)
  return function()
    for i = 1, #pairs_, 2 do same((render(pairs_[i])), pairs_[i + 1]) end
  end
end

-- Pairs of template and the refusal.
local function refused(pairs_)
  return function()
    for i = 1, #pairs_, 2 do
      local ok, why = pcall(render, pairs_[i])
      assert(not ok, ("%q was not refused"):format(pairs_[i]))
      same(tostring(why), "t.cu:" .. pairs_[i + 1])
    end
  end
end

local function both(a, b)
  return function() a() b() end
end

local STRAY = "stray '$': a name or '(' must follow, and '$$' is a dollar"

local ROWS = {
  { "CR LF", both(gives { "a\r\n$n\r\n//@ local x = 1\r\n$x\r\n", "a\n3\n1\n", "a\\\r\nb\r\n\r\n", "a\\\nb\n\n" },
    refused { "a\r\nb\rc\n", "2: a carriage return that ends no line",
              "a\r", "1: a carriage return that ends no line",
              "//@ local s = 'a\rb'\n", "1: a carriage return that ends no line" }) },
  { "tabs", gives { "\ta\t$n\t\n", "\ta\t3\t\n", "\t//@\tlocal\tx = 2\n$x\n", "2\n", "$(\tn\t)\n", "3\n" } },
  { "trailing blanks", gives { "a  \t\n$n \n", "a  \t\n3 \n", "//@ local x = 4   \t\n$x\n", "4\n", "   ", "   \n" } },
  { "UTF-8, or any other byte but zero", both(
    gives { "// \xc3\xa9 \xe2\x82\xac $n \xf0\x9f\xa7\xb5\n", "// \xc3\xa9 \xe2\x82\xac 3 \xf0\x9f\xa7\xb5\n",
            "$n\xc3\xa9\n", "3\xc3\xa9\n", "\xff\xfe\x80$n\x01\x1b\x7f\v\f\n", "\xff\xfe\x803\x01\x1b\x7f\v\f\n",
            "//@ local s = '\xc3\xa9' -- \xc3\xa9\n$s\n", "\xc3\xa9\n", "$('\xc3\xa9')\n", "\xc3\xa9\n",
            "a\xe2\x80\xa8b\xc2\x85$n\n", "a\xe2\x80\xa8b\xc2\x853\n" },
    refused { "a\nb\0\n", "2: a zero byte", "//@ local s = 'a\0'\n", "1: a zero byte" }) },
  { "a byte order mark", gives { "\xef\xbb\xbf//@ local x = 1\n$x", "1\n", "\xef\xbb\xbf", "",
                                 "a\xef\xbb\xbf$n\n\xef\xbb\xbfb", "a\xef\xbb\xbf3\n\xef\xbb\xbfb\n",
                                 "\xef\xbb\xbf\xef\xbb\xbfa", "\xef\xbb\xbfa\n" } },
  { "no line feed at the end", gives { "a", "a\n", "$n", "3\n", "//@ local x = 1", "", "a\n\n", "a\n\n", "", "" } },
  { "`$` in a string or comment", both(
    gives { 's = "$n"; c = \'$(n)\'; // $n $(n) $$n\n/* $n */ "\\$$"\n',
            's = "3"; c = \'3\'; // 3 3 $n\n/* 3 */ "\\$"\n' },
    refused { '// costs 5$\n', "1: " .. STRAY, 'x\n"$"\n', "2: " .. STRAY, "/* $q */\n", "1: unknown name 'q'" }) },
  { "`$$name`", gives { "$$name\n", "$name\n", "$$$name\n", "$abc\n", "$$$$n $$(n)\n", "$$n $(n)\n" } },
  { "`$name` before letters, digits, `_`", both(
    gives { "$n1\n", "41\n", "$(n)1 $(n)x\n", "31 3x\n", "x$n y$n.z $n-1 $n[0] $n::t\n", "x3 y3.z 3-1 3[0] 3::t\n",
            "1$n\n", "13\n" },
    refused { "$n2\n", "1: unknown name 'n2'", "a\n$n_\n", "2: unknown name 'n_'", "$nx\n", "1: unknown name 'nx'" }) },
  { "`$` before anything else", refused { "a $\n", "1: " .. STRAY, "a\n$1\n", "2: " .. STRAY, "$\xc3\xa9\n", "1: " .. STRAY,
                                          "$ n\n", "1: " .. STRAY, "${n}\n", "1: " .. STRAY, "$[n]\n", "1: " .. STRAY,
                                          "$\r\n", "1: " .. STRAY, "$", "1: " .. STRAY } },
  { "`-$n` where n is -1", gives { "-$minus\n", "--1\n", "-($minus)\n", "-(-1)\n" } },
  { "a value with `$` or `//@` in it", function()
    same((render("a$v\n$(v)b\n", { v = "$n //@ x $$" })), "a$n //@ x $$\n$n //@ x $$b\n")
    same((render("$v\n", { v = "//@ error()" })), "//@ error()\n")
  end },
  { "a value with line feeds", function()
    local text, map = render("a\n$v$n\nb\n", { v = "x\ny\n", n = 3 })
    same(text, "a\nx\ny\n3\nb\n")
    same(table.concat(map, " "), "1 2 2 2 3")
  end },
  { "`//` in `$(...)`", both(
    gives { "$('a//b') $(\"//\")\n", "a//b //\n", "//@ local h = n // 2\n$h\n", "1\n" },
    refused { "a\n$(n // 2)\n", "2: '//' in '$(n // 2)' starts a comment: divide in a directive",
              "$((n//2)+1)\n", "1: '//' in '$((n//2)+1)' starts a comment: divide in a directive" }) },
  { "`--` in `$(...)`", both(gives { "$(n - -1) $('--')\n", "4 --\n" },
    refused { "$(n --1)\n", "1: '--' in '$(n --1)' starts a comment: write '- -'" }) },
  { "`$(` without its `)` on the line", refused { "a\n$(n +\n1)\n", "2: '$(n +' is not closed on its line",
                                                  "$((n)\n", "1: '$((n)' is not closed on its line",
                                                  "$(')\n", "1: '$(')' is not closed on its line",
                                                  "$()\n", "1: '$()' is empty" } },
  { "`//@` at the beginning of a line, behind blanks", gives {
    "/* a\n//@ local x = 1\n$x */\n", "/* a\n1 */\n", 's = R"(\n \t //@ local x = 2\n$x)";\n', 's = R"(\n2)";\n',
    "\"a\\\n//@ local x = 5\n$x\"\n", "\"a\\\n5\"\n" } },
  { "`//@` behind anything else", gives { 'x = "//@ y"; //@ z\n', 'x = "//@ y"; //@ z\n', "/* //@ if */\n", "/* //@ if */\n",
                                          "// //@ $n\n", "// //@ 3\n", "; //@ end\n", "; //@ end\n",
                                          "/ /@ x\n// @ y\n", "/ /@ x\n// @ y\n" } },
  { "`//@` without a blank behind it", both(gives { "//@\n//@\t\n", "" },
    refused { "a\n//@x = 1\n", "2: '//@' wants a space after it", "//@@\n", "1: '//@' wants a space after it",
              "//@//\n", "1: '//@' wants a space after it" }) },
  { "a directive", gives { "a\n//@ -- $n // nothing '\nb\n", "a\nb\n", "  //@ if n == 3 then -- yes\nc\n//@ end -- \"\n", "c\n" } },
  { "a long string or comment in a directive", both(
    gives { "//@ local s = [[a]] --[==[ c ]] ]==]\n$s\n", "a\n" },
    refused { "//@ local s = [[a\n//@ b]]\n", "1: a long string or comment must end on its own line",
              "a\n//@ --[[ x\n", "2: a long string or comment must end on its own line" }) },
  { "`$` in a directive", refused { "//@ local x = $n\n", "1: unexpected symbol near '$'" } },
  { "backslash at a line's end", both(
    gives { "#define A \\\n  $n \\\n  4\n", "#define A \\\n  3 \\\n  4\n", "// a \\\n//@ local x = 1\n$x\n", "// a \\\n1\n",
            "a\\", "a\\\n", "//@ local x = 7 -- \\\n$x\n", "7\n" },
    refused { "//@ local x = 1 \\\n$x\n", "1: unexpected symbol near '\\'" }) },
  { "a raw string", gives { 'R"x(\\n " $n $$ )" )x"\n', 'R"x(\\n " 3 $ )" )x"\n', 'R"(\n$n\n)"\n', 'R"(\n3\n)"\n' } },
  { "`#line`, `#include`, `#define`",
    gives { '#line 7 "x"\n#include "a.h"\n#define X $n\n', '#line 7 "x"\n#include "a.h"\n#define X 3\n' } },
}

local tests = {}
for _, row in ipairs(ROWS) do
  tests[#tests + 1] = { name = "odd text in a template: " .. row[1], run = row[2] }
end

tests[#tests + 1] = { name = "the table of odd text has these rows and no others", run = function()
  local page = assert(host.read(host.root .. "/templates/README.md"))
  local listed, tested = {}, {}
  local rows = page:match("\n| text | becomes |\n|%-%-%-|%-%-%-|\n(.-)\n\n")
  for cell in (rows .. "\n"):gmatch("| (.-) | [^\n]*|\n") do listed[#listed + 1] = cell end
  for i, row in ipairs(ROWS) do tested[i] = row[1] end
  same(table.concat(listed, "\n"), table.concat(tested, "\n"))
end }

return tests
