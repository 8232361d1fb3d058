-- edit_kit: what the tests of edits share: a file to edit, cases as pairs of words and what comes of them.

local edit = require "edit"
local sh = require "tests_sh"

local kit = {}

local root = host.root .. "/"
kit.dir = "out/build/test/edit" -- as messages show it
kit.path = root .. kit.dir .. "/e.lua"
kit.HEAD = 'space "e" { format = 1, template = "simt.cu" } -- line 1\n'

local function equal(got, want)
  assert(got == want, string.format("got\n%s\nwant\n%s", tostring(got), tostring(want)))
end

kit.equal = equal

function kit.test(name, run)
  return { name = name, run = run }
end

-- The new text differs from the old one in the reported bytes and nowhere else, and each change knows
-- what it found there.
function kit.check_changes(old, new, changes)
  local at, to = 1, 1
  for _, c in ipairs(changes) do
    assert(c.from >= at and c.to >= c.from - 1 and c.to <= #old, "a change out of order")
    equal(new:sub(to, to + c.from - at - 1), old:sub(at, c.from - 1))
    to = to + c.from - at
    equal(new:sub(to, to + #c.text - 1), c.text)
    equal(c.old, old:sub(c.from, c.to))
    at, to = c.to + 1, to + #c.text
  end
  equal(new:sub(to), old:sub(at))
  equal(edit.patch(old, changes), new)
end

function kit.apply(text, words)
  return edit.apply(text, kit.path, assert(edit.parse(words)))
end

-- `before` and what an edit makes of it; "word VALUE...", after: a pair.
function kit.edits(name, before, list)
  return kit.test(name, function()
    for i = 1, #list, 2 do
      local new, err = kit.apply(kit.HEAD .. before .. "\n", list[i])
      assert(new, list[i] .. ": " .. tostring(err))
      equal(new, kit.HEAD .. list[i + 1] .. "\n")
      assert(edit.check(new, kit.path))
      kit.check_changes(kit.HEAD .. before .. "\n", new, err)
    end
  end)
end

-- The message that each edit of the text is refused with, without "out/.../e.lua:".
function kit.refuses(name, body, list)
  return kit.test(name, function()
    for i = 1, #list, 2 do
      local new, err = kit.apply(kit.HEAD .. body .. "\n", list[i])
      assert(not new, list[i] .. " is accepted: " .. tostring(new))
      equal(err, kit.dir .. "/e.lua:" .. list[i + 1])
    end
  end)
end

-- `loom edit ...`: its exit code and what it prints.
function kit.loom(...)
  local got = sh.run { sh.loom, "edit", ... }
  return got.code, got.output
end

return kit
