-- kill_kit.lua -- loom bench with invented figures, killed (SIGKILL) at random moments and started again.
--
-- The worker's jobs are noted by a script between loom and it, each before it is passed on, so what was launched is
-- known from outside of the store: a kill may cost one launch, the row of it is in `started`, and every other launch
-- is a row. Parts of the script outlive loom by a moment; they share a lock, and who has it alone knows that all has
-- been noted. A measurement that was in flight at three ends of loom would rightly be left alone from then on, which
-- is another test's matter: at two the next call is let through to its end.

local kit = require "store_kit"
local sh = require "tests_sh"
local store = require "store"

local kill = {}

local DELAY = 0.01 -- seconds that a measurement takes

local function files(dir)
  local quoted = (host.getenv("LOOM_UNDER_TEST") or host.exe):gsub("'", "'\\''")
  host.write(dir .. "/worker", string.format("#!/bin/sh\nexec 9>>'%s/lock' && flock -s 9 || exit 1\n"
             .. "while IFS= read -r line; do printf '%%s\\n' \"$line\" >> '%s/jobs'; sleep %g\n"
             .. "printf '%%s\\n' \"$line\"; done | '%s' fake-worker\n", dir, dir, DELAY, quoted))
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
  assert(sh.run({ "flock", "-w", "60", "-x", dir .. "/lock", "true" }).code == 0, "the worker does not end")
  return err == "timeout"
end

-- Every row by what it measured, and how many are of a launch; how many measurements are in flight, and at how many ends of loom the
-- unluckiest of them was. Refuses what stands twice or is not what was written.
local function rows_of(dir)
  local st = store.reader(dir .. "/store.db")
  assert(st.db:rows("PRAGMA integrity_check", {})[1].integrity_check == "ok")
  local flying = st.found == 0 and {} or st.db:rows("SELECT sum(starts) AS n FROM started GROUP BY mark", {})
  local rows, count, most = {}, 0, 0
  for _, row in ipairs(st.found == 0 and {} or st.db:rows("SELECT * FROM rows", {})) do
    local name = string.format("%d %s %d %d", row.m, row.key, row.pass, row.process or 0)
    assert(not rows[name], "measured twice: " .. name)
    rows[name] = row
    if not row.processes then count = count + 1 end -- a result is made of other rows
  end
  for _, mark in ipairs(flying) do most = math.max(most, mark.n) end
  st:close()
  return rows, count, #flying, most
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

-- One kill and what is left of it: its rows; how many launches have no row; whether there was somebody to kill; at
-- how many ends the unluckiest measurement was in flight.
local function killed(dir, seconds, before, lost, extra)
  local was = once(dir, seconds, extra)
  if not host.stat(dir .. "/store.db") then return before, lost, was, 0 end
  local rows, count, flying, most = rows_of(dir)
  kept(before, rows)
  local now = launches(dir) - count
  assert(now - lost <= 1, string.format("a kill cost %d measurements", now - lost))
  assert(now == lost or flying > 0, "a launch stands nowhere")
  return rows, now, was, most
end

-- The campaign in `dir`, killed at most `times` times, then let through: kills, lost launches, rows.
local function campaign(dir, times, whole, full, random)
  local rows, gone, was, most, kills = {}, 0, true, 0, 0
  while was and kills < times and most < 2 do
    rows, gone, was, most = killed(dir, random() * whole * 0.7, rows, gone)
    if was then kills = kills + 1 end
  end
  local last = sh.run(words(dir))
  assert(last.code == 0, last.output)
  local after, count, flying = rows_of(dir)
  kept(rows, after)
  assert(flying == 0, "something is in flight")
  for name, row in pairs(full) do -- order does not matter
    assert(after[name] and figures(after[name]) == figures(row), "another figure: " .. name)
  end
  assert(launches(dir) - count == gone, "something was measured again")
  return kills, gone, count
end

-- Kills `times` benches in `dir` at random moments, a new campaign whenever one is done; after so many seconds no
-- further campaign is begun. What happened, and the number of kills.
function kill.run(dir, times, random, seconds)
  files(dir)
  local t = host.now()
  assert(sh.run(words(dir)).code == 0)
  local whole, full = host.now() - t, rows_of(dir)
  local done, kills, lost, most = 0, 0, 0, 0
  while kills < times and host.now() - t < (seconds or math.huge) do
    kit.remove(dir .. "/store.db")
    host.remove(dir .. "/jobs")
    local killed_now, gone, count = campaign(dir, times - kills, whole, full, random)
    done, kills, lost, most = done + 1, kills + killed_now, lost + gone, math.max(most, count)
  end
  local said = "%d kills in %d campaigns of %d launches: %d measurements in flight were lost"
  return string.format(said, kills, done, most, lost), kills
end

return kill
