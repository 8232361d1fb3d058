-- Random edits: of the shipped specs as `make check` makes many more of them, and of one spec in any
-- layout.

local dsl = require "dsl"
local edit = require "edit"
local edits = require "check.edits"
local kit = require "edit_kit"
local model = require "check.edit_model"

local random = require "mutate_random"
local rng = require "rng"
local space = require "space"

local root = host.root .. "/"
local path, HEAD, equal, test = kit.path, kit.HEAD, kit.equal, kit.test

local EDITS = 2000

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
  return table.concat(out, pick("\n", " ", "\n\n-- c\n")) .. "\n" .. table.concat(seeds, "\n")
end

-- Lets, rules and a search, in any layout too; some on one line, some behind code or in blocks.
local function random_statements()
  local expr = pick('"a + 1"', "'a + 1'", "[[a + 1]]", '("a + 1")')
  local why = "why = " .. pick('"it\'s {a}"', "[[a is {x}]]", "'so'")
  local out = { "do " .. 'must("t")(' .. mixed({ '"a > 0"' }, { why }) .. "); end",
    'let "x"' .. blank() .. expr, "must" .. blank() .. '"r"' .. blank() .. mixed({ '"x > 0"' }, { why }),
    'prefer "s" ' .. mixed({ "'a < 9'" }, { why }) }
  if math.random(2) == 1 then out[#out + 1] = "search " .. braces(shuffle { "rng = 0x7", "budget = '60s'", 'mutator = [[llm]]' }) end
  return table.concat(out, pick("\n", "\n\n", "\n-- c\n", "; ", " "))
end

local function random_spec()
  local parts = { HEAD, 'given { "M", "dtype" }\n', random_params(), "\n", random_statements() }
  return table.concat(parts) .. pick("", "\n", "\n-- the end", " -- it's, {a} note")
end

local function comments(text)
  return select(2, text:gsub("%-%- it's, {a} note", "")), select(2, text:gsub("%-%-%[%[ c, %]%]", ""))
end

local SHIPPED = { "hopper", "mma", "simt" }

-- Runs body(number) `n` times, seeded by it; a failure names the seed.
local function seeded(n, body)
  local restore = model.quicken()
  for i = 1, n do
    math.randomseed(i)
    local ok, err = pcall(body, i)
    if not ok then
      restore()
      error(string.format("seed %d: %s", i, tostring(err)), 0)
    end
  end
  restore()
end

-- A new value of the parameter's types.
local function new_row(param)
  local row
  repeat
    row = {}
    for i in ipairs(param.names) do
      local known = param.st.rows[1][i]
      row[i] = math.type(known) and math.random(1, 300) or "w" .. math.random(9)
    end
  until not dsl.row_index(param.st.rows, row)
  return row
end

-- Adding a value and removing it gives the bytes back, but for a range that had to become a list; a pin
-- that comes and goes always does.
local function check_restores(text, file)
  local sp = assert(edit.check(text, file))
  for _, param in ipairs(sp.params) do
    local row = new_row(param)
    local op = { kind = "add-value", param = param.name, values = { #row == 1 and row[1] or row } }
    local added = assert(edit.apply(text, file, op))
    op.kind = "remove-value"
    local back = assert(edit.apply(added, file, op))
    local _, ranges = text:gsub("range", "")
    if select(2, added:gsub("range", "")) == ranges then equal(back, text) end
    equal(model.text(model.of(edit.check(back, file))), model.text(model.of(sp)))
    local last = param.st.rows[#param.st.rows]
    local pinned = assert(edit.apply(text, file, { kind = "pin", param = param.name, values = { #last == 1 and last[1] or last } }))
    op = { kind = "unpin", param = param.name }
    local was = param.st.pin -- comes back
    if was then op = { kind = "pin", param = param.name, values = { #was == 1 and was[1] or was } } end
    equal((edit.apply(pinned, file, op)), text)
  end
end

return {
  edits.test(1, EDITS),
  test("a value or a pin added to a shipped space and removed leaves no trace", function()
    seeded(6, function(i)
      local file = root .. "spaces/" .. SHIPPED[i % #SHIPPED + 1] .. ".lua"
      check_restores(host.read(file), file)
    end)
  end),
  test("the random mutator leaves a pinned parameter alone", function()
    local file = root .. "spaces/mma.lua"
    local text = assert(edit.apply(host.read(root .. "spaces/mma.lua"), file, edit.parse "set-domain tile_n 128"))
    local others = 0
    for _, pin in ipairs { "pin stages 4", "pin warps 2,2", "pin tile_n 128" } do
      text = assert(edit.apply(text, file, edit.parse(pin)))
      local state, draws = { space = space.load_text(file, text), rows = {} }, rng.new("pins")
      for _ = 1, 60 do
        for _, p in ipairs(random.propose(nil, state, draws)) do
          assert(p.op.param ~= pin:match("pin (%S+)"), p.name)
          others = others + 1
        end
      end
    end
    assert(others > 50, "only " .. others .. " proposals")
  end),
  test("the random mutator settles on a value that it can take back", function()
    local sp = space.load("mma")
    local best, slow, seen = { ratio = 1.0, cand = {} }, { ratio = 0.5, cand = {} }, {}
    for _, param in ipairs(sp.params) do
      for i, name in ipairs(param.names) do best.cand[name], slow.cand[name] = param.rows[1][i], param.rows[1][i] end
    end
    slow.cand.tile_k = 64
    local state, draws = { space = sp, best = best, rows = { best, slow, slow } }, rng.new("settles")
    for _ = 1, 300 do
      for _, p in ipairs(random.propose(nil, state, draws)) do
        assert(p.op.kind ~= "pin", p.name)
        seen[p.name] = true
      end
    end
    assert(seen["set-domain tile_k 32"], "never settled")
  end),
  test("the same in any layout, and no comment is lost", function()
    local count, done = edits.tally(), 0
    seeded(150, function(i)
      local text, at = random_spec(), { seed = i, number = 0 }
      check_restores(text, path)
      edits.begin(at, text, path)
      for _ = 1, 8 do
        local before, long = comments(at.text)
        at.number = at.number + 1
        local op = edits.one(at, count)
        local after, long_after = comments(at.text)
        -- a rule takes along what stands inside of it
        if op and op.kind ~= "drop-rule" then equal(after .. " " .. long_after, before .. " " .. long) end
        done = done + (op and 1 or 0)
      end
    end)
    assert(done > 300, "only " .. done .. " edits went through")
  end),
}
