-- points_kit: random spaces with every kind of statement that makes points, and their points by trying
-- all of them, with Lua as the judge: what the tests of counting and drawing compare with.

local space = require "space"

local kit = {}

local root, dir = host.root .. "/", "out/build/test/points"

function kit.problem(m, n, k)
  return { M = m or 64, N = n or m or 64, K = k or m or 64, layout = "nn", dtype = "f16", acc = "f32" }
end

-- The space of a body, bound; its file need not exist.
function kit.bind(name, body, problem, dev)
  local text = string.format('space "%s" { format = 1, template = "simt.cu" }\n'
    .. 'given { "M", "N", "K", "layout", "dtype", "acc" }\n%s', name, body)
  local sp = space.load_text(root .. dir .. "/" .. name .. ".lua", text)
  return space.bind(sp, problem or kit.problem(), dev or require "device".get "h200")
end

function kit.short(b, cand)
  return (b:key(cand):gsub("^.-acc=f32,?", ""))
end

-- Random spaces -----------------------------------------------------------------------------------
-- Expressions are texts that mean the same in a spec and in Lua; `//` may meet a zero in both.

local function integer(r, names, level)
  local kind = r(level > 2 and 2 or 6)
  if kind == 1 then return tostring(r(0, 5)) end
  if kind == 2 or kind == 3 then return names[r(#names)] end
  if kind == 4 then return string.format("(%s %% %d)", integer(r, names, level + 1), r(2, 5)) end
  local op = ({ "+", "-", "*", "+", "*", "//" })[r(6)]
  if op == "//" and r(3) > 1 then return string.format("(%s // %d)", integer(r, names, level + 1), r(1, 4)) end
  return string.format("(%s %s %s)", integer(r, names, level + 1), op, integer(r, names, level + 1))
end

local function boolean(r, names, level)
  local kind = r(level > 1 and 3 or 5)
  if kind <= 3 then
    local op = ({ "<", "<=", "==", ">", ">=", "~=", "~=", "~=", "~=" })[r(9)]
    return string.format("%s %s %s", integer(r, names, 1), op, integer(r, names, 2))
  end
  return string.format("(%s %s %s)", boolean(r, names, level + 1), r(4) == 1 and "and" or "or",
    boolean(r, names, level + 1))
end

-- {params = {{names, rows, default, when}...}, lets = {{name, text}...}, rules = {text...}, text}.
function kit.random(r)
  local s, lines, names = { params = {}, lets = {}, rules = {} }, {}, {}
  for i = 1, r(2, 5) do
    local param = { names = r(4) == 1 and { "p" .. i, "q" .. i } or { "p" .. i }, rows = {} }
    if i > 1 and r(3) == 1 then param.when = boolean(r, names, 1) end
    local x = r(-1, 2)
    for k = 1, r(1, 4) do
      x = x + r(1, 3)
      param.rows[k] = #param.names == 2 and { x, r(0, 3) } or { x }
    end
    param.default = param.rows[r(#param.rows)]
    local values = {}
    for k, row in ipairs(param.rows) do
      values[k] = #row == 2 and string.format("{%d, %d}", row[1], row[2]) or tostring(row[1])
    end
    local default = #param.default == 2 and string.format("{%d, %d}", param.default[1], param.default[2])
      or param.default[1]
    lines[#lines + 1] = string.format('param "%s" { %s, default = %s%s%s }',
      #param.names == 2 and "t" .. i or "p" .. i, table.concat(values, ", "), default,
      #param.names == 2 and string.format(', as = {"p%d", "q%d"}', i, i) or "",
      param.when and string.format(', when = "%s"', param.when) or "")
    table.move(param.names, 1, #param.names, #names + 1, names)
    s.params[i] = param
  end
  for i = 1, r(0, 3) do
    local text = integer(r, names, 0)
    s.lets[i] = { "x" .. i, text }
    lines[#lines + 1] = string.format('let "x%d" "%s"', i, text)
    names[#names + 1] = "x" .. i
  end
  for i = 1, r(1, 4) do
    s.rules[i] = boolean(r, names, 0)
    lines[#lines + 1] = string.format('must "r%d" { "%s", why = "none" }', i, s.rules[i])
  end
  if #s.lets > 0 then -- a walk computes every let; so does a rule that reads them all
    local all = {}
    for i, let in ipairs(s.lets) do all[i] = let[1] .. " == " .. let[1] end
    s.rules[#s.rules + 1] = table.concat(all, " and ")
    lines[#lines + 1] = string.format('must "all" { "%s", why = "none" }', s.rules[#s.rules])
  end
  s.text = table.concat(lines, "\n")
  return s
end

-- All points, by trying -----------------------------------------------------------------------------

local FAILED = {}

-- f() of a text over env; FAILED where it cannot be evaluated, or reads what could not be.
local function judge(text, env)
  local run, names = assert(load("return " .. text, "=judge", "t", env)), {}
  for name in text:gmatch("%a%d") do names[#names + 1] = name end
  return function()
    for _, name in ipairs(names) do
      if env[name] == FAILED then return FAILED end
    end
    local ok, value = pcall(run)
    if ok then return value end
    return FAILED
  end
end

-- Calls visit(env, verdicts, pinned, n) for every point of the product in declared order: verdicts[i],
-- i = 1..n, is true, false or nil (it cannot be evaluated) for each `when`, then each rule; pinned[d]
-- says whether the parameter is pinned there. Returns n.
function kit.try_all(s, visit)
  local env, tests, lets = {}, {}, {}
  for i, let in ipairs(s.lets) do lets[i] = { let[1], judge(let[2], env) } end
  for d, param in ipairs(s.params) do
    if param.when then tests[#tests + 1] = { when = judge(param.when, env), param = param, depth = d } end
  end
  for _, rule in ipairs(s.rules) do tests[#tests + 1] = { rule = judge(rule, env) } end
  local function verdicts()
    local out, pinned = {}, {}
    for _, let in ipairs(lets) do env[let[1]] = let[2]() end
    for i, test in ipairs(tests) do
      local value = (test.when or test.rule)()
      if test.when and value ~= FAILED then
        local is_default = true
        for k, name in ipairs(test.param.names) do is_default = is_default and env[name] == test.param.default[k] end
        pinned[test.depth] = not value
        value = value or is_default
      end
      out[i] = value
      if value == FAILED then out[i] = nil end
    end
    return out, pinned
  end
  local function descend(d)
    if d > #s.params then
      local out, pinned = verdicts()
      return visit(env, out, pinned, #tests)
    end
    for _, row in ipairs(s.params[d].rows) do
      for k, name in ipairs(s.params[d].names) do env[name] = row[k] end
      descend(d + 1)
    end
  end
  descend(1)
  return #tests
end

return kit
