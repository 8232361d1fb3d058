-- kill_kit.lua -- loom bench with invented figures, killed (SIGKILL) at random moments and started again.
--
-- The worker's jobs are noted by a script between loom and it, so what was launched is known from outside
-- of the store: a kill may cost one launch, the row of it is in `started`, and every other launch is a row.

local kit = require "store_kit"
local sh = require "tests_sh"
local store = require "store"

local kill = {}

local DELAY = 0.01 -- seconds that a measurement takes

local function files(dir)
  local quoted = (host.getenv("LOOM_UNDER_TEST") or host.exe):gsub("'", "'\\''")
  host.write(dir .. "/worker", string.format("#!/bin/sh\ntee -a '%s/jobs' | while IFS= read -r line; do\n"
             .. "sleep %g; printf '%%s\\n' \"$line\"; done | '%s' fake-worker\n", dir, DELAY, quoted))
  assert(sh.run({ "chmod", "+x", dir .. "/worker" }).code == 0)
  host.write(dir .. "/shapes", "512x512x512\n256x256x256\n64x4096x512\n")
end

-- The words of the bench; `extra` ones beside them.
local function words(dir, extra)
  local argv = { sh.loom, "bench", "SHAPES=" .. dir .. "/shapes", "LAYOUT=tn", "BACKEND=fake", "N=8", "DEVICE=h200",
                 "OUT=" .. dir, "WORKER=" .. dir .. "/worker" }
  return table.move(extra or {}, 1, #(extra or {}), #argv + 1, argv)
end

local function launches(dir)
  return select(2, (host.read(dir .. "/jobs") or ""):gsub("time\t[^\n]*\n", ""))
end

-- Starts a bench and kills it after so many seconds; false where it ended before.
local function once(dir, seconds, extra)
  local child = host.spawn { argv = words(dir, extra), stderr = dir .. "/log" }
  local deadline, err = host.now() + seconds, nil
  while not err do err = select(2, child:recv(math.max(0.001, deadline - host.now()))) end
  child:kill()
  sh.run { "sleep", "0.1" } -- the script notes what it got
  return err == "timeout"
end

-- Every row by what it measured; refuses what stands twice or is not what was written.
local function rows_of(dir)
  local st = store.reader(dir .. "/store.db")
  assert(st.db:rows("PRAGMA integrity_check", {})[1].integrity_check == "ok")
  local flying = st.found == 0 and 0 or st.db:rows("SELECT count(*) AS n FROM started", {})[1].n
  local rows, count = {}, 0
  for _, row in ipairs(st.found == 0 and {} or st.db:rows("SELECT * FROM rows", {})) do
    local name = string.format("%d %s %d", row.m, row.key, row.pass)
    assert(not rows[name], "measured twice: " .. name)
    rows[name], count = row, count + 1
  end
  st:close()
  return rows, count, flying
end

local function figures(row)
  return string.format("%s %.17g %.17g %.17g", row.status, row.us, row.ratio, row.ratio_lo)
end

-- What was there is there.
local function kept(before, after)
  for name, row in pairs(before) do -- order does not matter: each is looked at
    assert(after[name] and after[name].digest == row.digest, "lost: " .. name)
  end
end

-- One kill and what is left of it: its rows; how many launches have no row.
local function killed(dir, seconds, before, lost, extra)
  local was = once(dir, seconds, extra)
  sh.run { "sleep", "0.1" } -- the worker outlives its parent by a moment, and notes what it was given
  if not host.stat(dir .. "/store.db") then return before, lost, was end
  local rows, count, flying = rows_of(dir)
  kept(before, rows)
  local now = launches(dir) - count
  assert(now - lost <= 1, string.format("a kill cost %d measurements", now - lost))
  assert(now == lost or flying > 0, "a launch stands nowhere")
  return rows, now, was
end

-- Kills `times` benches in `dir` at random moments, a new campaign whenever one is done; says what happened.
function kill.run(dir, times, random)
  files(dir)
  local t = host.now()
  assert(sh.run(words(dir)).code == 0)
  local whole, full = host.now() - t, rows_of(dir)
  local done, kills, lost, most = 0, 0, 0, 0
  while kills < times do
    kit.remove(dir .. "/store.db")
    host.remove(dir .. "/jobs")
    local rows, gone, was = {}, 0, true
    while was and kills < times do
      rows, gone, was = killed(dir, random() * whole * 0.7, rows, gone)
      if was then kills = kills + 1 end
    end
    local last = sh.run(words(dir))
    assert(last.code == 0, last.output)
    local count, flying
    rows, count, flying = rows_of(dir)
    assert(flying == 0, "something is in flight")
    for name, row in pairs(full) do -- order does not matter
      assert(rows[name] and figures(rows[name]) == figures(row), "another figure: " .. name)
    end
    assert(launches(dir) - count == gone, "something was measured again")
    done, lost, most = done + 1, lost + gone, math.max(most, count)
  end
  return string.format("%d kills in %d campaigns of %d rows: %d measurements in flight were lost", kills, done, most, lost)
end

return kill
