-- release: the best measured kernels, rendered again, become a folder that needs nvcc alone.
--
-- Per problem the winner is the row with the best ratio without pdl: of each key the newest row
-- counts, and only rows of the newest device and versions compete. The line that an earlier release
-- holds for the problem takes part as its oldest row. Every winner is rendered from its key and
-- compiled; a cubin other than the measured one is refused, since its figures are another kernel's.
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

-- ------------------------------------------------------------------------------- winners

local function problem_name(row)
  return string.format("%d %d %d %s %s %s", row.m or row.M, row.n or row.N, row.k or row.K,
                       row.layout, row.dtype, row.acc)
end

-- All rows of the device that were measured on a GPU, oldest first.
local function history(opt)
  local path = outdir.store(opt)
  if not host.stat(path) then
    fail(string.format("no store at '%s': run `make bench SHAPE=MxNxK` first", outdir.shown(path)))
  end
  local st = store.open(path)
  local rows = st.db:rows("SELECT * FROM rows WHERE backend = 'cuda' AND preset = ? "
                          .. "ORDER BY run, rowid", { opt.device.name })
  st:close()
  return rows
end

local VERSIONS = { "device", "driver", "cuda", "cublas" }

local function same_versions(x, y)
  for _, name in ipairs(VERSIONS) do
    if x[name] ~= y[name] then return false end
  end
  return true
end

-- The best of one problem's rows, oldest first; nil when none is ok.
function release.winner(rows)
  local newest
  for _, row in ipairs(rows) do
    if row.status == "ok" then newest = row end
  end
  if not newest then return nil end
  local by_key, keys = {}, {}
  for _, row in ipairs(rows) do
    if same_versions(row, newest) then
      if not by_key[row.key] then keys[#keys + 1] = row.key end
      by_key[row.key] = row
    end
  end
  local last = {}
  for i, key in ipairs(keys) do last[i] = by_key[key] end
  return rank.sort(last).ranked[1]
end

-- Rows by problem: the old INDEX's line first, then the store's of the problems asked for.
local function gather(old, rows, wanted)
  local by_problem, names = {}, {}
  local function add(row)
    local name = problem_name(row)
    if not by_problem[name] then
      by_problem[name] = {}
      names[#names + 1] = name
    end
    table.insert(by_problem[name], row)
  end
  for _, row in ipairs(old) do add(row) end
  for _, row in ipairs(rows) do
    if not wanted or wanted[problem_name(row)] then add(row) end
  end
  return by_problem, names
end

local function winners(opt, old)
  local wanted
  for _, problem in ipairs(opt.problems or {}) do
    wanted = wanted or {}
    wanted[problem_name(problem)] = true
  end
  local by_problem, names = gather(old, history(opt), wanted)
  for _, problem in ipairs(opt.problems or {}) do
    if not by_problem[problem_name(problem)] then
      host.err(string.format("note: %s: nothing measured on %s\n", rank.title(problem),
                             opt.device.name))
    end
  end
  local list = {}
  for _, name in ipairs(names) do list[#list + 1] = release.winner(by_problem[name]) end
  index.sort(list)
  return list
end

-- ------------------------------------------------------------------------------- keys to kernels

local spaces = {}
local function load_space(name)
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
local function read_key(key)
  local name, fields, count = split(key)
  local base = load_space(name)
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
local function item_of(row, device)
  local problem = { M = row.m, N = row.n, K = row.k, layout = row.layout, dtype = row.dtype,
                    acc = row.acc }
  local sp, cand = read_key(row.key)
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

-- Renders the winners, each key once; rows whose key cannot be rendered are refused.
local function render(state, rows, device)
  local kernels, by_key, kept = {}, {}, {}
  for _, row in ipairs(rows) do
    local ok, kernel = pcall(function() return emit.render(item_of(row, device)) end)
    if not ok and not fail.text(kernel) then error(kernel, 0) end
    local known = ok and by_key[row.key]
    if not ok then
      refuse(state, row, fail.text(kernel))
    elseif known and (known.text ~= kernel.text or known.desc ~= kernel.desc) then
      refuse(state, row, "the kernel depends on the problem's size, which its key does not name")
    else
      if not known then
        by_key[row.key] = kernel
        kernel.cu = string.format("%s/kernels/%s.cu", state.dir, kernel.stem)
        kernels[#kernels + 1] = kernel
      end
      row.kernel = by_key[row.key]
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
                       built.cubin_sha:sub(1, 12), tostring(row.cubin):sub(1, 12), by)
end

local function verify(state, rows, version)
  local kept = {}
  for _, row in ipairs(rows) do
    local why = differs(row, version)
    if why then
      refuse(state, row, why)
    else
      row.stem = row.kernel.stem
      row.cublas_us = math.min(row.cublas_nn_us, row.cublas_tn_us)
      kept[#kept + 1] = row
    end
  end
  return kept
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
  local state = { dir = dir, refused = {} }
  local rows = winners(opt, index.read(dir .. "/INDEX.tsv"))
  if #rows == 0 then
    fail(string.format("nothing to release: '%s' has no kernel measured on %s",
                       outdir.shown(outdir.store(opt)), opt.device.name))
  end
  local kernels, kept = render(state, rows, opt.device)
  local whole, version = build.run(kernels, opt)
  if not whole then return nil end
  state.rows = verify(state, kept, version)
  if #state.rows == 0 then fail("nothing to release: every kernel is refused") end
  state.kernels = kernels_of(state.rows)
  local files = tree.files(state.rows, state.kernels, opt.device)
  state.changed, state.removed = tree.write(dir, files, state.kernels)
  return state
end

return release
