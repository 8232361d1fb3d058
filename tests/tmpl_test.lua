-- Tests of the template engine: golden files tests/tmpl/NN-name.cu + .out, templates that must
-- be refused with an exact message tests/tmpl/fail/NN-name.cu + .err, and what files cannot say.
-- LOOM_BLESS=1 rewrites .out and .err; review the difference.  LOOM_BENCH=1 prints the speed.
local dir = host.root .. "/tests/tmpl/"
local bless = host.getenv "LOOM_BLESS"
local tests = {}

local function test(name, run) tests[#tests + 1] = { name = name, run = run } end

local function same(got, want)
  if got ~= want then error(("got:\n%s\nwant:\n%s"):format(got, want), 2) end
end

local INNER = {
  inner = "// inner $n\n//@ for i = 1, 2 do\n  inner line $i\n//@ end\n",
  bad = "a\n$x\n",
  broken = "a\n$",
}

-- The environment of all golden templates: unknown names are errors, as in lua/emit.lua.
local function environment()
  local env = {
    tile_m = 128, tile_n = 64, n = 3, name = "loom_kernel", flag = true, list = {},
    math = math, string = string, table = table, ipairs = ipairs, assert = assert, error = error,
  }
  function env.include(name, inner)
    host.template(name .. ".cu", INNER[name]):run(inner)
  end
  return setmetatable(env, { __index = function(_, k) error("unknown name '" .. k .. "'") end })
end

local function compare(path, got)
  if bless then host.write(path, got) end
  same(got, assert(host.read(path)))
end

local function fails(name, text, env)
  local ok, why = pcall(function() return host.template(name, text):render(env or environment()) end)
  assert(not ok, "was not refused")
  return why
end

for _, file in ipairs(assert(host.list(dir))) do
  local stem = file:match "^(%d.*)%.cu$"
  if stem then
    test("template " .. stem .. " renders as before", function()
      local t = host.template(file, assert(host.read(dir .. file)))
      local text, map, files = t:render(environment())
      local rows, i = {}, 0
      for line in text:gmatch "(.-)\n" do         -- each line with the template's line before it
        i = i + 1
        rows[i] = ("%s%d\t%s\n"):format(files and files[i] .. ":" or "", map[i], line)
      end
      assert(#map == i, "the map has a line for each line")
      compare(dir .. stem .. ".out", table.concat(rows))
    end)
  end
end

for _, file in ipairs(assert(host.list(dir .. "fail"))) do
  local stem = file:match "^(.*)%.cu$"
  if stem then
    test("template " .. stem .. " is refused", function()
      local why = fails("fail.cu", assert(host.read(dir .. "fail/" .. file)))
      compare(dir .. "fail/" .. stem .. ".err", tostring(why) .. "\n")
    end)
  end
end

test("CR LF, a byte order mark and a missing last line end change nothing", function()
  local text = "//@ for i = 1, 2 do\n  x$i = $(i) \\\n//@ end\nplain\n\nlast"
  local want, map = host.template("a", text):render {}
  same(want, "  x1 = 1 \\\n  x2 = 2 \\\nplain\n\nlast\n")
  local got, map2 = host.template("a", "\xef\xbb\xbf" .. text:gsub("\n", "\r\n")):render {}
  same(got, want)
  same(table.concat(map, " "), "2 2 4 5 6")
  same(table.concat(map2, " "), "2 2 4 5 6")
  same(host.template("a", ""):render {}, "")
  same(host.template("a", "\n"):render {}, "\n")
  same(host.template("a", "//@ x = 1"):render {}, "")
  same(host.template("a", "x$$"):render {}, "x$\n")
  same(fails("a.cu", "x\r\n\r\n$q\r\n"), "a.cu:3: unknown name 'q'")
  same(fails("a.cu", "x\n//@ y\rz = 1\n"), "a.cu:2: a carriage return that ends no line")
  same(fails("a.cu", "x\n\n\0\n"), "a.cu:3: a zero byte")
end)

test("very long lines, many values and deep parentheses", function()
  local parts, want = {}, {}
  for i = 1, 1000 do parts[i], want[i] = "$(" .. i .. "+n)", i + 3 .. "" end
  local line = table.concat(parts, ",")
  same(host.template("a", line .. "\n" .. line):render { n = 3 },
       (table.concat(want, ",") .. "\n"):rep(2))
  local deep = ("("):rep(100) .. "n" .. (")"):rep(100)
  same(host.template("a", "$(" .. deep .. ")"):render { n = 3 }, "3\n")
  same(fails("a", "\n$" .. ("("):rep(1000000) .. (")"):rep(1000000)), "a:2: too deeply nested")
  same(host.template("a", "$(0" .. ("+(1)"):rep(20000) .. ")"):render {}, "20000\n")
  same(#host.template("a", ("x"):rep(1000000)):render {}, 1000001)
end)

test("a long template name keeps its end, where the file stands", function()
  local why = fails(("d/"):rep(50) .. "x.cu", "\n$q\n")
  assert(#why < 100 and why:find "^%.%.%..*/d/x%.cu:2: unknown name 'q'$", why)
end)

test("render is the same again and again, also after an error and inside another render", function()
  local t = host.template("t.cu", "a$n\n$(f())b$n\n")
  local function inner() return (t:render { n = 2, f = function() return "" end }) end
  for _ = 1, 3 do
    same(t:render { n = 1, f = inner }, "a1\na2\nb2\nb1\n")
    same(select(2, pcall(t.render, t, { n = 1 })),
         "t.cu:2: attempt to call a nil value (global 'f')")
    same(select(2, pcall(t.render, t, { n = 1, f = function() return #inner() // 0 end })):sub(1, 7), "t.cu:2:")
  end
  local ok, why = pcall(t.run, t, {})
  assert(not ok and why:find "run outside of a render", why)
end)

test("a macro that outlives its render writes nothing", function()
  local env = {}
  host.template("t.cu", "//@ function f()\nx\n//@ end\n"):render(env)
  local ok, why = pcall(env.f)
  assert(not ok and why:find "t.cu:2: text outside of a render", why)
  same(host.template("u.cu", "//@ f()\nb\n"):render(env), "x\nb\n")
end)

test("a template may include itself, each run with its own environment", function()
  local t
  local function env(n) return { n = n, include = function(m) t:run(env(m)) end } end
  t = host.template("t.cu", "<$n\n//@ if n > 0 then include(n - 1) end\n$n>\n")
  same(t:render(env(2)), "<2\n<1\n<0\n0>\n1>\n2>\n")
  local endless = { include = function() end }
  endless.include = function() t:run { n = 1, include = endless.include } end
  local ok, why = pcall(t.render, t, { n = 1, include = endless.include })
  assert(not ok and why:find "stack overflow", why)
end)

test("errors of helpers keep their own place behind the template's", function()
  local function helper(x) return x.y end
  local why = fails("t.cu", "\n$(helper())", { helper = helper })
  assert(why:find "^t%.cu:2: .*tmpl_test%.lua:%d+: attempt to index a nil value", why)
  why = fails("t.cu", "\n//@ helper()", { helper = function() error({ user = "no" }, 0) end })
  same(why.user, "t.cu:2: no")
  why = fails("t.cu", "\n//@ helper()", { helper = function() error({ user = "x.lua:3: no" }, 0) end })
  same(why.user, "x.lua:3: no")
  why = fails("t.cu", "\n//@ helper()", { helper = function() error "plain" end })
  assert(why:find "^t%.cu:2: .*tmpl_test%.lua:%d+: plain", why)
  same(fails("t.cu", "\n//@ helper()", { helper = function() error("at you", 2) end }), "t.cu:2: at you")
end)

test("not enough memory inside a render is an error, and the next render works", function()
  local t = host.template("t.cu", "//@ local s = {}\n//@ for i = 1, n do s[i] = {i} end\n$n\n")
  host.memory(1 << 20)
  local ok, why = pcall(t.render, t, { n = 1000000 })
  host.memory(0)
  assert(not ok and why:find "not enough memory", why)
  same(t:render { n = 10 }, "10\n")
end)

test("random text never crashes the engine, and what compiles keeps its lines", function()
  local pieces = { "$", "(", ")", "$(n)", "$n", "//@ ", "//@", "\n", "\r\n", "\"", "'", "[[", "]]", "--",
                   "//", " ", "x", "end", "do", "if n then", "$$", "\\", "[=[", "{", "}", ";", "=" }
  local seed = 12345
  local function random(n) seed = seed * 1103515245 + 12345 & 0x7fffffff; return (seed >> 8) % n + 1 end
  local good = 0
  for round = 1, 3000 do
    local parts = {}
    for i = 1, random(12) do parts[i] = pieces[random(#pieces)] end
    local text = table.concat(parts)
    local ok, t = pcall(host.template, "r.cu", text)
    if ok then
      local fine, out, map = pcall(t.render, t, { n = 1 })
      good = good + (fine and 1 or 0)
      if fine then same(text .. ":" .. select(2, out:gsub("\n", "\n")), text .. ":" .. #map) end
    else
      assert(t:find "^r%.cu:%d+: ", ("round %d: %q gave %s"):format(round, text, t))
    end
  end
  assert(good > 100, "some of them must render")
end)

return tests
