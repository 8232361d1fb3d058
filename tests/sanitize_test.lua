-- compute-sanitizer on a winner: which tools count, and what a finding does. tests/fake-sanitizer, fake-nvcc and
-- fake-bench stand in for the programs.

local device = require "device"
local sanitize = require "sanitize"
local sh = require "tests_sh"

local dir = sh.tmpdir "sanitize"
local problem = { M = 64, N = 64, K = 64, layout = "tn", dtype = "f16", acc = "f32" }

-- Runs the tools over a kernel; its row, what was stored, the notes, and what run returned.
local function run(words)
  sanitize.forget()
  local bin, find = dir .. "/compute-sanitizer", sanitize.find
  assert(host.write(bin, "#!/bin/sh\nexec '" .. host.root .. "/tests/fake-sanitizer' \"$@\"\n") ~= nil)
  assert(sh.run({ "chmod", "+x", bin }).code == 0)
  sanitize.find = function() return bin end
  local stored, notes, err = {}, {}, host.err
  local opt = { out = dir, nvcc = host.root .. "/tests/fake-nvcc", device = device.get "h200",
                env = { "LOOM_FAKE_SANITIZER=" .. words, "LOOM_FAKE_BENCH_LOG=" .. dir .. "/verbs" } }
  local ctx = { opt = opt, backend = { name = "cuda", argv = { host.root .. "/tests/fake-bench" } }, rows = 0, failed = 0,
                session = { stop = function() end },
                store = { add = function(_, row) stored[#stored + 1] = row.sanitizer or "none" end } }
  assert(host.write(dir .. "/winner.cu", "// the winner\n") ~= nil)
  local row = { status = "ok", key = "toy:winner", pass = 4 }
  host.err = function(text) notes[#notes + 1] = text end
  local ok, result = pcall(sanitize.run, ctx, problem, { key = "toy:winner", json = dir .. "/winner.json",
                                                         built = { cubin = dir .. "/winner.cubin" } }, row)
  host.err, sanitize.find = err, find
  assert(ok, result)
  assert(ctx.rows == #stored and ctx.failed == (row.status == "ok" and 0 or 1))
  return row, stored, table.concat(notes), result
end

local function clean()
  local row, stored, notes, result = run ""
  assert(result == true and row.status == "ok" and notes == "", notes)
  assert(row.sanitizer == "memcheck,racecheck,synccheck,initcheck" and #stored == 1 and stored[1] == row.sanitizer)
end

local function found()
  local row, stored = run "find=racecheck:winner"
  assert(row.status == "wrong" and row.sanitizer == "memcheck" and #stored == 1, tostring(row.sanitizer))
  assert(row.why == "racecheck: Invalid __global__ read of size 4 bytes at loom_kernel+0x90", row.why)
end

-- A tool that is blind, loud or dumb, or under which the worker dies, is not counted and says so.
local function not_counted(words, said)
  local row, stored, notes = run(words)
  assert(row.status == "ok" and row.sanitizer == "memcheck,synccheck,initcheck" and #stored == 1, tostring(row.sanitizer))
  assert(notes:find(said, 1, true), notes)
  assert(select(2, notes:gsub("\n", "\n")) == 1, notes)
end

local function none()
  local row, stored, notes, result = run "blind=memcheck loud=racecheck lost=synccheck blind=initcheck"
  assert(result == true and row.status == "ok" and row.sanitizer == nil and #stored == 0)
  assert(select(2, notes:gsub("is not available here", "")) == 4, notes)
end

local function logs()
  local count, line = sanitize.parse("========= COMPUTE-SANITIZER\n========= Error: Race reported between Write access at "
    .. "loom_kernel+0x4f0\n=========     and Read access at loom_kernel+0x560 [512 hazards]\n=========\n========= RACECHECK "
    .. "SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n")
  assert(count == 1 and line == "Error: Race reported between Write access at loom_kernel+0x4f0", line)
  count = sanitize.parse "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
  assert(count == 0)
  count, line = sanitize.parse "========= COMPUTE-SANITIZER\n========= Internal Sanitizer Error: no device\n"
  assert(count == nil and line == "Internal Sanitizer Error: no device", line)
  count, line = sanitize.parse ""
  assert(count == nil and line == "it wrote no summary")
end

return {
  { name = "a clean kernel's row names the tools that worked", run = clean },
  { name = "a finding makes the row wrong, with the tool's first line", run = found },
  { name = "a tool that finds no plant is not counted", run = function()
    not_counted("blind=racecheck find=racecheck:winner", "racecheck is not available here: it does not find a planted fault")
  end },
  { name = "a tool that a right kernel does not pass is not counted", run = function()
    not_counted("loud=racecheck", "racecheck is not available here: a right kernel does not pass it: Invalid")
  end },
  { name = "a tool without a summary is not counted", run = function()
    not_counted("lost=racecheck", "racecheck is not available here: a right kernel does not pass it: it wrote no summary")
  end },
  { name = "a tool that does not get through a kernel is not counted for it", run = function()
    not_counted("broken=racecheck:winner", "racecheck did not get through toy:winner: killed by signal 9")
  end },
  { name = "without a tool that works, the row stays as it was", run = none },
  { name = "logs of the tools", run = logs },
}
