-- Edits of files: the verb, what it prints, what an edit expects to find, changes made in another text.

local edit = require "edit"
local kit = require "edit_kit"
local sh = require "tests_sh"
local space = require "space"
local verbs = require "verbs_edit"

local root = host.root .. "/"
local dir, path, HEAD = kit.dir, kit.path, kit.HEAD
local equal, apply, test, loom = kit.equal, kit.apply, kit.test, kit.loom

local SPEC = HEAD .. [[
param "a" { 1, 2 } -- values
let 'x' "a + 1"
must "r" {
  "a < 3", why = "x" }
seed { a = 1 }
  seed { a = 2 }
search { rng = 1 }
]]

local USAGE = "edit wants FILE and one of: set-domain PARAM VALUE..., add-value PARAM VALUE..., "
  .. "remove-value PARAM VALUE..., set-range PARAM LOW HIGH [STEP], pin PARAM VALUE, unpin PARAM, "
  .. "add-seed NAME=VALUE..., set-let NAME EXPR, add-rule must|prefer NAME EXPR WHY, drop-rule NAME, "
  .. "set-search KEY VALUE, show NAME"

-- Runs body with host.read answering by `read`.
local function reading(read, body)
  local old = host.read
  host.read = read
  local ok, err = pcall(body)
  host.read = old
  assert(ok, err)
end

return {
  test("a space is loaded from a text in the place of its file", function()
    local sp = space.load_text(path, HEAD .. 'param "a" { 5 }')
    assert(sp.name == "e" and sp.params[1].rows[1][1] == 5 and sp.file == dir .. "/e.lua")
    local _, err = edit.check('space "f" { format = 1 }', path)
    equal(err, dir .. "/e.lua:1: space 'f': file 'e.lua' holds space 'f'")
  end),
  test("a statement is shown from its word to the end of its body", function()
    for _, pair in ipairs { { "a", 'param "a" { 1, 2 }' }, { "x", [[let 'x' "a + 1"]] },
      { "r", 'must "r" {\n  "a < 3", why = "x" }' }, { "seed", "seed { a = 2 }" }, { "search", "search { rng = 1 }" },
      { "space", 'space "e" { format = 1, template = "simt.cu" }' } } do
      equal((edit.show(SPEC, path, pair[1])), pair[2])
    end
    local tied = HEAD .. 'param("w")({ {1, 2}, as = {"p", "q"} });'
    equal((edit.show(tied, path, "q")), 'param("w")({ {1, 2}, as = {"p", "q"} })')
    local function refused(text, name, message)
      local got, err = edit.show(text, path, name)
      assert(got == nil, got)
      equal(err, dir .. "/e.lua:" .. message)
    end
    refused(SPEC, "y", "1: no statement 'y'")
    refused(SPEC, "sed", "1: no statement 'sed' (did you mean 'seed'?)")
    refused(HEAD .. 'let "x" ("1" .. "2")', "x", "2: let 'x': is not written as let \"x\" \"...\": edit the file by hand")
    refused(HEAD .. "for _ = 1, 2 do seed { } end", "seed", "2: seed: is not written as seed { ... }: edit the file by hand")
    refused("param", "x", "1: syntax error near <eof>")
  end),
  test("a statement that is not the text expected stays as it is", function()
    local function with(words, expect)
      local op = assert(edit.parse(words))
      op.expect = expect
      return edit.apply(SPEC, path, op)
    end
    -- words, the statement they change or follow, its line
    for _, case in ipairs { { "add-value a 3", "a", "2: param 'a'" }, { "pin a 1", "a", "2: param 'a'" },
      { "set-range a 1 3", "a", "2: param 'a'" }, { "set-let x a", "x", "3: let 'x'" }, { "drop-rule r", "r", "4: must 'r'" },
      { "add-rule must s a>0 why", "r", "1: must 's'" },
      { "set-search rng 2", "search", "8: search" } } do
      local text = assert(edit.show(SPEC, path, case[2]))
      local words = case[1]
      equal((with(words, text)), (apply(SPEC, words)))
      local got, err = with(words, text:sub(1, -2) .. " }")
      assert(not got)
      equal(err, string.format("%s/e.lua:%s: is not the text expected: from byte %d on it reads '%s'", dir, case[3], #text, text:sub(-1)))
      _, err = with(words, text .. " ")
      equal(err, string.format("%s/e.lua:%s: is not the text expected: from byte %d on it reads nothing", dir, case[3], #text + 1))
    end
    local free = HEAD .. 'param "a" { 1, 2 }\nseed { a = 1 }'
    local _, err = edit.apply(free, path, edit.parse 'add-seed a=2 EXPECT="seed { a = 2 }"')
    equal(err, dir .. "/e.lua:1: seed: is not the text expected: from byte 12 on it reads '1 }'")
    assert(edit.apply(free, path, edit.parse 'add-seed a=2 EXPECT="seed { a = 1 }"'))
    _, err = edit.apply(HEAD .. 'param "a" { 1 }', path, edit.parse 'add-seed a=1 EXPECT="seed { a = 2 }"')
    equal(err, dir .. "/e.lua:1: seed: no statement stands before it: EXPECT cannot hold")
  end),
  test("changes are made in a text that has what they expect at their places, or not at all", function()
    local new, changes = apply(SPEC, "set-domain a 7")
    equal(edit.patch(SPEC, changes), new)
    equal(edit.patch(SPEC .. "-- more\n", changes), new .. "-- more\n")
    for _, c in ipairs(changes) do
      for at = c.from - #c.near, c.to do
        local other = SPEC:sub(1, at - 1) .. string.char(SPEC:byte(at) ~ 1) .. SPEC:sub(at + 1)
        local got, err = edit.patch(other, changes)
        assert(got == nil, "patched " .. at)
        assert(err:find("^line %d+ is not the text that was edited$"), err)
      end
    end
    local got, err = edit.patch("\n" .. SPEC, changes)
    assert(got == nil)
    equal(err, "line 3 is not the text that was edited")
    assert(edit.patch("", changes) == nil)
    -- what only adds is held by what stands before it
    new, changes = apply(SPEC, "add-seed a=1 EXPECT=\"seed { a = 2 }\"")
    assert(not new and changes)
    new, changes = apply(HEAD .. 'param "a" { 1 }\nseed { }\n', "add-seed a=1")
    equal(edit.patch(HEAD .. 'param "a" { 1 }\nseed { }\n', changes), new)
    assert(edit.patch(HEAD .. 'param "b" { 1 }\nseed { }\n-- and more, so that it is long enough\n', changes) == nil)
  end),
  test("loom edit writes the file and prints what changed", function()
    local file = sh.tmpdir("edit") .. "/e.lua"
    assert(host.write(file, HEAD .. 'param "a" { 1,\n  2, default = 2 }\nlet "x" "a"\nseed { a = 2 }'))
    local code, output = loom(file, "set-domain", "a", "1")
    equal(output, '@@ line 2\n-param "a" { 1,\n-  2, default = 2 }\n+param "a" { 1, default = 1 }\n'
      .. "@@ line 5\n-seed { a = 2 }\n+seed { a = 1 }\n")
    equal(code, 0)
    equal(host.read(file), HEAD .. 'param "a" { 1, default = 1 }\nlet "x" "a"\nseed { a = 1 }')
  end),
  test("loom edit prints lines that join as such, wherever they stand", function()
    local file = sh.tmpdir("edit") .. "/e.lua"
    assert(host.write(file, SPEC))
    local function prints(output, ...)
      local code, got = loom(file, ...)
      equal(got, output)
      equal(code, 0)
    end
    prints('@@ line 6\n+must "s" { "a > 0", why = "a is {a}" }\n', "add-rule", "must", "s", "a > 0", "a is {a}")
    prints("@@ line 6\n-must \"s\" { \"a > 0\", why = \"a is {a}\" }\n", "drop-rule", "s")
    prints('@@ line 2\n-param "a" { 1, 2 } -- values\n+param "a" { 1, 2, pin = 2 } -- values\n', "pin", "a", "2",
      'EXPECT=param "a" { 1, 2 }')
    prints('param "a" { 1, 2, pin = 2 }\n', "show", "a")
    prints('@@ line 2\n-param "a" { 1, 2, pin = 2 } -- values\n+param "a" { 1, 2 } -- values\n', "EXPECT=param \"a\" { 1, 2, pin = 2 }",
      "unpin", "a")
    equal(host.read(file), SPEC)
    assert(host.write(file, HEAD .. 'param "a" { 1 }'))
    prints('@@ line 2\n-param "a" { 1 }\n+param "a" { 1 }\n+seed { a = 1 }\n', "add-seed", "a=1")
    assert(host.write(file, HEAD .. 'param "a" { 1 }\n'))
    prints('@@ line 3\n+seed { a = 1 }\n', "add-seed", "a=1")
  end),
  test("loom edit keeps a file's mode, and edits what a symbolic link leads to", function()
    local folder = sh.tmpdir("edit")
    local file, link = folder .. "/real/e.lua", folder .. "/e.lua"
    assert(host.write(file, HEAD .. 'param "a" { 1, 2 }\n'))
    equal(sh.run({ "sh", "-c", 'chmod 664 real/e.lua && ln -s real/e.lua e.lua' }, { cwd = folder }).code, 0)
    equal((loom(link, "set-domain", "a", "1")), 0)
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
    refused(1, shown .. ":2: param 'a': has the value 2 already", file, "add-value", "a", "2")
    refused(1, shown .. ":1: no param 'b'", file, "pin", "b", "2")
    refused(1, shown .. ":2: param 'a': is not the text expected: from byte 1 on it reads 'param \"a\" { 1, 2 }'", file,
      "pin", "a", "2", "EXPECT=")
    refused(1, shown .. ":1: no statement 'b'", file, "show", "b")
    refused(1, "loom: cannot open '" .. file .. "x': No such file or directory", file .. "x", "set-domain", "a", "2")
    refused(2, "loom: edit 'set-domain' wants PARAM VALUE...", file, "set-domain", "a")
    refused(2, "loom: edit FILE show wants one NAME", file, "show")
    refused(2, "loom: " .. USAGE, file)
    refused(2, "loom: " .. USAGE)
    refused(2, "loom: unknown edit 'pinn' (did you mean 'pin'?); there are set-domain, add-value, remove-value, "
      .. "set-range, pin, unpin, add-seed, set-let, add-rule, drop-rule, set-search", file, "pinn", "a", "2")
    refused(2, "loom: value '2,' has an empty part", file, "set-domain", "a", "2,")
    refused(2, "loom: the name of FILE is empty", "", "pin", "a", "2")
    refused(2, "loom: the name of FILE is empty", "", "show", "a")
  end),
  test("of edits at the same time none is lost", function()
    local file, pool = sh.tmpdir("edit") .. "/e.lua", host.pool(8)
    assert(host.write(file, HEAD .. 'param "a" { 0 }\n'))
    local want = {}
    for i = 1, 24 do
      want[i] = tostring(i)
      pool:submit { argv = { sh.loom, "edit", file, "add-value", "a", want[i] }, timeout = 60, tag = want[i] }
    end
    while pool:pending() > 0 do
      local done = pool:wait()
      assert(done.code == 0, done.output)
    end
    equal(host.read(file), HEAD .. 'param "a" { 0, ' .. table.concat(want, ", ") .. " }\n")
  end),
  test("loom edit does not write over what somebody else wrote meanwhile", function()
    local file = sh.tmpdir("edit") .. "/e.lua"
    assert(host.write(file, SPEC))
    local read, times = host.read, 0
    reading(function(name, ...)
      local text, err = read(name, ...)
      if name ~= file then return text, err end
      times = times + 1
      if times == 1 then assert(host.write(file, SPEC .. "-- theirs\n")) end
      return text, err
    end, function()
      local ok, err = pcall(verbs.edit, { file, "pin", "a", "1" })
      assert(not ok)
      equal(tostring(err), file:sub(#root + 1) .. ":1: changed meanwhile: nothing is written")
    end)
    equal(host.read(file), SPEC .. "-- theirs\n")
  end),
}
