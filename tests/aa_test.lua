-- tests/gpu/aa.lua with invented figures: what it counts, and that it can fail.

local narrow_kit = require "narrow_kit"
local sh = require "tests_sh"

local dir = sh.tmpdir "aa"
local narrow = narrow_kit.write(dir) -- its few points are found at once

-- The script's exit code and output; `sed` is done to the worker's answers.
local function aa(sed, n)
  local env = { "BACKEND=fake", "N=" .. (n or 10), "PROCESSES=1", "WORKER=", "NVCC=", "LOOM_FAKE=", "SPACE=" .. narrow }
  if sed then
    host.write(dir .. "/worker", string.format("#!/bin/sh\n'%s' fake-worker | sed -u '%s'\n", host.exe, sed))
    assert(sh.run({ "chmod", "+x", dir .. "/worker" }).code == 0)
    env[4] = "WORKER=" .. dir .. "/worker"
  end
  local got = sh.run({ sh.loom, "--script", host.root .. "/tests/gpu/aa.lua" }, { env = env })
  return got.code, got.output
end

local function quiet()
  local code, said = aa()
  assert(code == 0, said)
  assert(said:find("\naa: 11 comparisons, 0 verdicts other than SAME or UNDECIDED\n", 1, true), said)
  assert(said:find("\n8192x4096x4096 nn hopper +1 comparisons: SAME 1, pdl SAME 1; furthest 0.00 %%, pdl 0.00 %%\n"), said)
  local slow = "\n%d+x%d+x%d+ %l%l hopper +%d+ steps, [01]%.%d%d %% slower: 0%.9[89]%d %[0%.98%d,0%.99%d%] SLOWER; pdl 0%.9[89]"
  assert(select(2, said:gsub(slow, "")) == 10, said)
  assert(said:find("\nfake, %d+ s and %d+ s\nslow: 10 of 10 found slower\n$"), said)
end

-- Kernels that seem to differ from themselves, with pdl alone.
local function false_verdicts()
  local code, said = aa("s/verdict_rival_pdl=SAME/verdict_rival_pdl=FASTER/")
  assert(code == 1, said)
  assert(said:find("\nfalse +2048x2048x2048 tn hopper pdl: 1.000 %[0.99%d,1.00%d%] FASTER\n"), said)
  assert(said:find("FASTER, in a fresh process\n", 1, true), said)
  assert(said:find("\naa: 11 comparisons, 11 verdicts other than SAME or UNDECIDED\n", 1, true), said)
  assert(said:find("\nslow: 10 of 10 found slower\n", 1, true), said)
end

-- A bench that sees no difference; one whose figures no number of steps makes 1 % slower.
local function blind()
  local code, said = aa("s/verdict_rival=SLOWER/verdict_rival=UNDECIDED/", 0)
  assert(code == 1 and said:find("\nslow: 0 of 10 found slower\n", 1, true), said)
  assert(said:find("aa: 1 comparisons, 0 verdicts", 1, true), said)
  code, said = aa("s/ratio_rival=[0-9.]*/ratio_rival=0.97/", 0)
  assert(code == 1 and said:find("\n4096x4096x4096 tn hopper +no copy is 1.0 %% slower: %d+ steps are 3.09 %%\n"), said)
end

local function failures()
  local code, said = aa("s/^ok\tus=.*/wrong\twhy=rival: C differs/", 1)
  assert(code == 2 and said:find("^loom: aa: 256x256x256 tn hopper: wrong: rival: C differs\n$"), said)
end

return {
  { name = "make aa: kernels against themselves, and copies that are 1 % slower", run = quiet },
  { name = "make aa: verdicts on equal kernels are counted", run = false_verdicts },
  { name = "make aa: a bench that is blind is found out", run = blind },
  { name = "make aa: a kernel that is wrong ends it", run = failures },
}
