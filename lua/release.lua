-- release: the best measured kernels, rendered again, become a folder that needs nvcc alone.
--
-- Per problem the results are tried from the best to the worst until one is released: what only raced is not
-- among them, nor what was timed by another clock. A row's kernel is rendered from its key and compiled; a cubin
-- other than the measured one is refused, since its figures are another kernel's. The line that an earlier
-- release holds for the problem takes part as its oldest row, and is always tried before the problem is given up.
-- Problems that are not asked for keep their lines, under the same conditions.

local build = require "build"
local dsl = require "dsl"
local emit = require "emit"
local fail = require "fail"
local index = require "release_index"
local outdir = require "outdir"
local rank = require "rank"
local space = require "space"
local store = require "store"
local tree = require "release_tree"

local release = {}

local TRIES = 8 -- rows of a problem, beside its old line: each may be a compilation

-- ------------------------------------------------------------------------------- rows

local function problem_name(row)
  return string.format("%d %d %d %s %s %s", row.m or row.M, row.n or row.N, row.k or row.K,
                       row.layout, row.dtype, row.acc)
end

local function read_rows(path, opt)
  local st = store.reader(path)
  local rows = st:history { backend = "cuda", preset = opt.device.name }
  st:close()
  return rows
end

-- All rows of the device that were measured on a GPU, oldest first, that are results or failures, without those
-- that are odd.
local function history(opt)
  local path = outdir.store(opt)
  if not host.stat(path) then
    fail(string.format("no store at '%s': run `make bench SHAPE=MxNxK` first", outdir.shown(path)))
  end
  local rows, odd, first = {}, 0, nil
  for _, row in ipairs(read_rows(path, opt)) do
    local flaw = index.flaw(row)
    if flaw then
      odd, first = odd + 1, first or string.format("row %d: %s", row.id, flaw)
    elseif row.status ~= "ok" or rank.is_result(row) then
      rows[#rows + 1] = row
    end
  end
  if odd > 0 then
    host.err(string.format("note: the store '%s' has odd rows, %d skipped; the first is %s\n",
                           outdir.shown(path), odd, first))
  end
  return rows
end

local VERSIONS = { "device", "driver", "cuda", "cublas" }

local function same_versions(x, y)
  for _, name in ipairs(VERSIONS) do
    if x[name] ~= y[name] then return false end
  end
  return true
end

-- Of each key measured with the versions of `newest` the row that counts, `rows` being oldest first:
-- the newest of its last pass, or a failure since. A `same` row has no figures, its twin has them.
local function last_rows(rows, newest)
  local by_key, keys, last = {}, {}, {}
  for _, row in ipairs(rows) do
    if row.status ~= "same" and same_versions(row, newest) then
      local old = by_key[row.key]
      if not old then keys[#keys + 1] = row.key end
      if not old or row.status ~= "ok" or row.pass >= old.pass then by_key[row.key] = row end
    end
  end
  for i, key in ipairs(keys) do last[i] = by_key[key] end
  return last
end

-- Two rows of one problem that agree in it are released or refused alike.
local function identity(row)
  return row.key .. "\0" .. tostring(row.cubin)
end

-- The rows of one problem, oldest first, in the order in which they are to be tried: the best of the
-- newest versions first; what these hide (older versions, an older cubin of a key) behind them. A
-- key that failed last is out.
function release.candidates(rows)
  local out, seen, failed = {}, {}, {}
  while true do
    local left, newest = {}, nil
    for _, row in ipairs(rows) do
      if not seen[identity(row)] and not failed[row.key] then
        left[#left + 1] = row
        if row.status == "ok" then newest = row end
      end
    end
    if not newest then return out end
    local sorted = rank.sort(last_rows(left, newest))
    for _, row in ipairs(sorted.ranked) do
      out[#out + 1], seen[identity(row)] = row, true
    end
    for _, row in ipairs(sorted.failed) do failed[row.key] = true end
    rows = left
  end
end

-- ------------------------------------------------------------------------------- problems

-- {old = the old INDEX's line or nil, rows: that line, then the store's} of each problem.
local function gather(old, rows)
  local by_name, list = {}, {}
  local function add(row, field)
    local name = problem_name(row)
    local group = by_name[name]
    if not group then
      group = { name = name, rows = {} }
      by_name[name], list[#list + 1] = group, group
    end
    if field then group[field] = row end
    table.insert(group.rows, row)
  end
  for _, row in ipairs(old) do add(row, "old") end
  for _, row in ipairs(rows) do add(row) end
  return list
end

-- What is tried for a group: TRIES rows and the old line, which comes first unless the problem is
-- asked for.
local function tries_of(group, asked)
  local old, list, out = group.old, release.candidates(group.rows), {}
  if old and not asked then out[1] = old end
  for i, row in ipairs(list) do
    local is_old = old and identity(row) == identity(old)
    if (i <= TRIES or is_old) and not (is_old and not asked) then out[#out + 1] = row end
  end
  return out
end

-- {tries = rows, at = how many were tried, old} of every problem that the release is about.
local function plan(opt, old)
  local wanted, planned, plans = nil, {}, {}
  for _, problem in ipairs(opt.problems or {}) do
    wanted = wanted or {}
    wanted[problem_name(problem)] = true
  end
  for _, group in ipairs(gather(old, history(opt))) do
    local asked = not wanted or wanted[group.name]
    local tries = (asked or group.old) and tries_of(group, asked) or {}
    if #tries > 0 or group.old then
      plans[#plans + 1] = { tries = tries, at = 0, old = group.old }
      planned[group.name] = true
    end
  end
  for _, problem in ipairs(opt.problems or {}) do
    if not planned[problem_name(problem)] then
      host.err(string.format("note: %s: nothing measured on %s\n", rank.title(problem),
                             opt.device.name))
    end
  end
  return plans
end

-- ------------------------------------------------------------------------------- keys to kernels

-- Spaces of the files that SPACE names, by the name a key has for them.
local function own_spaces(opt)
  local own = {}
  for _, path in ipairs(opt.space or {}) do
    local stem = path:match("([^/]+)%.lua$")
    if not stem then
      fail.usage(string.format("SPACE '%s': a release wants files of your own, like my/mine.lua", path))
    end
    if own[stem] then fail.usage(string.format("SPACE has two files for the space '%s'", stem)) end
    own[stem] = space.load(path)
  end
  return own
end

-- The space that a key names: from `spaces`, which remembers, or a shipped one.
local function load_space(spaces, name)
  if not spaces[name] and not host.stat(host.root .. "/spaces/" .. name .. ".lua") then
    fail(string.format("no space '%s': say SPACE=folder/%s.lua if it is your own", name, name))
  end
  spaces[name] = spaces[name] or space.load(name)
  return spaces[name]
end

-- The words of a key: name of the space, fields by name, how many.
local function split(key)
  local name, rest = key:match("^([%w_][%w_.-]*):(.*)$")
  if not name then fail(string.format("key '%s' is not of the form space:name=value,...", key)) end
  local fields, count = {}, 0
  for field, value in rest:gmatch("([%a_][%w_]*)=([%w_.+-]+)") do
    fields[field], count = value, count + 1
  end
  return name, fields, count
end

-- A parameter's values as the key has them, in the types of its domain; nil where one is missing.
local function row_of(param, fields)
  local row = {}
  for i, name in ipairs(param.names) do
    local text = fields[name]
    row[i] = text and math.type(param.rows[1][i]) == "integer" and math.tointeger(tonumber(text))
             or text
    if row[i] == nil or math.type(row[i]) ~= math.type(param.rows[1][i]) then return nil end
  end
  return row
end

-- The parameter with `row` among its values: a search may have found one that the space lacks.
local function widened(param, row)
  for _, known in ipairs(param.rows) do
    if dsl.same_row(known, row) then return param end
  end
  local copy = {}
  for k, v in pairs(param) do copy[k] = v end -- order does not matter: a copy
  copy.rows = table.move(param.rows, 1, #param.rows, 1, {})
  copy.rows[#copy.rows + 1] = row
  return copy
end

-- key -> the space whose domains hold it, and the candidate.
local function read_key(key, spaces)
  local name, fields, count = split(key)
  local base = load_space(spaces, name)
  local sp, cand, used = {}, {}, 3 -- layout, dtype, acc
  for k, v in pairs(base) do sp[k] = v end -- order does not matter: a copy
  sp.params = {}
  for i, param in ipairs(base.params) do
    local row = row_of(param, fields)
    if not row then
      fail(string.format("space '%s' has '%s', the key does not", name, param.name))
    end
    sp.params[i] = widened(param, row)
    for j, field in ipairs(param.names) do cand[field], used = row[j], used + 1 end
  end
  if used ~= count then fail(string.format("space '%s' has no longer all names of the key", name)) end
  return sp, cand
end

-- A row's key, for the row's problem, as an item for emit.
local function item_of(row, device, spaces)
  local problem = { M = row.m, N = row.n, K = row.k, layout = row.layout, dtype = row.dtype,
                    acc = row.acc }
  local sp, cand = read_key(row.key, spaces)
  local b = space.bind(sp, problem, device)
  local ok, rule, why = b:check(cand)
  if not ok then fail(string.format("the key breaks '%s': %s", rule, why)) end
  if b:key(cand) ~= row.key then
    fail(string.format("space '%s' writes the key otherwise: '%s'", sp.name, b:key(cand)))
  end
  return { b = b, cand = cand, full = b:full(cand), key = row.key }
end

-- ------------------------------------------------------------------------------- a release

local function refuse(state, row, why)
  state.refused[#state.refused + 1] = row
  host.err(string.format("refused: %s: %s (KEY='%s')\n", index.title(row), why, row.key))
end

-- The next row of every plan that has no kernel yet, by problem.
local function next_rows(state)
  local rows = {}
  for _, p in ipairs(state.plans) do
    local row = not p.done and p.tries[p.at + 1]
    if row then
      p.at = p.at + 1
      row.plan = p
      rows[#rows + 1] = row
    end
  end
  index.sort(rows)
  return rows
end

-- Renders the rows' kernels; rows whose key cannot be rendered are refused. Returns the kernels that
-- no round before this one had, and the rows that are left.
local function render(state, rows, device)
  local kernels, kept = {}, {}
  for _, row in ipairs(rows) do
    local ok, kernel = pcall(function() return emit.render(item_of(row, device, state.spaces)) end)
    if not ok and not fail.text(kernel) then error(kernel, 0) end
    local known = ok and state.by_key[row.key]
    if not ok then
      refuse(state, row, fail.text(kernel))
    elseif known and (known.text ~= kernel.text or known.desc ~= kernel.desc) then
      refuse(state, row, "the kernel depends on the problem's size, which its key does not name")
    else
      if not known then
        state.by_key[row.key] = kernel
        kernel.cu = string.format("%s/kernels/%s.cu", state.dir, kernel.stem)
        kernels[#kernels + 1] = kernel
      end
      row.kernel = state.by_key[row.key]
      kept[#kept + 1] = row
    end
  end
  return kernels, kept
end

-- Why a compiled winner is not what was measured, nil when it is.
local function differs(row, version)
  local built = row.kernel.built
  if built.error then return built.error end
  if built.cubin_sha == row.cubin then return nil end
  local by = row.nvcc == version and "" or string.format(" (measured with nvcc %s, this is %s)",
                                                          row.nvcc, version)
  return string.format("its cubin %s is not the measured %s%s: run `make bench` again",
                       built.cubin_sha:sub(1, 12), row.cubin:sub(1, 12), by)
end

local function verify(state, rows)
  for _, row in ipairs(rows) do
    local why = differs(row, state.version)
    if why then
      refuse(state, row, why)
    else
      row.plan.done = true
      row.stem = row.kernel.stem
      row.cublas_us = math.min(row.cublas_nn_us, row.cublas_tn_us)
      state.rows[#state.rows + 1] = row
    end
  end
end

-- One row more of every problem that is without a kernel; false when the user interrupted.
local function round(state, rows, opt)
  local kernels, kept = render(state, rows, opt.device)
  if #kernels > 0 then
    local whole, version = build.run(kernels, opt)
    if not whole then return false end
    state.version = version
  end
  verify(state, kept)
  return true
end

-- Names the problems that no row could serve.
local function name_losses(state)
  for _, p in ipairs(state.plans) do
    local row = p.tries[1] or p.old
    if not p.done and p.at == 0 then
      refuse(state, row, "it failed when it was measured last")
    elseif not p.done then
      host.err(string.format("left out: %s: %s refused\n", index.title(row),
                             p.at == 1 and "its one kernel is" or "all " .. p.at .. " kernels tried are"))
    end
  end
end

-- The kernels of `rows`, each once, by name.
local function kernels_of(rows)
  local list, seen = {}, {}
  for _, row in ipairs(rows) do
    if not seen[row.kernel] then list[#list + 1] = row.kernel end
    seen[row.kernel] = true
  end
  table.sort(list, function(x, y) return x.stem < y.stem end)
  return list
end

-- Makes out/release/<device>/. Returns {dir, rows, kernels, refused, changed, removed}; nil when the
-- user interrupted, and then nothing was written.
function release.run(opt)
  build.need_nvcc(opt)
  local dir = outdir.path(opt, "release") .. "/" .. opt.device.name
  local state = { dir = dir, spaces = own_spaces(opt), by_key = {}, rows = {}, refused = {} }
  state.plans = plan(opt, index.read(dir .. "/INDEX.tsv"))
  if #state.plans == 0 then
    fail(string.format("nothing to release: '%s' has no kernel measured on %s",
                       outdir.shown(outdir.store(opt)), opt.device.name))
  end
  local rows = next_rows(state)
  while #rows > 0 do
    if not round(state, rows, opt) then return nil end
    rows = next_rows(state)
  end
  name_losses(state)
  if #state.rows == 0 then fail("nothing to release: every kernel is refused") end
  index.sort(state.rows)
  state.kernels = kernels_of(state.rows)
  local files = tree.files(state.rows, state.kernels, opt.device, state.version)
  state.changed, state.removed = tree.write(dir, files, state.kernels)
  return state
end

return release
