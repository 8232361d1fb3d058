-- template_test.lua -- templates as emit.lua runs them: includes, what their Lua may call, #line, the
-- parameters that nothing reads.

local emit = require "emit"
local fail = require "fail"
local lines = require "lines"
local reads = require "reads"
local sh = require "tests_sh"
local space = require "space"

local dir = sh.tmpdir "template"

local LAUNCH = '//@ launch { args = {"A"}, grid = "tiles", tile = {64, 64}, block = 128, smem = 0 }\n'

-- Writes files {name = text} under a prefix that no other test uses (templates stay loaded), `&` in a
-- text being that prefix; returns the prefix.
local serial = 0
local function put(files)
  serial = serial + 1
  local prefix = "t" .. serial
  for name, text in pairs(files) do
    assert(host.write(dir .. "/" .. prefix .. name, (text:gsub("&", prefix))) ~= nil)
  end
  return prefix
end

local function item(template, more)
  local full = { tile_m = 64, n = 3, layout = "tn", dtype = "f16", acc = "f32" }
  for k, v in pairs(more or {}) do full[k] = v end
  return { b = { space = { name = "toy", template = template, doc = "a toy", arch = "sm_80" } }, full = full,
           key = "toy:n=3" }
end

local function render_item(it, opt)
  emit.dir = dir
  local ok, r = pcall(emit.render, it, opt)
  emit.dir = nil
  if not ok then error(r, 0) end
  return r
end

-- The body of the kernel that the file a.cu of `files` gives, the kernel, the prefix.
local function render(files, opt)
  local prefix = put(files)
  local r = render_item(item(prefix .. "a.cu"), opt)
  return r.text:match("^.-\n\n(.*)$"), r, prefix
end

local function same(got, want)
  if got ~= want then error(("got:\n%s\nwant:\n%s"):format(got, want), 2) end
end

-- The files are refused with `want`, where & is their prefix.
local function refused(files, want, unkeyed)
  local prefix = put(files)
  local ok, err = pcall(render_item, item(prefix .. "a.cu"))
  assert(not ok, "it is not refused")
  same(fail.text(err) or error("an internal fault: " .. tostring(err)), (want:gsub("&", prefix)) .. (unkeyed and "" or " (KEY='toy:n=3')"))
end

-- ------------------------------------------------------------------------------- includes

local function includes()
  local body = render { ["a.cu"] = LAUNCH .. '//@ include "&b.cu"\na\n//@ include("&b.cu")\n', ["b.cu"] = 'b $n\n//@ include "&c.cu"\n',
                        ["c.cu"] = "\xef\xbb\xbfc\r\n" }
  same(body, "b 3\nc\na\nb 3\nc\n")
end

local function include_cycles()
  refused({ ["a.cu"] = LAUNCH .. 'x\n//@ include "&a.cu"\n' },
          "templates/&a.cu:3: a file includes itself: &a.cu -> &a.cu")
  refused({ ["a.cu"] = '//@ include "&b.cu"\n', ["b.cu"] = 'x\n//@ include "&c.cu"\n', ["c.cu"] = '\n\n//@ include "&b.cu"\n' },
          "templates/&c.cu:3: a file includes itself: &b.cu -> &c.cu -> &b.cu (called from templates/&b.cu:2)")
end

local function include_depth()
  local function chain(n)
    local files = { ["a.cu"] = LAUNCH .. '//@ include "&1.cu"\n' }
    for i = 1, n do files[i .. ".cu"] = i < n and '//@ include "&' .. i + 1 .. '.cu"\n' or "end\n" end
    return files
  end
  same(render(chain(16)), "end\n")
  refused(chain(17), "templates/&16.cu:1: more than 16 includes inside each other (called from templates/&15.cu:1)")
end

local function include_names()
  for _, name in ipairs { "'../spaces/simt.lua'", "'/etc/passwd'", "'a/../../b'", "7", "{}", "nil", "''", "'.x'" } do
    refused({ ["a.cu"] = "x\n//@ include(" .. name .. ")\n" }, "templates/&a.cu:2: include wants the name of a file in templates/")
  end
  refused({ ["a.cu"] = '\n//@ include "&no.cu"\n' },
          "templates/&a.cu:2: cannot open 'templates/&no.cu': No such file or directory", true)
  refused({ ["a.cu"] = '\n//@ include "&b.cu"\n', ["b.cu"] = "x\n$\n" },
          "templates/&b.cu:2: stray '$': a name or '(' must follow, and '$$' is a dollar")
end

-- ------------------------------------------------------------------------------- what the Lua may call

-- What differs from run to run cannot be called, nor what would change other templates.
local function library()
  for code, want in pairs {
    ["local x = math.random(3)"] = "attempt to call a nil value (field 'random')",
    ["local x = tostring({})"] = "a table has no text",
    ["local x = tostring(print)"] = "unknown name 'print'",
    ["local x = tostring(select)"] = "a function has no text",
    ["local x = string.format('%s', {})"] = "a table has no text",
    ["local x = ('%s'):format(ipairs)"] = "a function has no text",
    ["local x = ('%-20p'):format('x')"] = "'%p' prints an address",
    ["local x = string.dump(launch)"] = "attempt to call a nil value (field 'dump')",
    ["string.format = nil"] = "'string' is not to be changed",
    ["math.pi = 3"] = "'math' is not to be changed",
    ["n = 4"] = "cannot set 'n': write 'local n'",
    ["error({})"] = "error wants a text",
    ["error(nil)"] = "error wants a text",
    ["error('no')"] = "no",
    ["error('no', 0)"] = "no",
    ["assert(false)"] = "assertion failed",
    ["assert(nil, 'no')"] = "no",
    ["assert(false, {})"] = "assertion failed",
    ["pcall(error)"] = "unknown name 'pcall'",
    ["local x = pairs({})"] = "unknown name 'pairs'",
  } do
    refused({ ["a.cu"] = "x\n//@ " .. code .. "\n" }, "templates/&a.cu:2: " .. want)
  end
  same(render { ["a.cu"] = LAUNCH .. "$(string.format('%5d|%%p|%s', n, 'x')) $(('%x'):format(255)) $(tostring(n)) $(math.max(n, 7))\n" },
       "    3|%p|x ff 3 7\n")
  same(("%p"):format({}):sub(1, 2), "0x") -- the rest of the program has its own methods again
  refused({ ["a.cu"] = "//@ local function f() error('f is wrong', 2) end\nx\n//@ f()\n" }, "templates/&a.cu:3: f is wrong")
end

local function long_name()
  local name = ("x"):rep(80) .. ".cu"
  assert(host.write(dir .. "/" .. name, "a\n$q\n"))
  local ok, err = pcall(render_item, item(name))
  assert(not ok and fail.text(err) and fail.text(err):find("^%.%.%.x+%.cu:2: unknown name 'q' %(KEY="), tostring(err))
end

local function head_lines()
  local prefix = put { ["a.cu"] = LAUNCH }
  local it = item(prefix .. "a.cu")
  it.b.space.doc = "one\n#error two\r\27[1m"
  same(render_item(it).text:match("^[^\n]*\n[^\n]*"), "// toy: one #error two [1m\n// key   toy:n=3")
end

-- ------------------------------------------------------------------------------- #line

local SOURCE = { ["a.cu"] = LAUNCH .. [[
#include "loom.cuh"
//@ for i = 1, 2 do
int a$i;
int b$i;
//@ end
//@ include "&b.cu"
int c;
]], ["b.cu"] = "//@ local x = 1\nint d$x;\n" }

local function line_directives()
  local plain, kernel, prefix = render(SOURCE)
  same(plain, '#include "loom.cuh"\nint a1;\nint b1;\nint a2;\nint b2;\nint d1;\nint c;\n')
  local lined, other = render_item(item(prefix .. "a.cu"), { lines = true }).text, kernel.text
  local a, b = '"templates/' .. prefix .. 'a.cu"\n', '"templates/' .. prefix .. 'b.cu"\n'
  same(lined:match("^.-\n\n(.*)$"), "#line 2 " .. a .. '#include "loom.cuh"\n#line 4 ' .. a .. "int a1;\nint b1;\n#line 4 " .. a
       .. "int a2;\nint b2;\n#line 2 " .. b .. "int d1;\n#line 8 " .. a .. "int c;\n")
  same(lined:gsub("#line[^\n]*\n", ""), other)
  same(lined:match("^.-\n\n"), other:match("^.-\n\n"))
end

-- Each place against the text of the template's line.
local function places()
  local _, kernel, prefix = render(SOURCE)
  local want = { [6] = "a.cu:2", [7] = "a.cu:4", [8] = "a.cu:5", [9] = "a.cu:4", [10] = "a.cu:5", [11] = "b.cu:2", [12] = "a.cu:8" }
  emit.dir = dir
  for i = 1, 14 do same(tostring(kernel.place(i)), want[i] and "templates/" .. prefix .. want[i] or "nil") end
  emit.dir = nil
end

-- The preprocessor counts lines as we do: it says of every line where it comes from. A directive stands in
-- no comment, raw string or joined line.
local function line_state()
  local text = table.concat({
    "int a; /* a comment", "goes on // here", "ends */ int b;", "const char *s = R\"x(raw", "/* )\" still raw", ")x\"; int c;",
    "#define F(x) \\", "  x + \\", "  1", "int d = 1'000'0; char q = '\"', r = '\\''; // it's", "int e; // joined \\", "still a comment",
    "int g = 1'000; /* a number",
    "and a comment */", "const char *t = \"/*\", *u = \"\\\"//\\\\\";", "const char *v = u8R\"(a", ")\";", "int f;", "" }, "\n")
  local map, i = {}, 0
  for _ in text:gmatch("\n") do
    i = i + 1
    map[i] = 100 * i -- every line comes from elsewhere
  end
  local out = lines.directives(text, map, nil, "t.cu")
  local placed = {}
  for number, behind in out:gmatch('#line (%d+) "t.cu"\n([^\n]*)') do placed[#placed + 1] = number // 100 .. " " .. behind:sub(1, 5) end
  same(table.concat(placed, "|"), "1 int a|4 const|7 #defi|10 int d|11 int e|13 int g|15 const|16 const|18 int f")
  same(out:gsub("#line[^\n]*\n", ""), text)
  assert(host.write(dir .. "/state.cpp", out))
  local run = sh.run { "g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-Wno-comment", dir .. "/state.cpp" }
  assert(run.code == 0, run.output)
  assert(host.write(dir .. "/state.cpp", (out:gsub("int f;", "int f = undefined;"))))
  run = sh.run { "g++", "-std=c++17", "-fsyntax-only", dir .. "/state.cpp" }
  assert(run.output:find("t.cu:1800:", 1, true), run.output)
end

local function unplaced_first()
  same(lines.directives("/* a\nb */ c\nd\n", { 5, 6, 9 }, nil, "t"), '#line 5 "t"\n/* a\nb */ c\n#line 9 "t"\nd\n')
  same(lines.directives("", {}, nil, "t"), "")
end

-- ------------------------------------------------------------------------------- what is read

-- The notes on a space whose template is the file a.cu of `files`; `spec` are its statements.
local function notes(spec, files)
  local prefix = put(files)
  local sp = space.load_text(dir .. "/mine.lua", 'space "mine" { format = 1, arch = "sm_80", template = "' .. prefix .. 'a.cu" }\n'
    .. 'given { "M", "N", "K", "layout", "dtype", "acc" }\n' .. spec)
  local list = reads.unread(sp, function(name)
    return host.template("templates/" .. name, assert(host.read(dir .. "/" .. name)))
  end)
  return (table.concat(list, "\n"):gsub("[^\n]-mine%.lua:", "mine.lua:"))
end

local SPEC = [[
param "x" { 1, 2 }
param "y" { 1, 2 }
param "w" { {1, 2}, {2, 2}, as = {"wm", "wn"} }
let "both" "x * y"
let "far"  "both + 1"
must "r" { "wm + wn + x + y > 0", why = "{wm}" }
]]

local GONE = "the template does not read it: its values give the same kernel"

local function unread()
  same(notes(SPEC, { ["a.cu"] = "$x $y $wm $wn" }), "")
  same(notes(SPEC, { ["a.cu"] = "x $y wm wn $$x" }), "mine.lua:3: param 'x': " .. GONE .. "\nmine.lua:5: param 'w': " .. GONE)
  same(notes(SPEC, { ["a.cu"] = "$far $wm" }), "mine.lua:5: param 'w': the template does not read 'wn'")
  same(notes(SPEC, { ["a.cu"] = "//@ if false then\n$(1 + both)\n//@ end\n//@ local q = {wm, k = wn}" }), "")
  same(notes(SPEC, { ["a.cu"] = "//@ launch { x = both, wm = 1, tile = { wn, wm = 2 } } -- wm\n//@ local s = 'wm' .. string.wm\n$s" }),
       "mine.lua:5: param 'w': the template does not read 'wm'")
  same(notes(SPEC, { ["a.cu"] = "//@ include '&b.cu'\n$wn", ["b.cu"] = "//@ include('&c.cu')\n$both", ["c.cu"] = "$wm" }), "")
  -- what cannot be known is not noted
  same(notes(SPEC, { ["a.cu"] = "//@ include('&b' .. '.cu')" }), "")
  same(notes(SPEC, { ["a.cu"] = "$(_ENV['x'])" }), "")
  same(notes(SPEC, { ["a.cu"] = "//@ include '&gone.cu'" }), "")
end

-- gen says it once, however many problems there are; the shipped spaces have none.
local function said_once()
  local copy = sh.tmpdir "unread"
  for _, part in ipairs { "lua", "spaces", "templates" } do
    assert(sh.run({ "cp", "-r", host.root .. "/" .. part, copy .. "/" }).code == 0)
  end
  assert(host.write(copy .. "/spaces/mine.lua", 'space "mine" { format = 1, base = "simt" }\n\nparam "idle" { 1, 2 }\n'))
  local function gen(name)
    return sh.run({ sh.loom, "gen", "SHAPE=128x128x128", "SPACE=" .. name, "N=4", "NVCC=none", "OUT=" .. copy .. "/out" }, { cwd = copy })
  end
  local run = gen "mine"
  local note = "note: spaces/mine.lua:3: param 'idle': " .. GONE .. "\n"
  local at = run.output:find(note, 1, true)
  assert(run.code == 0 and at and not run.output:find(note, at + 1, true), run.output)
  run = gen "hopper,mma,simt"
  assert(run.code == 0 and not run.output:find("does not read", 1, true), run.output)
  sh.remove(copy)
end

return {
  { name = "a template includes others, which see its names", run = includes },
  { name = "a file that includes itself is refused at the include, with the chain", run = include_cycles },
  { name = "includes lie 16 deep at most", run = include_depth },
  { name = "an include stays in the folder of the templates", run = include_names },
  { name = "a template's Lua reaches nothing that differs from run to run", run = library },
  { name = "an error in a template with a very long name is one line", run = long_name },
  { name = "a space's doc cannot leave its comment", run = head_lines },
  { name = "with LINES the compiler is told every jump of the template's lines", run = line_directives },
  { name = "each line of a kernel knows its template's line", run = places },
  { name = "#line stands in no comment, raw string or joined line", run = line_state },
  { name = "#line waits for a place where it may stand", run = unplaced_first },
  { name = "a parameter that nothing reads is found", run = unread },
  { name = "gen notes a parameter that nothing reads, once", run = said_once },
}
