-- run.lua -- planted bugs: every one of list.lua must be found by the CPU device, the good kernels must not.
--
--   loom --script tests/mutants/run.lua [NAME...]     NAME: a bug or a kernel of list.lua; default: all
--   TABLE=1 prints the table of bench/cpu/README.md; SEED=2 runs other inputs and orders of late copies.
--
-- A bug is one substitution in the text that emit.lua makes of a kernel. It is compiled as any kernel
-- is, and run on the CPU device under all schedules, families of inputs and shapes of its kernel.

require "strict"

local kit = dofile(host.root .. "/tests/plant_kit.lua")
local list = dofile(host.root .. "/tests/mutants/list.lua")

local JOB = "pdl=1 seed=" .. (host.getenv("SEED") or "1") .. " schedules=0,1,2,3 families=ternary,cancel,onehot,slice,special"

local set = { name = "mutants", bases = list.bases, plants = list.bugs, work = host.root .. "/out/build/mutants" }

-- The kernel with the bug in it, and the bug's line.
function set.plant(text, desc, bug)
  local new, line = kit.planted(set, text, bug, bug.find, bug.replace)
  return new, desc, line
end

local function expected(t)
  for _, kind in ipairs(t.plant.expect) do
    if kind == t.kind then return true end
  end
  return false
end

-- Counts a finished task; the line about it.
local function verdict_of(t, tally)
  local verdict
  if t.error then
    verdict, tally.errors = "ERROR " .. t.error, tally.errors + 1
  elseif not t.plant then
    verdict = t.kind and string.format("FALSE REPORT %s: %s (%s)", t.kind, t.why, t.at) or "clean"
    if t.kind then tally.false_ = tally.false_ + 1 end
  elseif not t.kind then
    verdict = "MISSED: " .. t.plant.why
  elseif expected(t) then
    verdict, tally.caught = t.kind, tally.caught + 1
  else
    verdict = string.format("caught as %s, expected %s", t.kind, table.concat(t.plant.expect, ", "))
    tally.caught, tally.odd = tally.caught + 1, tally.odd + 1
  end
  return verdict
end

local function table_row(t, verdict)
  if not t.plant then return "" end
  return string.format("| %s | %s | %s | %s |\n", t.plant.name, t.base.name, t.plant.why, verdict)
end

local function main(names)
  local began, show = host.now(), host.getenv("TABLE") == "1" and table_row or kit.line
  local tasks, bugs = kit.tasks(set, names), 0
  for _, t in ipairs(tasks) do bugs = bugs + (t.plant and 1 or 0) end
  if show == table_row then host.out("| bug | kernel | what it breaks | found as |\n|---|---|---|---|\n") end
  local tally = { caught = 0, false_ = 0, errors = 0, odd = 0 }
  kit.run_all(set, tasks, JOB, function(t) host.out(show(t, verdict_of(t, tally))) end)
  if tally.odd > 0 then host.out(string.format("%d caught as something else than expected\n", tally.odd)) end
  if tally.errors > 0 then host.out(string.format("%d could not be run\n", tally.errors)) end
  host.out(string.format("%.0f s\n", host.now() - began))
  host.out(string.format("mutants: %d of %d caught, %d false\n", tally.caught, bugs, tally.false_))
  return tally.caught == bugs and tally.false_ == 0 and tally.errors == 0 and 0 or 1
end

return kit.main(main, { ... })
