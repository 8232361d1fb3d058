-- diff: two kernels side by side, by key or by file: the parameters that differ, launch, text, what nvcc
-- and the CPU device say of them, and how much faster one is. What is not installed leaves a '-' and a note.

local compile = require "compile"
local build = require "build"
local cpu = require "cpu"
local cpu_build = require "cpu_build"
local emit = require "emit"
local fail = require "fail"
local handmade = require "handmade"
local knobs = require "knobs"
local measure = require "measure"
local outdir = require "outdir"
local pair = require "pair"
local rank = require "rank"
local sass = require "sass"
local select_ = require "select"
local shapes = require "shapes"
local store = require "store"
local tab = require "tab"

local diff = {}

local fmt = string.format

local function note(text)
  host.err("note: " .. text .. "\n")
end

-- ------------------------------------------------------------------------------- the two sides

local function is_key(word)
  return word:find("^[%w_][%w_./-]*:[%w_]+=") ~= nil
end

-- {key, kernel of a file or nil} of a word of the command line.
local function side_of(word)
  if is_key(word) then return { key = word, name = word } end
  local kernel = handmade.read(word)
  return { key = kernel.key, name = outdir.shown(word), kernel = kernel }
end

-- The problem of a side: SHAPE, else the first of `sizes` that its key allows, else one of its own.
local function problem_of(side, opt, sizes)
  local keyed = { key = side.key, device = opt.device, space = opt.space, problems = {} }
  local p = select_.problems(keyed)[1]
  for _, size in ipairs(sizes) do
    local other = { M = size[1], N = size[2], K = size[3], layout = p.layout, dtype = p.dtype, acc = p.acc }
    if opt.shape or pcall(select_.from_key, side.key, other, opt.device, opt.space) then return other end
  end
  return p
end

local function resolve(side, opt, sizes)
  side.problem = problem_of(side, opt, sizes)
  if not side.kernel then
    side.kernel = emit.render(select_.from_key(side.key, side.problem, opt.device, opt.space))
    emit.write(side.kernel, outdir.path(opt, "kernels"))
  end
end

-- Both sides, each with its kernel and a problem; the same sizes where both allow them.
local function sides_of(opt)
  local a, b = side_of(opt.words[1]), side_of(opt.words[2])
  resolve(a, opt, opt.shape or {})
  resolve(b, opt, opt.shape or { { a.problem.M, a.problem.N, a.problem.K } })
  return a, b
end

-- ------------------------------------------------------------------------------- tables

-- Prints rows {name, a, b}; with `differing` only those that differ.
local function section(title, rows, differing)
  local shown = {}
  for _, row in ipairs(rows) do
    if not differing or row[2] ~= row[3] then shown[#shown + 1] = row end
  end
  if #shown == 0 then
    host.out(fmt("\n%s: equal\n", title))
  else
    host.out("\n" .. tab.format(shown, { { title = title, key = 1 }, { title = "a", key = 2, align = "right" },
                                         { title = "b", key = 3, align = "right" } }))
  end
end

-- Two lists of {name, value} as rows, the second's own names behind the first's.
local function merged(a, b)
  local rows, at = {}, {}
  for side, list in ipairs { a, b } do
    for _, item in ipairs(list) do
      local row = at[item[1]]
      if not row then
        row = { item[1], "-", "-" }
        at[item[1]], rows[#rows + 1] = row, row
      end
      row[side + 1] = item[2]
    end
  end
  return rows
end

local function parameters(key)
  local space_name, rest = key:match("^([^:]*):(.*)$")
  local list = { { "space", space_name } }
  for name, value in rest:gmatch("([%w_]+)=([^,]*)") do list[#list + 1] = { name, value } end
  return list
end

-- What a descriptor says of the launch, as texts.
local function launch(l)
  local list = {
    { "block", l.block }, { "smem", l.smem }, { "cluster", l.cluster }, { "grid", l.grid },
    { "tile", table.concat(l.tile, "x") }, { "split_k", l.split_k }, { "ctas_per_sm", l.ctas_per_sm },
    { "pdl", l.pdl }, { "cooperative", l.cooperative }, { "args", table.concat(l.args, " ") },
    { "workspace", l.workspace.bytes },
  }
  for _, t in ipairs(l.tensors) do
    list[#list + 1] = { t.name, fmt("%s box %s swizzle %s l2 %s", t.operand, table.concat(t.box, "x"),
                                    tostring(t.swizzle), tostring(t.l2)) }
  end
  for _, name in ipairs { "m", "n", "k", "ld", "align", "M", "N", "K" } do
    list[#list + 1] = { "legal " .. name, l.legal[name] }
  end
  for _, item in ipairs(list) do item[2] = item[2] == nil and "-" or tostring(item[2]) end
  return list
end

-- ------------------------------------------------------------------------------- text

local function text_difference(a, b)
  local path = compile.find("diff")
  if not path then return note("no program `diff`: the texts are not compared") end
  local pool = host.pool(1)
  pool:submit { argv = { path, "-u", "--label", a.name, "--label", b.name, a.kernel.cu, b.kernel.cu }, timeout = 20,
                env = { "LC_ALL=C" } }
  local ended = pool:wait()
  if not ended or ended.code ~= 0 and ended.code ~= 1 then return note("`diff -u` failed") end
  host.out(ended.code == 0 and "\ntext: equal\n" or "\n" .. ended.output)
end

-- ------------------------------------------------------------------------------- nvcc

local quiet = { step = function() end, done = function() end, clear = function() end }

-- A copy of opt whose builds draw no progress line.
local function silent(opt)
  return setmetatable({ progress = quiet }, { __index = opt })
end

local function figures(kernel)
  local built = kernel.built or {}
  local row = built.error and {} or built
  return { { "registers", row.regs or "-" }, { "stack bytes", row.stack or "-" }, { "spill bytes", row.spills or "-" },
           { "shared memory", kernel.launch.smem } }
end

local function instructions(a, b)
  local rows = {}
  local function add(name)
    local x, y = a and (a[name] or 0) or "-", b and (b[name] or 0) or "-"
    if x ~= 0 and x ~= "-" or y ~= 0 and y ~= "-" then rows[#rows + 1] = { name, x, y } end
  end
  for _, class in ipairs(sass.classes) do add(class[1]) end
  add "other"
  add "total"
  return rows
end

local function count_instructions(opt, nvcc, a, b)
  local tool = sass.tool(nvcc)
  if not tool then return note("neither cuobjdump nor nvdisasm: the instructions are not counted") end
  local counts = {}
  for i, side in ipairs { a, b } do
    local cubin, why = side.kernel.built.cubin, nil
    if cubin then counts[i], why = sass.counts(opt, tool, cubin) end
    if why then note(fmt("%s: %s", side.name, why)) end
  end
  if counts[1] or counts[2] then section("instructions", instructions(counts[1], counts[2])) end
end

local function compiled(opt, a, b)
  local nvcc = build.nvcc(opt)
  if nvcc then
    build.run({ a.kernel, b.kernel }, silent(opt))
    for _, side in ipairs { a, b } do
      local built = side.kernel.built
      if built and built.error then note(fmt("%s: %s", side.name, built.error)) end
    end
  else
    note("no nvcc: registers, spills and instructions are not known")
  end
  section("compiled", merged(figures(a.kernel), figures(b.kernel)))
  if a.kernel.built and b.kernel.built then count_instructions(opt, nvcc, a, b) end
end

-- ------------------------------------------------------------------------------- the CPU device

local COUNTERS = { { "wavefronts", "wavefronts" }, { "wavefronts, ideal", "wavefronts_ideal" },
                   { "global sectors", "global_sectors" }, { "global sectors, ideal", "global_ideal" },
                   { "TMA bytes", "tma_bytes" }, { "flops", "flops" }, { "barrier waits", "barrier_waits" } }

-- May this kernel be run on the shape, in some seconds?
local function allows(kernel, shape)
  local g = shapes.geometry(kernel)
  for i, v in ipairs { shape.M, shape.N, shape.K } do
    if v % g.step[i] ~= 0 or g.baked[i] ~= 0 and g.baked[i] ~= v then return false end
  end
  return shape.M * shape.N * shape.K <= 16 * g.work
end

-- The shapes to count at: one for both, large enough for either, so that the counters compare; where there
-- is none, to each its own.
local function shapes_of(a, b)
  local x, y = shapes.reduce(a.problem, a.kernel), shapes.reduce(b.problem, b.kernel)
  local both = { M = math.max(x.M, y.M), N = math.max(x.N, y.N), K = math.max(x.K, y.K) }
  if allows(a.kernel, both) and allows(b.kernel, both) then return both, both end
  return x, y
end

-- The counters of one run of a side, as items; without, and a note, where it was not right.
local function counted(opt, session, side, shape)
  local list = { { "shape", shapes.text(shape) } }
  if side.kernel.cpu.error then
    note(fmt("%s: %s", side.name, side.kernel.cpu.error))
    return list
  end
  local run = { shape = shape, schedules = { 0 }, families = { "ternary" } }
  local status, answer = cpu.run(opt, session, side.kernel, run)
  if status ~= "ok" then
    note(fmt("%s: on the CPU device: %s", side.name, cpu.why(side.kernel, status, answer)))
    return list
  end
  for _, counter in ipairs(COUNTERS) do list[#list + 1] = { counter[1], answer[counter[2]] or "-" } end
  return list
end

local function on_cpu(opt, a, b)
  local why = cpu.missing(opt)
  if why then return note(why) end
  if not cpu_build.run({ a.kernel, b.kernel }, silent(opt)) then return end
  local session = cpu.session(opt)
  local x, y = shapes_of(a, b)
  section("CPU device", merged(counted(opt, session, a, x), counted(opt, session, b, y)))
  session:stop()
end

-- ------------------------------------------------------------------------------- the ratio

-- The last timed row of a key in each of its runs and problems, as {title = row}, and the titles in order.
local function timed_rows(st, side)
  local rows = st:timed_rows(side.key, host.sha256(side.kernel.text))
  local by, order = {}, {}
  for _, row in ipairs(rows) do
    local id = fmt("%dx%dx%d %d %s", row.m, row.n, row.k, row.run, row.device or "")
    if not by[id] then order[#order + 1] = id end
    if not by[id] or row.pass >= by[id].pass then by[id] = row end
  end
  return by, order
end

local function wanted(row, opt)
  local s = opt.shape and opt.shape[1]
  return not s or row.m == s[1] and row.n == s[2] and row.k == s[3]
end

-- Rows of both in one run of one problem: one process's cuBLAS stands behind both.
local function from_store(opt, a, b)
  local path = outdir.store(opt)
  if not host.stat(path) then return {} end
  local st = store.open(path)
  local ra, order = timed_rows(st, a)
  local rb, out = timed_rows(st, b), {}
  st:close()
  for _, id in ipairs(order) do
    local x, y = ra[id], rb[id]
    local of_backend = not opt.backend or x.backend == opt.backend
    if y and of_backend and x.backend == y.backend and wanted(x, opt) then
      local d, pdl = pair.quotient(x, y, "ratio"), pair.quotient(x, y, "ratio_pdl")
      out[#out + 1] = {
        problem = fmt("%dx%dx%d", x.m, x.n, x.k), device = x.device, run = x.run, a = fmt("%.3f", x.ratio),
        b = fmt("%.3f", y.ratio), ["b / a"] = pair.text(d), ["b / a pdl"] = pdl and pair.text(pdl) or "-",
      }
    end
  end
  return out
end

-- What the store knows, by way of cuBLAS; and where there is a worker, both in turns.
local function ratio(opt, a, b)
  local rows = from_store(opt, a, b)
  if #rows > 0 then
    host.out("\nratio, from the store: of both ratios to cuBLAS\n"
             .. tab.format(rows, { "problem", "device", "run", "a", "b", "b / a", "b / a pdl" }))
  end
  if not opt.backend and not measure.gpu_present() then
    if #rows == 0 then note("no GPU here, and the store has no run that timed both: no ratio") end
    return 0
  end
  if rank.title(a.problem) ~= rank.title(b.problem) then
    note(fmt("a is for %s, b for %s: no ratio is measured", rank.title(a.problem), rank.title(b.problem)))
    return 0
  end
  local chosen = setmetatable({ backend = opt.backend or "cuda" }, { __index = opt })
  host.out("\nratio, measured now; ")
  return handmade.compare(chosen, a.problem, { a.kernel, b.kernel }, { "a", "b" })
end

-- ------------------------------------------------------------------------------- the verb

function diff.run(opt)
  local a, b = sides_of(opt)
  host.out(fmt("a  %s\nb  %s\n", a.name, b.name))
  for i, side in ipairs { a, b } do
    if i == 1 or rank.title(side.problem) ~= rank.title(a.problem) then
      host.out(fmt("at %s\n", rank.title(side.problem)))
    end
  end
  section("parameter", merged(parameters(a.key), parameters(b.key)), true)
  section("launch", merged(launch(a.kernel.launch), launch(b.kernel.launch)), true)
  text_difference(a, b)
  compiled(opt, a, b)
  on_cpu(opt, a, b)
  if host.interrupted() then fail("interrupted") end
  return ratio(opt, a, b)
end

-- The words of the command line: two keys or files, then knobs.
function diff.main(argv)
  local words, rest = {}, {}
  for _, word in ipairs(argv) do
    local knob = word:find("^[%u_]+=") and not is_key(word)
    table.insert(knob and rest or words, word)
  end
  if #words ~= 2 then fail.usage(fmt("diff wants two kernels, each a key or a .cu file, and got %d", #words)) end
  local opt = knobs.parse("diff", rest)
  opt.words = words
  return diff.run(opt)
end

return diff
