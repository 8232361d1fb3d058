-- select: which candidates of a problem are worth a kernel.
--
-- Seeds are what an expert would try first, the model knows the rest of the space: every space
-- keeps one candidate, then come seeds that are not hopeless, then the best predicted, those
-- that are unlike what was taken before their near twins. The result is sorted by predicted time
-- and depends on nothing but the specs, the model and the problem. KEYS lists candidates instead of all this.
-- A space that is too large to walk is climbed (climb.lua).

local climb = require "climb"
local fail = require "fail"
local model = require "model"
local space = require "space"
local why_ = require "why"

local select_ = { default_n = 16 }

-- Problems that a key without SHAPE is tried on, until one lets it pass its rules: large and square
-- first, then those that leave an SM idle (split-K is pinned to 1 where every SM has work).
local probes = { { 4096, 4096, 4096 }, { 256, 256, 4096 }, { 64, 64, 1024 }, { 64, 4096, 4096 },
                 { 4095, 4095, 4095 }, { 255, 255, 4095 } }

local function faster(x, y)
  if x.ns ~= y.ns then return x.ns < y.ns end
  return x.key < y.key
end

local function by_score(x, y)
  if x.score ~= y.score then return x.score < y.score end
  return x.key < y.key
end

local function new_item(b, cand)
  local full = b:full(cand)
  return { b = b, cand = cand, full = full, key = b:key(cand), ns = model.predict(b, full) }
end

-- Inserts `entry` into the sorted list `best`, which keeps at most `limit` entries.
local function keep(best, entry, limit)
  local at = #best + 1
  while at > 1 and entry.cost < best[at - 1].cost do at = at - 1 end
  table.insert(best, at, entry)
  best[limit + 1] = nil
end

-- The best predicted points of a space that is small enough to be walked, or in which a climb came by few,
-- as {cand, cost}.
local SURVEYED = 20000

local function surveyed(b, limit)
  local front = {}
  for cand, full in b:survey(SURVEYED) do
    local cost = model.predict(b, full)
    if #front < limit or cost < front[#front].cost then keep(front, { cand = cand, cost = cost }, limit) end
  end
  return front
end

-- The best predicted candidates of one bound space, as items. Soft rules are only asked of those that
-- are near the front, because most never get there.
local function best_of(b, limit)
  local front = {}
  if climb.wanted(b) then
    local found = climb.new(b, function(full) return model.predict(b, full) end):points()
    front = climb.mixed(found, 4 * limit, 4 * climb.share)
  end
  if #front < limit then front = surveyed(b, 4 * limit) end
  local items = {}
  for i, entry in ipairs(front) do
    local item = new_item(b, entry.cand)
    item.score = model.score(b, entry.cand, item.ns)
    items[i] = item
  end
  table.sort(items, by_score)
  return items
end

local function seeds_of(b)
  local items = {}
  for i, cand in ipairs(b:seeds()) do items[i] = new_item(b, cand) end
  table.sort(items, faster)
  return items
end

-- The spaces of `opt`, or all that the device runs, loaded once.
local loaded = {}
local function load_space(name)
  loaded[name] = loaded[name] or space.load(name)
  return loaded[name]
end

local listed = {} -- by device: the files of spaces/ are not read again for every problem

function select_.spaces(device, opt)
  local names, out = opt.space, {}
  if not names then
    listed[device.name] = listed[device.name] or space.list(device)
    names = listed[device.name]
  end
  for i, name in ipairs(names) do out[i] = load_space(name) end
  return out
end

-- A seed predicted this many times slower than the best candidate was meant for another problem; a
-- space whose first candidate is, for other problems altogether, unless the user asked for it.
local HOPELESS, HOPELESS_SPACE = 1.15, 12

local function fastest(found)
  local best
  for _, space_items in ipairs(found) do
    for _, part in ipairs { space_items.seeds, space_items.predicted } do
      for _, item in ipairs(part) do best = math.min(best or item.ns, item.ns) end
    end
  end
  return best
end

-- Do two items differ in at most one parameter of the same space?
local function twins(x, y)
  if x.b.space ~= y.b.space then return false end
  local different = 0
  for name, value in pairs(x.cand) do -- order does not matter: it only counts
    if y.cand[name] ~= value then different = different + 1 end
  end
  return different <= 1
end

-- `rest` with the twins of an earlier item, or of one in `taken`, moved behind the others, and what exceeds its
-- family's share too.
local function unlike_first(rest, taken)
  local kept, behind, of = table.move(taken, 1, #taken, 1, {}), {}, {}
  local ahead = {}
  for _, item in ipairs(rest) do
    local family = item.b.space.name .. " " .. climb.family(item.cand)
    local like = (of[family] or 0) >= climb.share
    for _, other in ipairs(kept) do like = like or twins(item, other) end
    if not like then kept[#kept + 1], of[family] = item, (of[family] or 0) + 1 end
    table.insert(like and behind or ahead, item)
  end
  return table.move(behind, 1, #behind, #ahead + 1, ahead)
end

-- Candidates in the order of their claim: one per space, then seeds up to half of the `n` that are wanted, then
-- predictions, then the other seeds.
local function claims(found, asked, n)
  local firsts, seeds, rest = {}, {}, {}
  local best = fastest(found)
  for _, space_items in ipairs(found) do
    local s, p = space_items.seeds, space_items.predicted
    local first = s[1] or p[1]
    if asked or first.ns <= HOPELESS_SPACE * best then firsts[#firsts + 1] = first end
    for _, item in ipairs(s) do
      if item ~= first and item.ns <= HOPELESS * best then seeds[#seeds + 1] = item end
    end
    for _, item in ipairs(p) do if item ~= first then rest[#rest + 1] = item end end
  end
  table.sort(firsts, faster)
  table.sort(seeds, faster)
  table.sort(rest, by_score)
  local all = table.move(firsts, 1, #firsts, 1, {})
  local early = math.max(0, math.min(#seeds, n // 2 - #all))
  table.move(seeds, 1, early, #all + 1, all)
  rest = unlike_first(rest, all)
  table.move(rest, 1, #rest, #all + 1, all)
  return table.move(seeds, early + 1, #seeds, #all + 1, all)
end

-- Why a bound space has no candidate.
local function killer(b)
  return string.format("space '%s' has no candidate: %s", b.space.name, why_.text(b:why_empty()))
end

-- A space that cannot serve the problem is said once, not for every shape.
local noted = {}
local function note(text, problem)
  local key = problem.layout .. text
  if not noted[key] then
    host.err(string.format("note: %dx%dx%d %s: %s\n", problem.M, problem.N, problem.K,
                           problem.layout, text))
  end
  noted[key] = true
end

-- Seeds and predictions of every space that has any; the others, bound.
local function gather(problem, device, opt, limit)
  local found, without = {}, {}
  for _, sp in ipairs(select_.spaces(device, opt)) do
    local b = space.bind(sp, problem, device)
    local items = { seeds = seeds_of(b), predicted = best_of(b, limit) }
    if items.seeds[1] or items.predicted[1] then
      found[#found + 1] = items
    else
      without[#without + 1] = b
    end
  end
  return found, without
end

local function key_matches(part, problem)
  return part.layout == problem.layout and part.dtype == problem.dtype and part.acc == problem.acc
end

-- Why a key is none of a bound space's candidates.
local function broken(b, rule, why)
  local p = b.problem
  return string.format("the key breaks '%s' at %dx%dx%d on %s: %s", rule, p.M, p.N, p.K, b.device.name, why)
end

-- ------------------------------------------------------------------------------- KEYS

local function size_of(problem)
  return string.format("%dx%dx%d", problem.M, problem.N, problem.K)
end

-- The space bound to a problem, once for all keys.
local function bound_to(keys, sp, problem, device)
  local name = string.format("%s %s %s %s", size_of(problem), problem.layout, problem.dtype, problem.acc)
  local of = keys.bound[name] or {}
  keys.bound[name], of[sp] = of, of[sp] or space.bind(sp, problem, device)
  return of[sp]
end

-- f(...), whose refusal stands at a line of the file.
local function at_line(keys, line, f, ...)
  local ok, result = pcall(f, ...)
  if ok then return result end
  fail.usage(string.format("%s:%d: %s", keys.path, line.line, fail.text(result) or error(result, 0)))
end

-- What a key says: {part, cand, space}. `spaces` has those that were met, by name.
local function parsed_key(key, names, spaces)
  local name = key:match("^([^:]*):")
  local sp = name and spaces[name] or space.of_key(key, names)
  local _, part, cand, found = space.parse_key(key, sp)
  spaces[name] = found
  return { part = part, cand = cand, space = found }
end

-- Refuses a key that its space or its own problem excludes. One for every problem has only to be of a space that the
-- device runs.
local function check_entry(keys, entry, opt)
  local dims, part = entry.dims or { 1, 1, 1 }, entry.part
  local b = bound_to(keys, entry.space, { M = dims[1], N = dims[2], K = dims[3], layout = part.layout,
                                          dtype = part.dtype, acc = part.acc }, opt.device)
  if not entry.dims then return end
  local ok, rule, why = b:check(entry.cand)
  if not ok then fail(broken(b, rule, why)) end
end

-- Reads opt.keys (knobs.lua), once: keys.all are the entries {line, key, dims, part, cand, space} of every problem,
-- keys.of those of one size. Each distinct key is parsed once.
local function read_keys(keys, opt)
  if keys.of then return keys end
  local all, of, known, spaces = {}, {}, {}, {}
  keys.bound = {}
  for _, line in ipairs(keys.lines) do
    known[line.key] = known[line.key] or at_line(keys, line, parsed_key, line.key, opt.space, spaces)
    local entry = setmetatable({ line = line.line, key = line.key, dims = line.dims }, { __index = known[line.key] })
    at_line(keys, line, check_entry, keys, entry, opt)
    local size = line.dims and table.concat(line.dims, "x")
    if size then of[size] = of[size] or {} end
    table.insert(size and of[size] or all, entry)
  end
  keys.all, keys.of = all, of
  return keys
end

-- The entries of KEYS for a problem's size, layout and types, in the file's order. Those for every problem may still
-- break a rule.
function select_.listed(problem, opt)
  local keys, out = read_keys(opt.keys, opt), {}
  for _, part in ipairs { keys.all, keys.of[size_of(problem)] or {} } do
    for _, entry in ipairs(part) do
      if key_matches(entry.part, problem) then out[#out + 1] = entry end
    end
  end
  table.sort(out, function(x, y) return x.line < y.line end)
  return out
end

-- The items of KEYS for a problem, each once.
local function pick_listed(problem, device, opt)
  local items, seen, refusal = {}, {}, ""
  for _, entry in ipairs(select_.listed(problem, opt)) do
    local b = bound_to(opt.keys, entry.space, problem, device)
    local ok, rule, why = true, nil, nil
    if not entry.dims then ok, rule, why = b:check(entry.cand) end
    local key = b:key(entry.cand)
    if ok and not seen[key] then items[#items + 1] = new_item(b, entry.cand) end
    if not ok and refusal == "" then refusal = string.format("; line %d: %s", entry.line, broken(b, rule, why)) end
    seen[key] = seen[key] or ok
  end
  if #items == 0 then fail(string.format("no key in '%s' is for it%s", opt.keys.path, refusal)) end
  return items
end

-- ------------------------------------------------------------------------------- one problem

-- Says which spaces have nothing for the problem; not those in whose stead another of the same architecture has.
local function note_missing(found, without, problem)
  local served = {}
  for _, items in ipairs(found) do
    local first = items.seeds[1] or items.predicted[1]
    served[first.b.space.arch] = true
  end
  for _, b in ipairs(without) do
    if not served[b.space.arch] then note(killer(b), problem) end
  end
end

-- At most `opt.n` items {b, cand, full, key, ns} for the problem, sorted by predicted time; of KEYS all that are for
-- it, in the file's order.
function select_.pick(problem, device, opt)
  if opt.keys then return pick_listed(problem, device, opt) end
  if opt.key then return { select_.from_key(opt.key, problem, device, opt.space) } end
  local n = opt.n or select_.default_n
  local found, without = gather(problem, device, opt, n)
  if #found == 0 then
    for i, b in ipairs(without) do without[i] = killer(b) end
    fail(string.format("%dx%dx%d %s: %s", problem.M, problem.N, problem.K, problem.layout,
                       without[1] and table.concat(without, "; ") or "no space runs on the device"))
  end
  note_missing(found, without, problem)
  local picked, seen = {}, {}
  for _, item in ipairs(claims(found, opt.space, n)) do
    if not seen[item.key] and #picked < n then
      seen[item.key] = true
      picked[#picked + 1] = item
    end
  end
  table.sort(picked, faster)
  return picked
end

-- The one item that `key` names, for `problem`; refuses a key that the problem or a rule excludes.
-- `names`: the spaces that the user named, nil for those that are shipped.
function select_.from_key(key, problem, device, names)
  local _, part, cand, sp = space.parse_key(key, space.of_key(key, names))
  if not key_matches(part, problem) then
    fail(string.format("the key is for layout=%s,dtype=%s,acc=%s, the problem is %s,%s,%s",
                       part.layout, part.dtype, part.acc, problem.layout, problem.dtype,
                       problem.acc))
  end
  local b = space.bind(sp, problem, device)
  local ok, rule, why = b:check(cand)
  if not ok then fail(broken(b, rule, why)) end
  return new_item(b, cand)
end

-- The first probe that `key` is valid for; the refusal of the first one when there is none.
local function probe_of_key(key, part, opt)
  local refusal
  for _, size in ipairs(probes) do
    local p = { M = size[1], N = size[2], K = size[3], layout = part.layout, dtype = part.dtype,
                acc = part.acc }
    local ok, err = pcall(select_.from_key, key, p, opt.device, opt.space)
    if ok then return p end
    refusal = refusal or err
  end
  error(refusal, 0)
end

-- The problems of `opt`. A key picks those that it is for; when there is none, from_key says why.
-- Without any SHAPE a key stands for a probe. KEYS is read here, so that what is wrong in it is said first.
function select_.problems(opt)
  if opt.keys then read_keys(opt.keys, opt) end
  if not opt.key then return opt.problems end
  local _, part = space.parse_key(opt.key, space.of_key(opt.key, opt.space))
  local out = {}
  for _, p in ipairs(opt.problems or {}) do
    if key_matches(part, p) then out[#out + 1] = p end
  end
  if #out > 0 then return out end
  return { opt.problems and opt.problems[1] or probe_of_key(opt.key, part, opt) }
end

return select_
