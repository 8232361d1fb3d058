-- main: the verbs of loom. `loom VERB NAME=value...`; the table below is the program's contents and
-- its help. Returns the exit code: 0 done, 1 refused or failed, 2 wrong usage. What a user got
-- wrong is one line on stderr; a fault of our own goes on to the C host with its traceback.

require "strict"

local fail = require "fail"
local knobs = require "knobs"

-- Verb, module that carries it, what it does; modules are read when a verb is used.
local VERBS = {
  { "gen", "verbs_flow", "write the CUDA kernels of the most promising candidates" },
  { "build", "verbs_flow", "gen, then compile them" },
  { "check", "verbs_check", "may these kernels be launched: static rules, then runs on the CPU device",
    usage = "KEY|FILE NAME=value..." },
  { "bench", "verbs_flow", "build, then verify and time each against cuBLAS; or time a changed .cu beside its origin",
    usage = "[FILE.cu] NAME=value..." },
  { "diff", "diff", "two kernels side by side: parameters, text, registers, instructions, ratio",
    usage = "KEY|FILE.cu KEY|FILE.cu NAME=value..." },
  { "search", "verbs_search", "edit a space towards what is fast, by measuring" },
  { "baseline", "verbs_baseline", "what NVIDIA's libraries take on each problem, option by option" },
  { "rank", "verbs_flow", "the measurements so far, best first" },
  { "store", "verbs_store", "measurements of other machines joined to these, written as text, checked",
    usage = "merge FILE... | export FILE | import FILE | verify  NAME=value..." },
  { "release", "verbs_release", "the best measured kernels as a library of their own" },
  { "bench-gen", "bench_gen", "how fast candidates are counted, drawn and rendered" },
  { "space", "verbs_space", "print a space: statements and where they stand; FLAT=1: all of it as one file" },
  { "devices", "verbs_space", "the presets of GPUs: every figure and where it comes from" },
  { "count", "verbs_points", "how many points a space has for a problem, and which rule removes how many" },
  { "sample", "verbs_points", "keys drawn from a space, every valid point as likely as the other" },
  { "explain", "verbs_points", "every rule of one candidate with its numbers filled in" },
  { "neighbours", "verbs_points", "keys of the valid points next to one candidate" },
  { "edit", "verbs_edit", "change a space file as text, or show a statement of it", usage = "FILE OP ..." },
  { "test", "testing", "run test files", usage = "FILE..." },
  { "fake-worker", "verbs_flow", "a bench worker without a GPU, for tests" },
  { "help", "main", "this list, or the knobs of a verb", usage = "[VERB]" },
}

local by_name, names = {}, {}
for i, verb in ipairs(VERBS) do
  by_name[verb[1]], names[i] = verb, verb[1]
end

local function find(name)
  if by_name[name] then return by_name[name] end
  fail.usage(string.format("unknown verb '%s'%s; 'loom help' lists them", name, fail.near(name, names)))
end

local function help_all(out)
  out(string.format("loom %s: a generator of CUDA matrix multiplications\n\n", host.version))
  out("usage: loom VERB NAME=value...\n\n")
  for _, verb in ipairs(VERBS) do out(string.format("  %-12s %s\n", verb[1], verb[3])) end
  out("\n'loom help VERB' shows the knobs it reads\n")
end

local function help(argv)
  if #argv == 0 then return help_all(host.out) end
  if #argv > 1 then fail.usage("help wants one verb") end
  local verb = find(argv[1])
  local list = knobs.of(verb[1])
  host.out(string.format("usage: loom %s %s\n%s\n", verb[1],
    verb.usage or (#list > 0 and "NAME=value..." or ""), verb[3]))
  for i, knob in ipairs(list) do
    host.out(string.format("%s  %-9s %s\n", i == 1 and "\n" or "", knob[1], knob[2]))
  end
  if verb[1] == "edit" then host.out("\n" .. require("verbs_edit").help()) end
end

local function dispatch(argv)
  local name = argv[1]
  if not name then
    help_all(host.err)
    return 2
  elseif name == "-h" or name == "--help" then
    return help_all(host.out)
  elseif name == "--version" then
    host.out("loom " .. host.version .. "\n")
    return 0
  end
  local verb, rest = find(name), table.move(argv, 2, #argv, 1, {})
  if verb[1] == "help" then return help(rest) end
  if verb[1] == "test" then return require("testing").run(rest) end
  if verb[1] == "store" then return require("verbs_store").store(rest) end
  if verb[1] == "edit" then return require("verbs_edit").edit(rest) end
  if verb[1] == "check" or verb[1] == "bench" then rest = require("verbs_check").words(rest) end
  if verb[1] == "diff" then return require("diff").main(rest) end
  return require(verb[2])[verb[1]](knobs.parse(verb[1], rest))
end

local function caught(err)
  local full = type(err) == "string" and err:match("cannot write to stdout: .*$")
  if full then return select(2, pcall(fail, full)) end -- a full disk is no fault of ours
  return fail.text(err) and err or debug.traceback(tostring(err), 2)
end

local ok, result = xpcall(dispatch, caught, { ... })
if ok then return result or 0 end
local text = fail.text(result)
if not text then error(result, 0) end
host.err((text:find("^[^:\n]+:%d+: ") and "" or "loom: ") .. text .. "\n")
return result.code
