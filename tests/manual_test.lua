-- manual_test.lua -- what the manuals show is run: every Lua block of spaces/README.md is a piece of a
-- spec that loads, and the walks are walked in a copy of the project, by the shell.

local sh = require "tests_sh"
local space = require "space"

local dir = host.root .. "/out/build/test/manual"

-- The manual as a list of {kind = "text"|"lua"|"sh"|"cuda", text, line, section}.
local function pieces(path)
  local list, section, open, number = {}, "", nil, 0
  for line in (assert(host.read(path)) .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    local fence = line:match("^```(%l*)$")
    if open and fence == "" then
      open = nil
    elseif fence then
      open = { kind = fence, text = "", line = number, section = section }
      list[#list + 1] = open
    elseif open then
      open.text = open.text .. line .. "\n"
    else
      section = line:match("^## (.*)") or section
      list[#list + 1] = { kind = "text", text = line, line = number, section = section }
    end
  end
  return list
end

local manual = host.root .. "/spaces/README.md"

-- Loads one block: a whole file, or statements on top of `base`.
local function load_block(block, base)
  local text = block.text
  if not text:find("^space ") then
    text = string.format('space "block" { format = 1, base = "%s" }\n', base) .. text
  end
  local name = text:match('^space "(%w+)"')
  local path = string.format("%s/%s.lua", dir, name)
  assert(host.write(path, text) ~= nil)
  local ok, sp = pcall(space.load, path)
  assert(ok, string.format("spaces/README.md:%d: %s", block.line, tostring(sp)))
  return sp
end

-- All blocks under "Statements" are one spec, in their order; those under "Inheritance" are children
-- of simt, each by itself.
local function statements()
  local all = { text = "", line = 0 }
  for _, piece in ipairs(pieces(manual)) do
    if piece.kind == "lua" and piece.section == "Statements" then all.text = all.text .. piece.text end
  end
  return all
end

local function copy_project(to)
  for _, part in ipairs { "Makefile", "gen", "bench", "lua", "spaces", "templates", "tests/fuzz.mk",
    "tests/conformance/conform.mk" } do
    local cp = sh.run({ "sh", "-c", 'mkdir -p "$1" && cp -r --parents "$2" "$1"/', "sh", to, part },
      { cwd = host.root })
    assert(cp.code == 0, cp.output)
  end
end

-- "below the line `x` of `file`:" -> how, x, file
local function place_of(text)
  local how, anchor, file = text:match("^(%u%l+) the line `(.-)` of `(.-)`:$")
  return how, anchor, file
end

local function insert(path, how, anchor, text)
  local old, out, found = assert(host.read(path)), {}, 0
  for line in old:gmatch("[^\n]*\n") do
    local here = line:find(anchor, 1, true) ~= nil
    if here then found = found + 1 end
    if here and how == "Above" then out[#out + 1] = text end
    out[#out + 1] = line
    if here and how == "Below" then out[#out + 1] = text end
  end
  assert(found == 1, string.format("'%s' stands %d times in %s", anchor, found, path))
  assert(host.write(path, table.concat(out)) ~= nil)
end

-- Walks a section: edits where the text says so, commands by the shell. Returns what they printed.
local function walk(list, section, copy)
  local how, anchor, file
  local said = {}
  for _, piece in ipairs(list) do
    if piece.section == section then
      if piece.kind == "text" then
        local h, a, f = place_of(piece.text)
        if h then how, anchor, file = h, a, f end
      elseif piece.kind == "sh" then
        local script = 'set -e\nloom() { "$LOOM" "$@"; }\n' .. piece.text
        local run = sh.run({ "sh", "-c", script }, { cwd = copy, env = { "LOOM=" .. sh.loom, "NVCC=none" } })
        assert(run.code == 0, string.format("line %d: %s", piece.line, run.output))
        said[#said + 1] = run.output
      elseif how then
        insert(copy .. "/" .. file, how, anchor, piece.text)
        how = nil
      end
    end
  end
  return said
end

return {
  { name = "the manual's statements are one spec, and every word of the language is among them", run = function()
    local all = statements()
    local sp = load_block(all, "common")
    assert(sp.template == "simt.cu" and #sp.params > 5 and #sp.seeds == 1)
    for _, word in ipairs { "space", "param", "given", "let", "must", "prefer", "forbid", "seed", "search" } do
      assert(("\n" .. all.text):find("\n" .. word .. "%s"), "no example of " .. word)
    end
  end },
  { name = "the manual's examples of inheritance load as children of simt", run = function()
    local count, words = 0, ""
    for _, piece in ipairs(pieces(manual)) do
      if piece.kind == "lua" and piece.section == "Inheritance" then
        load_block(piece, "simt")
        count, words = count + 1, words .. piece.text
      end
    end
    assert(count >= 2, count .. " examples")
    for _, word in ipairs { "drop", "extend", "narrow" } do
      assert(("\n" .. words):find("\n" .. word .. "%s"), "no example of " .. word)
    end
  end },
  { name = "the manual's walks: a parameter is added, then a rule", run = function()
    local copy, list = dir .. "/a copy", pieces(manual)
    sh.remove(copy)
    copy_project(copy)
    local said = walk(list, "Add a parameter", copy)
    assert(#said == 2 and said[2]:find("#pragma unroll %d"), table.concat(said, "\n"))
    local lint = sh.run({ "clang-format", "--dry-run", "-Werror", "--style=file:" .. host.root .. "/.clang-format",
      copy .. "/templates/unrolled.cu" })
    assert(lint.code == 0, lint.output)
    local before = tonumber(said[2]:match("product%s+(%d+)"))
    assert(before == 768 * 5, before)
    said = walk(list, "Add a rule", copy)
    local removed = tonumber(said[1]:match("unroll%-fits%s+(%d+)"))
    assert(removed and removed > 0, said[1])
    assert(select(2, said[1]:gsub("unrolled:layout=tn", "")) == 3, said[1])
  end },
}
