-- knobs: NAME=value words of the command line -> opt, the one table a verb gets. Its fields are the
-- knobs in lower case, checked and with their defaults; opt.given says which the user set. A knob
-- that does not exist, or that the verb does not read, is refused: an ignored knob misleads.
-- An empty value counts as not given, so that a Makefile can pass all of them.

local device = require "device"
local duration = require "duration"
local fail = require "fail"

local knobs = {}

local fmt = string.format

local MAX_DIM = 0x40000000 -- kernels add a tile to a dimension in int32; products of two fit into int64

-- Readers: text -> value; they refuse with fail.usage.

local function word_of(list)
  return function(text, name)
    for _, known in ipairs(list) do
      if text == known then return text end
    end
    fail.usage(fmt("%s '%s' is none of %s%s", name, text, table.concat(list, ", "), fail.near(text, list)))
  end
end

local function split(text, name)
  local out = {}
  for item in (text .. ","):gmatch("([^,]*),") do
    if item == "" then fail.usage(fmt("%s '%s' has an empty item", name, text)) end
    for _, known in ipairs(out) do
      if known == item then fail.usage(fmt("%s '%s' has '%s' twice", name, text, item)) end
    end
    out[#out + 1] = item
  end
  return out
end

local function words_of(list)
  local one = word_of(list)
  return function(text, name)
    local out = split(text, name)
    for i, item in ipairs(out) do out[i] = one(item, name) end
    return out
  end
end

local function whole(low, high)
  return function(text, name)
    local n = text:find("^%d+$") and math.tointeger(tonumber(text))
    if not n or n < low or n > high then
      fail.usage(fmt("%s '%s' is not a number from %d to %d", name, text, low, high))
    end
    return n
  end
end

local function switch(text, name)
  if text ~= "0" and text ~= "1" then fail.usage(fmt("%s '%s' is neither 0 nor 1", name, text)) end
  return text == "1"
end

local function seconds(text, name)
  return duration.seconds(text) or fail.usage(fmt("%s '%s' is not %s", name, text, duration.form))
end

-- Paths go to programs line by line, in cells that tabs part.
local function plain(text, name)
  if not text:find("%c") then return text end
  fail.usage(fmt("%s '%s' has a control character", name, (text:gsub("%c", "?"))))
end

local function run_name(text, name)
  if text:find("^[%w_][%w_.-]*$") then return text end
  fail.usage(fmt("%s '%s' is not a name of letters, digits, '_', '.', '-'", name, text))
end

local function shape(text)
  local dims = {}
  for digits in text:gmatch("[^x]+") do
    local n = digits:find("^%d+$") and #digits <= 10 and math.tointeger(tonumber(digits))
    if not n or n < 1 or n > MAX_DIM then return nil end
    dims[#dims + 1] = n
  end
  if #dims ~= 3 or not text:find("^%d+x%d+x%d+$") then return nil end
  return dims
end

local SHAPE_TEXT = fmt("wants MxNxK, each a number from 1 to %d", MAX_DIM)

local function one_shape(text, name)
  return { shape(text) or fail.usage(fmt("%s '%s': %s", name, text, SHAPE_TEXT)) }
end

-- The lines of a file of `what` that say something, as {number, text}; '#' starts a comment.
local function lines_of(path, what)
  local text, err = host.read(path)
  if not text then fail.usage(err) end
  local list, number = {}, 0
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    number = number + 1
    local item = line:gsub("#.*", ""):match("^%s*(.-)%s*$")
    if item ~= "" then list[#list + 1] = { number, item } end
  end
  if #list == 0 then fail.usage(fmt("%s:1: no %s in the file", path, what)) end
  return list
end

local function shape_at(path, number, text)
  return shape(text) or fail.usage(fmt("%s:%d: '%s': %s", path, number, text, SHAPE_TEXT))
end

-- A file of lines MxNxK. One that stands twice is taken once.
local function shapes_file(path)
  local list, seen, again = {}, {}, 0
  for _, line in ipairs(lines_of(path, "shapes")) do
    local dims = shape_at(path, line[1], line[2])
    local name = table.concat(dims, "x")
    if seen[name] then again = again + 1 else list[#list + 1] = dims end
    seen[name] = true
  end
  if again > 0 then
    host.err(fmt("note: %s: %d line%s a shape again, each is taken once\n", path, again,
                 again == 1 and " has" or "s have"))
  end
  return list
end

-- A file of lines KEY or MxNxK KEY: {path, lines = {{line, key, dims}...}}. What keys say is select.lua's part.
local function keys_file(path)
  local lines = {}
  for i, line in ipairs(lines_of(path, "keys")) do
    local size, key = line[2]:match("^(%S+)%s+(.*)$")
    lines[i] = { line = line[1], key = key or line[2], dims = size and shape_at(path, line[1], size) }
  end
  return { path = path, lines = lines }
end

-- The knobs in the order help shows them: name, reader, what it says.
local KNOBS = {
  { "SHAPE", one_shape, "MxNxK of the problem" },
  { "SHAPES", shapes_file, "file of lines MxNxK instead" },
  { "LAYOUT", words_of { "nn", "tn", "nt", "tt" }, "nn, tn, nt, tt or a list (default nn,tn)" },
  { "DTYPE", word_of { "f16", "bf16" }, "f16 or bf16 (default f16)" },
  { "ACC", word_of { "f32", "f16" }, "accumulation, f32 or f16 (default f32)" },
  { "SPACE", split, "spaces or their files, a list (default all that the device runs)" },
  { "FLAT", switch, "1: the effective spec as one file, with the origin of each statement" },
  { "DEVICE", device.get, "preset of a GPU (default the one present, else h200)" },
  { "BACKEND", word_of { "cuda", "cpu", "fake" },
    "cuda; cpu: verified without a GPU, no times; fake: invented figures (default cuda where a GPU is, else cpu)" },
  { "OPTIONS", words_of { "gemmex", "lt", "autotune", "exhaustive" },
    "gemmex,lt,autotune,exhaustive: what of NVIDIA's libraries (default gemmex,lt)" },
  { "SWEEP", seconds, "how long exhaustive looks for algorithms, a problem and layout (default 20s)" },
  { "KEY", plain, "one candidate by its key" },
  { "KEYS", keys_file, "file of the candidates, lines KEY, or MxNxK KEY for that problem alone" },
  { "KERNEL", plain, "an emitted .cu (its .json beside it), or a space's file" },
  { "FRESH", switch, "1: measure again what the store has" },
  { "N", whole(1, 1000000), "candidates per problem" },
  { "JOBS", whole(1, 4096), "processes at a time (default one per CPU)" },
  { "BUDGET", seconds, "time to spend: 60s, 30m, 2h" },
  { "SEED", whole(0, 0x7fffffff), "seed of a search (default 1)" },
  { "SCHEDULES", whole(1, 1000), "orders of threads and copies that a shape is run in (default 4)" },
  { "CHECK", switch, "0: launch kernels of edited specs without a check on the CPU device" },
  { "SANITIZE", switch, "1: compute-sanitizer's tools on the winner, those that work here" },
  { "CLOCKS", words_of { "hot", "chain", "call", "server", "server-graph" },
    "the winner by other clocks too: hot, chain, call, server, server-graph or a list" },
  { "PROCESSES", whole(1, 16), "fresh worker processes that measure the finalists (default 3)" },
  { "FINALISTS", whole(1, 16), "kernels that the finals measure (default 3)" },
  { "BLOCKS", whole(4, 256), "paired blocks of a finalist in each of these processes (default 32)" },
  { "BASELINES", word_of { "all", "gemmex" },
    "what the finalists are measured beside: gemmex alone, or all, with the best of NVIDIA's libraries (default all)" },
  { "MUTATOR", word_of { "random", "llm" }, "what edits the spec: random or llm (default random)" },
  { "RUN", run_name, "name of a search, its folder under out/search" },
  { "TIMEOUT", seconds, "limit of one compilation or job" },
  { "LINES", switch, "1: kernels tell the compiler the template's lines (#line)" },
  { "OUT", plain, "folder of kernels/, cache/, store.db (default out)" },
  { "STORE", plain, "database of measurements (default store.db under OUT)" },
  { "NVCC", plain, "compiler" },
  { "WORKER", plain, "bench worker program" },
}

local PROBLEM = "SHAPE SHAPES LAYOUT DTYPE ACC"

-- What each verb reads; `problem` where it cannot do without SHAPE, SHAPES or (key, kernel) a KEY or KERNEL.
-- A knob by its name is what help says of it for this verb.
local VERBS = {
  gen = { problem = true, key = true, knobs = PROBLEM .. " SPACE DEVICE KEY N LINES OUT NVCC TIMEOUT JOBS" },
  build = { problem = true, key = true, knobs = PROBLEM .. " SPACE DEVICE KEY N JOBS LINES OUT NVCC TIMEOUT" },
  check = { knobs = "SHAPE LAYOUT DTYPE ACC SPACE DEVICE KEY KERNEL N JOBS SEED SCHEDULES TIMEOUT OUT",
    SHAPE = "MxNxK to stand for (default: one tile, an odd number of tiles, a clipped shape)",
    N = "kernels of a space's file (default 4, and the first that is refused ends it)",
    SEED = "seed of the inputs (default 1)" },
  bench = { problem = true, kernel = true,
    knobs = PROBLEM
      .. " SPACE DEVICE BACKEND KEY KEYS KERNEL N JOBS BUDGET FRESH PROCESSES FINALISTS BLOCKS BASELINES CHECK "
      .. "SANITIZE CLOCKS TIMEOUT OUT STORE NVCC WORKER",
    SHAPES = "file of lines MxNxK instead: a campaign, whose next call goes on where BUDGET stopped one",
    KERNEL = "an emitted .cu that you changed, its .json beside it: timed beside what its key gives",
    CHECK = "0: time that .cu without a check on the CPU device",
    FRESH = "1: of a campaign, measure again what the store has" },
  diff = { knobs = "SHAPE SPACE DEVICE BACKEND JOBS TIMEOUT OUT STORE NVCC WORKER",
    SHAPE = "MxNxK that they are counted and compared at (default one that their keys allow)",
    BACKEND = "cuda; fake: invented figures (default cuda where a GPU is, else the store's alone)" },
  search = { problem = true,
    knobs = PROBLEM .. " SPACE DEVICE BACKEND N JOBS BUDGET PROCESSES BASELINES SEED MUTATOR RUN CHECK TIMEOUT OUT "
      .. "STORE NVCC WORKER",
    BACKEND = "cuda; fake: invented figures, to see the loop without a GPU",
    SHAPE = "MxNxK of the one problem", LAYOUT = "nn, tn, nt or tt (default tn)",
    N = "candidates a generation (default 8)",
    SPACE = "one space, or its file (default that of the most promising candidate)",
    BUDGET = "time to spend: 60s (the default), 30m, 2h" },
  baseline = { knobs = "SHAPE SHAPES DTYPE ACC DEVICE BACKEND OPTIONS SWEEP N SEED BUDGET FRESH OUT STORE NVCC WORKER",
    SHAPES = "file of lines MxNxK; without a problem the store's table is shown",
    BACKEND = "cuda (the default); fake: invented figures, to see the flow without a GPU",
    N = "a sample of so many problems of the file", SEED = "of the sample (default 1)",
    BUDGET = "time to spend: 60s, 30m, 2h; the same command goes on" },
  rank = { knobs = PROBLEM .. " SPACE DEVICE BACKEND N OUT STORE" },
  store = { knobs = "BACKEND OUT STORE", read = { BACKEND = word_of { "cuda", "cpu", "fake", "nvidia" } },
    BACKEND = "export: rows of this one alone: cuda, cpu, fake; nvidia: those of the libraries" },
  release = { knobs = PROBLEM .. " SPACE DEVICE JOBS TIMEOUT OUT STORE NVCC",
    SPACE = "files of your own spaces that keys name, like my/mine.lua" },
  ["bench-gen"] = { knobs = "SPACE DEVICE N", N = "kernels to render (default 10000)" },
  ["fake-worker"] = { knobs = "" },
  space = { knobs = "SPACE FLAT" },
  devices = { knobs = "" },
  count = { problem = true, knobs = PROBLEM .. " SPACE DEVICE" },
  sample = { problem = true, knobs = PROBLEM .. " SPACE DEVICE N SEED",
    N = "keys for each space and problem (default 10)", SEED = "seed of the draw (default 1)" },
  neighbours = { problem = true, knobs = PROBLEM .. " SPACE DEVICE KEY N",
    N = "parameters that may differ (default 1)" },
  explain = { problem = true, knobs = PROBLEM .. " SPACE DEVICE KEY" },
}

local by_name, names = {}, {}
for i, knob in ipairs(KNOBS) do
  by_name[knob[1]], names[i] = knob, knob[1]
end

function knobs.reads(verb, name)
  return (" " .. (VERBS[verb] or { knobs = "" }).knobs .. " "):find(" " .. name .. " ", 1, true) ~= nil
end

-- {name, text} of the knobs a verb reads, in the order of help.
function knobs.of(verb)
  local reads, out, own = {}, {}, VERBS[verb] or VERBS["fake-worker"]
  for name in own.knobs:gmatch("%S+") do reads[name] = true end
  for _, knob in ipairs(KNOBS) do
    if reads[knob[1]] then out[#out + 1] = { knob[1], own[knob[1]] or knob[3] } end
  end
  return out
end

-- NAME=value words -> {NAME = value text}.
local function read_words(verb, argv)
  local texts, reads = {}, {}
  for _, knob in ipairs(knobs.of(verb)) do reads[knob[1]] = true end
  for _, word in ipairs(argv) do
    local name, value = word:match("^([%w_]+)=(.*)$")
    if not name then fail.usage(fmt("'%s' is not of the form NAME=value", word)) end
    if not by_name[name] then fail.usage(fmt("unknown knob '%s'%s", name, fail.near(name, names))) end
    if not reads[name] then fail.usage(fmt("verb '%s' does not read the knob '%s'", verb, name)) end
    if texts[name] then fail.usage(fmt("knob '%s' stands twice", name)) end
    if value ~= "" then texts[name] = value end
  end
  return texts
end

-- The GPU present, else h200. One without a preset cannot be measured on unless the user says what it
-- is like; text can be made for the h200 all the same.
local function default_device(verb, backend)
  local preset, title = device.present()
  if preset or not title then return preset or device.get("h200") end
  local measures = (verb == "bench" or verb == "search" or verb == "baseline") and (backend or "cuda") == "cuda"
  local text = fmt("no preset for this machine's '%s': say DEVICE=%s", title,
    table.concat(device.names(), "|"))
  if measures then fail.usage(text) end
  if knobs.reads(verb, "DEVICE") then host.err("note: " .. text .. "; h200 until then\n") end
  return device.get("h200")
end

-- LAYOUT, DTYPE and ACC as a key has them; what the user also said must agree.
local function take_key(opt)
  for name in ("layout dtype acc"):gmatch("%S+") do
    local value = opt.key:match("[:,]" .. name .. "=([%w]+)")
    local said = name == "layout" and opt.layout and table.concat(opt.layout, ",") or opt[name]
    if value and said and said ~= value then
      fail.usage(fmt("%s=%s, and the key has %s=%s", name:upper(), said, name, value))
    end
    if value then opt[name] = name == "layout" and { value } or value end
  end
end

-- Knobs that answer the same question.
local EXCLUDE = { { "SHAPE", "SHAPES" }, { "KEYS", "KEY" }, { "KEYS", "KERNEL" }, { "KEYS", "N" } }

local function check_excluded(given)
  for _, two in ipairs(EXCLUDE) do
    if given[two[1]] and given[two[2]] then fail.usage(fmt("%s and %s exclude each other", two[1], two[2])) end
  end
end

local function problems(opt)
  local list = {}
  for _, dims in ipairs(opt.shape or opt.shapes or {}) do
    for _, layout in ipairs(opt.layout) do
      list[#list + 1] = { M = dims[1], N = dims[2], K = dims[3], layout = layout, dtype = opt.dtype,
        acc = opt.acc }
    end
  end
  return list
end

-- opt of a verb: fields as above; opt.problems lists {M, N, K, layout, dtype, acc}, shapes in their
-- order, the layouts of each beside each other.
function knobs.parse(verb, argv)
  local texts, opt = read_words(verb, argv), { verb = verb, given = {} }
  for _, knob in ipairs(KNOBS) do
    local name, read = knob[1], knob[2]
    if texts[name] then
      read = (VERBS[verb].read or {})[name] or read
      opt[name:lower()], opt.given[name] = read(texts[name], name), true
    end
  end
  check_excluded(opt.given)
  if opt.key then take_key(opt) end
  opt.layout = opt.layout or { "nn", "tn" }
  opt.dtype, opt.acc = opt.dtype or "f16", opt.acc or "f32"
  if opt.dtype == "bf16" and opt.acc == "f16" then
    fail.usage("bf16 with f16 accumulation does not exist on tensor cores")
  end
  opt.device = opt.device or default_device(verb, opt.backend)
  opt.problems = problems(opt)
  local needs = VERBS[verb] or {}
  local other = needs.key and opt.key or needs.kernel and opt.kernel
  if needs.problem and #opt.problems == 0 and not other then
    fail.usage(fmt("verb '%s' wants SHAPE=MxNxK or SHAPES=file", verb))
  end
  return opt
end

return knobs
