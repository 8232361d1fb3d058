-- Space files: what is refused (tests/fail), what a spec can reach, inheritance.

local device = require "device"
local dsl = require "dsl"
local space = require "space"

local PROBLEM = { M = 64, N = 64, K = 64, layout = "nn", dtype = "f16", acc = "f32" }

local dir = "out/build/test/core-dsl" -- as messages show it
local root = host.root .. "/"

-- Writes a spec into the test's folder and loads it.
local function spec(name, text)
  assert(host.write(root .. dir .. "/" .. name .. ".lua", text) ~= nil)
  return space.load(root .. dir .. "/" .. name .. ".lua")
end

local function statements(sp)
  local out = {}
  for i, st in ipairs(sp.statements) do out[i] = dsl.label(st) end
  return table.concat(out, "; ")
end

local function walk(path)
  local b = space.bind(space.load(path), PROBLEM, device.get "h200")
  for _ in b:each() do end -- luacheck: ignore
end

-- The message of a spec that must be refused is in its first line.
local function fail_test(file)
  local path = root .. "tests/fail/" .. file
  return { name = "refused: " .. file:gsub("%.lua$", ""):gsub("_", " "), run = function()
    local want = assert(host.read(path)):match("^%-%- expect: ([^\n]*)\n")
    local ok, err = pcall(walk, path)
    assert(not ok, "is accepted")
    assert(tostring(err) == want, tostring(err))
  end }
end

local tests = {
  { name = "a spec cannot touch the host's strings, nor leave a hook or a limit behind", run = function()
    pcall(space.load, root .. "tests/fail/endless.lua")
    pcall(space.load, root .. "tests/fail/memory.lua")
    assert(("x"):rep(3) == "xxx" and "10" + 1 == 11)
    assert(debug.gethook() == nil)
    assert(#string.rep("x", 100 << 20) == 100 << 20)
  end },
  { name = "loops and locals may build a spec", run = function()
    local sp = spec("loops", [[
space "loops" { format = 1, template = "simt.cu" }
local tiles = {}
for i = 4, 7 do tiles[#tiles + 1] = 1 << i end
for _, side in ipairs { "m", "n" } do
  param("tile_" .. side) (tiles)
end
]])
    assert(statements(sp) == "param 'tile_m'; param 'tile_n'")
    assert(#sp.params[2].rows == 4 and sp.params[2].rows[4][1] == 128)
  end },
  { name = "the table a parameter was made of may change afterwards", run = function()
    local sp = spec("later", [[
space "later" { format = 1, template = "simt.cu" }
local values = { 1, 2 }
param "a" (values)
values[1] = 99
local row = { 3, 4 }
param "w" { row, as = { "x", "y" } }
row[1] = "changed"
]])
    assert(sp.params[1].rows[1][1] == 1 and sp.params[2].rows[1][1] == 3)
  end },
  { name = "a child's statement takes the place of the base's of the same name", run = function()
    spec("base1", [[
space "base1" { format = 1 }
given { "M" }
param "a" { 1, 2 }
let "x" "a * missing"
must "r" { "x > 0", why = "base" }
prefer "p" { "a > 1", why = "base" }
]])
    local sp = spec("child1", [[
space "child1" { format = 1, base = "base1", template = "simt.cu", doc = "child" }
param "b" { 1 }
param "a" { 4, 8 }
let "missing" "b"
must "p" { "a > 2", why = "child" }
given { "M", "N" }
]])
    assert(statements(sp) == "given; param 'a'; let 'x'; must 'r'; must 'p'; param 'b'; let 'missing'",
      statements(sp))
    assert(sp.name == "child1" and sp.doc == "child" and sp.template == "simt.cu")
    assert(sp.params[1].name == "a" and sp.params[1].rows[1][1] == 4)
    assert(sp.names.N and #sp.prefers == 0 and #sp.musts == 2)
  end },
  { name = "a let may stand in for a parameter of the base", run = function()
    spec("base2", 'space "base2" { format = 1 }\nparam "a" { 1, 2 }\nlet "x" "2 * a"\n')
    local sp = spec("child2", 'space "child2" { format = 1, base = "base2", template = "simt.cu" }\nlet "a" "5"\n')
    local b = space.bind(sp, PROBLEM, device.get "h200")
    assert(b:count().product == 1 and b:full({}).x == 10)
  end },
  { name = "a base may use names only its children declare; bound alone it is refused", run = function()
    local sp = spec("base3", 'space "base3" { format = 1 }\nlet "x" "2 * a"\n')
    local ok, err = pcall(space.bind, sp, PROBLEM, device.get "h200")
    assert(not ok and tostring(err) == "space 'base3' is a base for others: it has no template, so no kernels", tostring(err))
  end },
  { name = "the error of an inherited statement stands in the base's file", run = function()
    spec("base4", 'space "base4" { format = 1 }\nlet "x" "2 * tile_q"\n')
    local ok, err = pcall(spec, "child4",
      'space "child4" { format = 1, base = "base4", template = "simt.cu" }\nparam "tile_m" { 1 }\n')
    assert(not ok and tostring(err) == dir .. "/base4.lua:2: let 'x': unknown name 'tile_q' (did you mean 'tile_m'?)",
      tostring(err))
  end },
  { name = "bases may not go in circles", run = function()
    assert(host.write(root .. dir .. "/ring1.lua", 'space "ring1" { format = 1, base = "ring2" }\n') ~= nil)
    local ok, err = pcall(spec, "ring2", 'space "ring2" { format = 1, base = "ring1" }\n')
    assert(not ok and tostring(err) == dir .. "/ring1.lua:1: space 'ring1': inherits from itself: "
      .. "ring2 -> ring1 -> ring2", tostring(err))
  end },
  { name = "a byte order mark is refused, not taken for a strange symbol", run = function()
    local ok, err = pcall(spec, "marked", '\xef\xbb\xbfspace "marked" { format = 1 }\n')
    assert(not ok and tostring(err) == dir .. "/marked.lua:1: begins with a byte order mark: save it without", tostring(err))
  end },
  { name = "binary chunks are not spaces", run = function()
    local ok, err = pcall(spec, "binary", string.dump(function() return 1 end))
    assert(not ok and tostring(err):find("attempt to load a binary chunk", 1, true), tostring(err))
    assert(tostring(err):find(dir .. "/binary.lua:1: ", 1, true) == 1, tostring(err))
  end },
  { name = "long paths are not shortened in messages", run = function()
    local deep = dir .. "/" .. ("long-folder-name/"):rep(6)
    assert(host.write(root .. deep .. "far.lua", 'space "far" { format = 1 }\nlocal t = nil\nparam "a" { t.x }\n') ~= nil)
    local ok, err = pcall(space.load, root .. deep .. "far.lua")
    assert(not ok and tostring(err) == deep .. "far.lua:3: attempt to index a nil value (local 't')", tostring(err))
  end },
}

for _, file in ipairs(assert(host.list(root .. "tests/fail"))) do
  if file:find("%.lua$") then tests[#tests + 1] = fail_test(file) end
end

return tests
