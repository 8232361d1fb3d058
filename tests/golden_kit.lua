-- golden_kit.lua -- golden kernels: candidates of every space that together have every value of every parameter (of
-- one with many values all eighths of them, and all remainders by 64), every layout and type. Each is run on the CPU
-- device, on three shapes and four schedules, and what the device counted (bank conflicts, sectors, bytes) is compared
-- with what is committed.

local cpu = require "cpu"
local cpu_build = require "cpu_build"
local device = require "device"
local dsl = require "dsl"
local emit = require "emit"
local fail = require "fail"
local outdir = require "outdir"
local rng = require "rng"
local shapes = require "shapes"
local space = require "space"

local kit = { count = 88, keys = "tests/golden/keys.tsv", counters = "tests/golden/counters.tsv",
              again = "`loom test tests/golden/make.lua` writes it anew" }

local h200 = device.get "h200"
local program = host.root .. "/out/build/loom-cpu" -- not the one with sanitizers beside a loom that has them

-- ------------------------------------------------------------------------------- which kernels

-- Problems that together let every value of every parameter be: many tiles, few tiles, deep ones.
local PROBES = { { 8192, 8192, 8192 }, { 256, 256, 8192 }, { 1024, 1024, 1024 }, { 64, 8192, 256 } }
local DRAWS = 240 -- points a space, layout and type
local MANY = 24 -- values of a parameter that not each can have a kernel for
-- What is pinned away in the shipped spaces, with spaces of its own.
local MORE = { "tests/spaces/hopper_scaled.lua", "tests/spaces/hopper_any_scaled.lua" }

-- Names of the shipped spaces that this device runs, and paths of those for golden kernels alone.
local function all_spaces()
  local out = space.list(h200)
  for _, path in ipairs(MORE) do out[#out + 1] = host.root .. "/" .. path end
  return out
end

local loaded = {}
local function space_of(key)
  local name = key:match "^[^:]*"
  for _, one in ipairs(MORE) do
    if one:match "([^/]*)%.lua$" == name then loaded[name] = loaded[name] or space.load(host.root .. "/" .. one) end
  end
  loaded[name] = loaded[name] or space.load(name)
  return loaded[name]
end

-- A probe as a problem; hopper_any wants sizes that TMA cannot have.
local function problem_of(sp, p, layout, dtype, acc)
  local less = sp.name:find "^hopper_any" and 1 or 0
  return { M = p[1] - less, N = p[2] - 2 * less, K = p[3] - 3 * less, layout = layout, dtype = dtype, acc = acc }
end

-- What stands for the value at `row` of a parameter: a text; of one with many values two, its eighth of them and its
-- remainder.
local function value_marks(sp, param, row)
  local words = {}
  for i, name in ipairs(param.names) do words[i] = name .. "=" .. tostring(row[i]) end
  local mark = sp.name .. " " .. table.concat(words, " ")
  if #param.rows <= MANY or not math.tointeger(row[1]) then return { mark } end
  local eighth = (dsl.row_index(param.rows, row) - 1) * 8 // #param.rows + 1
  return { string.format("%s %s: eighth %d", sp.name, param.name, eighth),
           string.format("%s %s %% 64 = %d", sp.name, param.name, row[1] % 64) }
end

-- What a candidate covers: its values, and pairs of them, as texts in declared order; and how many of them
-- are values.
local function marks(sp, cand)
  local values = { sp.name .. " layout=" .. cand.layout, sp.name .. " dtype=" .. cand.dtype, sp.name .. " acc=" .. cand.acc }
  for _, param in ipairs(sp.params) do
    local row = {}
    for i, name in ipairs(param.names) do row[i] = cand[name] end
    for _, mark in ipairs(value_marks(sp, param, row)) do values[#values + 1] = mark end
  end
  local out = table.move(values, 1, #values, 1, {})
  for i = 1, #values do
    for j = i + 1, #values do out[#out + 1] = values[i] .. " & " .. values[j] end
  end
  return out, #values
end

-- visit(b) for each space, types and layout that it has points for, at one probe or another.
local function each_bound(spaces, visit)
  for _, name in ipairs(spaces) do
    local sp, turn = space.load(name), 0
    for _, types in ipairs { { "f16", "f32" }, { "bf16", "f32" }, { "f16", "f16" } } do
      for _, layout in ipairs { "nn", "tn", "nt", "tt" } do
        local p = PROBES[turn % #PROBES + 1]
        local b = space.bind(sp, problem_of(sp, p, layout, types[1], types[2]), h200)
        if #b:seeds() > 0 or b:each()() then visit(b) end -- counting them all takes longer
        turn = turn + 1
      end
      turn = turn + 1 -- other types, other probes
    end
  end
end

-- Points of every space, layout and type, the seeds and some drawn: {key, marks, values}.
local function pool(spaces)
  local out, known = {}, {}
  local function take(b, cand)
    local key = b:key(cand)
    if known[key] then return end
    known[key] = true
    local list, values = marks(b.space, cand)
    out[#out + 1] = { key = key, marks = list, values = values }
  end
  each_bound(spaces, function(b)
    local p = b.problem
    local draw = rng.new(string.format("golden %s %s %s %s", b.space.name, p.dtype, p.acc, p.layout))
    for _, cand in ipairs(b:seeds()) do take(b, cand) end
    for _ = 1, DRAWS do take(b, b:draw(draw)) end
  end)
  return out
end

-- New marks of an entry: a value counts for more than all pairs.
local function gain(entry, covered)
  local sum = 0
  for i, mark in ipairs(entry.marks) do
    if not covered[mark] then sum = sum + (i <= entry.values and 1000 or 1) end
  end
  return sum
end

-- Keys, greedily: the one that covers most first; in the order of spaces at the end. `spaces`: default all.
function kit.choose(spaces)
  local entries, covered, keys = pool(spaces or all_spaces()), {}, {}
  while #keys < kit.count do
    local best, best_gain = nil, -1
    for _, entry in ipairs(entries) do
      local g = not entry.taken and gain(entry, covered) or -1
      if g > best_gain then best, best_gain = entry, g end
    end
    best.taken = true
    keys[#keys + 1] = best.key
    for _, mark in ipairs(best.marks) do covered[mark] = true end
  end
  table.sort(keys)
  return keys
end

function kit.read_keys()
  local keys = {}
  for line in assert(host.read(host.root .. "/" .. kit.keys)):gmatch("[^\n]+") do
    if line:sub(1, 1) ~= "#" then keys[#keys + 1] = line end
  end
  return keys
end

-- Values that no key of the list has, as texts: of every parameter, and each layout and type that a space
-- takes.
function kit.uncovered(keys)
  local has, out = {}, {}
  for _, key in ipairs(keys) do
    local ok, err, _, cand, sp = pcall(function() return space.parse_key(key, space_of(key)) end)
    if not ok then error(fail.text(err) .. ": " .. kit.again, 0) end
    local list, values = marks(sp, cand)
    for i = 1, values do has[list[i]] = true end
  end
  local function want(mark)
    if not has[mark] then out[#out + 1] = mark end
    has[mark] = true
  end
  each_bound(all_spaces(), function(b)
    for _, name in ipairs { "layout", "dtype", "acc" } do want(b.space.name .. " " .. name .. "=" .. b.problem[name]) end
    for _, param in ipairs(b.space.params) do
      for _, row in ipairs(param.rows) do
        for _, mark in ipairs(value_marks(b.space, param, row)) do want(mark) end
      end
    end
  end)
  return out
end

-- The kernel of a key, as of the first problem that lets it be.
function kit.render(key)
  local sp, why = space_of(key), nil
  local _, part, cand = space.parse_key(key, sp)
  for _, p in ipairs(PROBES) do
    local b = space.bind(sp, problem_of(sp, p, part.layout, part.dtype, part.acc), h200)
    local ok, rule = b:check(cand)
    if ok then return emit.render { b = b, cand = cand, full = b:full(cand), key = key } end
    why = rule
  end
  error(string.format("%s: no probe lets it be: rule '%s': %s", key, why, kit.again), 0)
end

-- Rendered kernels of the first of `keys` on, `limit` of them spread over the list, or all.
function kit.kernels(keys, limit, out)
  local list = {}
  local n = math.min(limit or #keys, #keys)
  for i = 0, n - 1 do
    local at = i * #keys // n
    local kernel = kit.render(keys[at + 1])
    emit.write(kernel, outdir.path({ out = out }, "kernels"))
    kernel.number = at -- which families of inputs it gets: some have no beta, and then C is not read
    list[#list + 1] = kernel
  end
  return list
end

-- ------------------------------------------------------------------------------- counters

local FIGURES = { "visits", "wavefronts", "wavefronts_ideal", "sectors", "sectors_ideal", "bytes", "waits" }

-- A counters file of the device -> list of {site = "op number", line, figures = "..."}: a site is named by
-- its instruction and its turn among those, so that a comment moves nothing.
function kit.read_counters(text)
  local columns, turn, out = nil, {}, {}
  for line in text:gmatch("[^\n]+") do
    local cells = {}
    for cell in (line .. "\t"):gmatch("([^\t]*)\t") do cells[#cells + 1] = cell end
    if not columns then
      columns = {}
      for i, name in ipairs(cells) do columns[name] = i end
    else
      local op, figures = cells[columns.op], {}
      turn[op] = (turn[op] or 0) + 1
      for i, name in ipairs(FIGURES) do figures[i] = cells[columns[name]] end
      out[#out + 1] = { site = op .. " " .. turn[op], line = cells[columns.line], figures = table.concat(figures, " ") }
    end
  end
  return out
end

-- Counters as they are committed, or the text of such a file: by kernel {shape, sites in order, by site}.
function kit.read_golden(text)
  local out, at, number = {}, nil, 0
  for line in (text or assert(host.read(host.root .. "/" .. kit.counters))):gmatch("([^\n]*)\n?") do
    number = number + 1
    local stem, shape = line:match("^%[(%S+) (%S+)%]$")
    local site, figures = line:match("^(%S+ %d+)\t([%d ]+)$")
    if stem and not out[stem] then
      at = { shape = shape, sites = {}, by_site = {} }
      out[stem] = at
    elseif site and at and not at.by_site[site] then
      at.sites[#at.sites + 1], at.by_site[site] = site, figures
    elseif line ~= "" and line:sub(1, 1) ~= "#" then
      error(string.format("%s:%d: neither a new kernel nor a new instruction of one: %s", kit.counters, number, kit.again), 0)
    end
  end
  return out
end

-- Keys whose kernels have no counters, and counters whose kernels have no key: lines that got lost.
function kit.unpaired(keys, golden)
  local stems, out = {}, {}
  for _, key in ipairs(keys) do
    local stem = emit.stem(key:match("^[^:]*"), key)
    stems[stem] = true
    if not golden[stem] then out[#out + 1] = string.format("%s: %s has no counters of it", key, kit.counters) end
  end
  for stem in pairs(golden) do
    if not stems[stem] then out[#out + 1] = string.format("%s in %s: %s has no key of it", stem, kit.counters, kit.keys) end
  end
  table.sort(out)
  return out
end

function kit.counters_text(stem, shape, sites)
  local lines = { string.format("[%s %s]", stem, shape) }
  for _, s in ipairs(sites) do lines[#lines + 1] = s.site .. "\t" .. s.figures end
  return table.concat(lines, "\n") .. "\n"
end

kit.head = "# What the CPU device counts for each golden kernel at one shape, by instruction and its turn in the text:\n# "
  .. table.concat(FIGURES, " ") .. "\n"

-- How a site's figures differ: "wavefronts 64, golden 32".
local function differing(have, want)
  local a, b, out = {}, {}, {}
  for v in have:gmatch("%S+") do a[#a + 1] = v end
  for v in want:gmatch("%S+") do b[#b + 1] = v end
  for i, name in ipairs(FIGURES) do
    if a[i] ~= b[i] then out[#out + 1] = string.format("%s %s, golden %s", name, a[i], b[i]) end
  end
  return table.concat(out, ", ")
end

-- What a kernel's counters have against the committed ones: one line, nil when they are equal.
function kit.compare(kernel, shape, sites, golden)
  local g = golden[kernel.stem]
  if not g or g.shape ~= shape then return "no counters for " .. shape .. " in " .. kit.counters .. ": " .. kit.again end
  for i, s in ipairs(sites) do
    local want = g.by_site[s.site]
    local place = cpu.with_places(kernel, "kernel.cu:" .. s.line)
    if not want then return string.format("%s at %s is not in %s: %s", s.site, place, kit.counters, kit.again) end
    if want ~= s.figures then return string.format("%s at %s: %s", s.site, place, differing(s.figures, want)) end
    if g.sites[i] ~= s.site then return string.format("%s stands where %s was: %s", s.site, g.sites[i], kit.again) end
  end
  if #g.sites > #sites then return string.format("%s is gone: %s", g.sites[#sites + 1], kit.again) end
end

-- ------------------------------------------------------------------------------- runs

local SCHEDULES = { 0, 1, 2, 3 }

-- Four families of the five, from the one whose turn it is.
local function families(turn)
  local out = {}
  for i = 0, 3 do out[i + 1] = cpu.families[(turn + i) % #cpu.families + 1] end
  return out
end

-- One kernel's runs. tally {runs, failures, counters, golden}; nil golden: counters are taken, not compared.
function kit.run_kernel(opt, session, kernel, tally)
  local function failed(text)
    tally.failures[#tally.failures + 1] = string.format("golden: %s: %s (KEY='%s')", kernel.stem, text, kernel.key)
  end
  if kernel.cpu.error then return failed(kernel.cpu.error) end
  for i, entry in ipairs(shapes.of(kernel)) do
    local shape = entry[2]
    local path = i == 2 and outdir.path(opt, "counters.tsv") or nil
    local status, answer = cpu.run(opt, session, kernel, {
      shape = shape, schedules = SCHEDULES, families = families(3 * kernel.number + i), counters = path,
      pdl = kernel.launch.pdl and i ~= 2 and 1 or nil, padded = i == 3 })
    tally.runs, tally.ms = tally.runs + #SCHEDULES, tally.ms + (tonumber(answer.ms) or 0)
    if status ~= "ok" then
      return failed(string.format("%s, run %s: %s", shapes.text(shape), answer.run or "?", cpu.why(kernel, status, answer)))
    elseif path then
      local sites = kit.read_counters(assert(host.read(path)))
      tally.counters[kernel.stem] = kit.counters_text(kernel.stem, shapes.text(shape), sites)
      local why = tally.golden and kit.compare(kernel, shapes.text(shape), sites, tally.golden)
      if why then failed(why) end
    end
  end
end

-- Builds and runs `kernels` in folder `dir`, each as soon as it is compiled; the tally, and its line.
function kit.run(dir, kernels, golden)
  local nobody = function() end
  local opt = { out = dir, device = h200, timeout = 120, cpu_worker = program,
                progress = { step = nobody, done = nobody, clear = nobody } }
  local session, started = cpu.session(opt), host.now()
  local tally = { runs = 0, ms = 0.0, failures = {}, counters = {}, golden = golden }
  assert(cpu_build.run(kernels, opt, function(kernel) kit.run_kernel(opt, session, kernel, tally) end), "interrupted")
  session:stop()
  return tally, string.format("golden: %d kernels, %d runs, %.1f s (%.1f s of them on the CPU device)", #kernels,
                              tally.runs, host.now() - started, tally.ms / 1000)
end

-- What a test of golden kernels does: `limit` of them or all, no finding, no counter changed.
function kit.check(dir, limit)
  local named = math.tointeger(tonumber(host.getenv("LIMIT") or ""))
  local tally, line = kit.run(dir, kit.kernels(kit.read_keys(), named or limit, dir), kit.read_golden())
  host.out(line .. "\n")
  kit.refuse(tally)
end

local SHOWN = 20 -- failures that a test shows

function kit.refuse(tally)
  local n = #tally.failures
  if n == 0 then return end
  local more = n > SHOWN and string.format("\n... and %d more", n - SHOWN) or ""
  error(table.concat(tally.failures, "\n", 1, math.min(n, SHOWN)) .. more, 0)
end

return kit
