-- KEYS: candidates by a file instead of by choice; FINALISTS and BLOCKS: how many reach the finals, and for how long.

local bench = require "bench"
local bench_kit = require "bench_kit"
local campaign = require "campaign"
local device = require "device"
local fail = require "fail"
local knobs = require "knobs"
local picks = require "picks"
local select_ = require "select"
local sh = require "tests_sh"

local dir

local h200 = device.get "h200"
local problems = bench_kit.problems

local function fresh()
  dir = sh.tmpdir "keys"
end

-- So many keys of a space for 256x256x128 tn, best predicted first.
local function some(n, space, layout)
  local p = problems(256)[1]
  p.layout = layout or p.layout
  local keys = {}
  for i, item in ipairs(select_.pick(p, h200, { n = n, space = { space or "simt" } })) do keys[i] = item.key end
  assert(#keys == n)
  return keys
end

local function write(...)
  local path = dir .. "/keys.txt"
  assert(host.write(path, table.concat({ ... }, "\n") .. "\n") ~= nil)
  return path
end

-- The knobs of a bench with that file of keys.
local function parse(path, ...)
  return knobs.parse("bench", { "DEVICE=h200", "LAYOUT=tn", "KEYS=" .. path, "SHAPE=256x256x128", ... })
end

-- A campaign, or `go`, with the fake worker and these lines of KEYS: exit code, stdout, stderr.
local function run(lines, more, go)
  local opt = { backend = "fake", device = h200, problems = problems(256, 512), out = dir, given = {}, timeout = 5, processes = 2,
                keys = parse(write(table.unpack(lines))).keys }
  return bench_kit.run(go or campaign.run, opt, more)
end

local function count(cond)
  return bench_kit.sql(dir, "SELECT count(*) AS n FROM rows WHERE " .. cond)[1].n
end

local function picked(path, p, ...)
  local opt, keys = parse(path, ...), {}
  select_.problems(opt)
  for i, item in ipairs(select_.pick(p, h200, opt)) do keys[i] = item.key end
  return keys
end

local function same(got, want, what)
  assert(table.concat(got, "\n") == table.concat(want, "\n"), what .. ":\n" .. table.concat(got, "\n"))
end

-- ------------------------------------------------------------------------------- what the file says

local function order()
  fresh()
  local keys, lines = some(20), { "# mine", "" }
  for i = #keys, 1, -1 do table.insert(lines, "  " .. keys[i] .. (i % 2 == 0 and "  # even\r" or "")) end
  lines[#lines + 1] = keys[7]
  local got = picked(write(table.unpack(lines)), problems(256)[1])
  for i, key in ipairs(keys) do assert(got[#keys + 1 - i] == key, i) end
  assert(#got == 20, "all, and each once: " .. #got)
end

local function per_problem()
  fresh()
  local k, other, eights = some(5), some(1, "simt", "nn")[1], some(1, "mma")[1]
  local path = write(k[1], "512x256x128 " .. k[2], k[3], "256x256x128\t" .. k[4], "512x256x128 " .. k[1], other, eights, k[5],
                     "512x256x128 " .. other, "64x64x64 " .. k[2])
  local list = problems(256, 512, 64)
  same(picked(path, list[1]), { k[1], k[3], k[4], eights, k[5] }, "256")
  same(picked(path, list[2]), { k[1], k[2], k[3], eights, k[5] }, "512")
  list[2].layout = "nn"
  same(picked(path, list[2]), { other }, "listed twice, taken once")
end

-- A key for every problem is silently none of one whose rules it breaks; a problem without any is told why.
local function rules()
  fresh()
  local odd = problems(256)[1]
  odd.K = 127
  local simt, mma = some(1)[1], some(1, "mma")[1]
  same(picked(write(mma, simt), odd), { simt }, "mma wants eights")
  local path = write("# one", mma)
  local ok, err = pcall(picked, path, odd)
  assert(not ok and fail.text(err):find("no key in '" .. path .. "' is for it; line 2: the key breaks 'eights' at 256x256x127 on h200: ",
                                        1, true), tostring(err))
  odd.layout = "nt"
  ok, err = pcall(picked, path, odd)
  assert(not ok and fail.text(err) == "no key in '" .. path .. "' is for it", tostring(err))
end

local function refused(number, message, lines, ...)
  local path = write(table.unpack(lines))
  local ok, err = pcall(picked, path, problems(256)[1], ...)
  assert(not ok, "is accepted: " .. message)
  local text, want = assert(fail.text(err), tostring(err)), path .. ":" .. number .. ": " .. message
  assert(text:sub(1, #want) == want and err.code == 2, text)
end

local function errors()
  fresh()
  local key, mma = some(1)[1], some(1, "mma")[1]
  local dims = "wants MxNxK, each a number from 1 to 1073741824"
  refused(1, "no keys in the file", { "# nothing", "" })
  refused(2, "no space 'smt' (did you mean 'simt'?)", { key, (key:gsub("simt", "smt")) })
  refused(3, "key 'fast' is not of the form space:name=value,...", { key, "", "fast" })
  refused(1, "key '256x256x128' is not of the form", { "256x256x128", key })
  refused(2, "'256x256': " .. dims, { key, "256x256 " .. key })
  refused(1, "'" .. key .. "': " .. dims, { key .. " " .. key })
  refused(1, "key '" .. key .. " x': '", { "256x256x128 " .. key .. " x" })
  local part = key:gsub(",[^,]*$", "")
  refused(1, "key '" .. part .. "' lacks '", { part })
  refused(2, "key '" .. key .. ",tile_z=1': space 'simt' has no 'tile_z'", { key, key .. ",tile_z=1" })
  refused(1, "key '" .. key:gsub("tile_m=%d+", "tile_m=7") .. "': 'tile_m' is 7; ", { (key:gsub("tile_m=%d+", "tile_m=7")) })
  refused(1, "key '" .. key:gsub("=tn", "=tx") .. "': 'layout' is 'tx'", { (key:gsub("=tn", "=tx")) })
  refused(2, "the key breaks 'eights' at 64x64x63 on h200: ", { "64x64x64 " .. mma, "64x64x63 " .. mma })
  refused(1, "key '" .. key .. "' is not of SPACE=mma", { key }, "SPACE=mma")
  local ok, err = pcall(parse, dir .. "/none.txt")
  assert(not ok and err.code == 2 and fail.text(err):find(dir .. "/none.txt", 1, true), tostring(err))
  local got = sh.run { sh.loom, "bench", "BACKEND=fake", "DEVICE=h200", "SHAPE=256x256x128", "OUT=" .. dir .. "/out",
                       "KEYS=" .. write(key, "oops") }
  assert(got.code == 2 and got.output == dir .. "/keys.txt:2: key 'oops' is not of the form space:name=value,...\n", got.output)
  assert(not host.stat(dir .. "/out"), "something was made")
end

local function excluded()
  fresh()
  local key = some(1)[1]
  local path = write(key)
  for _, word in ipairs { "KEY=" .. key, "N=3", "KERNEL=my.cu" } do
    local ok, err = pcall(parse, path, word)
    local want = "KEYS and " .. word:match("^%u+") .. " exclude each other"
    assert(not ok and err.code == 2 and fail.text(err) == want, tostring(err))
  end
  local ok, err = pcall(knobs.parse, "gen", { "SHAPE=8x8x8", "KEYS=" .. path })
  assert(not ok and fail.text(err) == "verb 'gen' does not read the knob 'KEYS'", tostring(err))
  for _, word in ipairs { "FINALISTS=0", "FINALISTS=17", "BLOCKS=3", "BLOCKS=257" } do
    assert(not pcall(parse, path, word), word)
  end
  local opt = parse(path, "FINALISTS=16", "BLOCKS=256")
  assert(opt.finalists == 16 and opt.blocks == 256)
end

-- SPACE names the file of a space of one's own, from which keys come.
local function own_space()
  fresh()
  local path = dir .. "/mine.lua"
  assert(host.write(path, 'space "mine" { format = 1, base = "simt" }\n') ~= nil)
  local simt, p = some(1)[1], problems(256)[1]
  local mine = simt:gsub("^simt", "mine")
  same(picked(write(simt, "256x256x128 " .. mine), p, "SPACE=simt," .. path), { simt, mine }, "mine")
  refused(1, "no space 'mine'", { mine })
  refused(1, "key '" .. simt .. "' is not of SPACE=", { simt }, "SPACE=" .. path)
end

-- A thousand problems, both layouts, twelve keys each: every distinct key is parsed once.
local function quick()
  fresh()
  local keys, lines = {}, {}
  for _, layout in ipairs { "nn", "tn" } do table.move(some(12, "simt", layout), 1, 12, #keys + 1, keys) end
  for i = 1, 1000 do
    for _, key in ipairs(keys) do lines[#lines + 1] = string.format("%dx256x128 %s", 64 * i, key) end
  end
  local space, parsed, bound = require "space", 0, 0
  local parse_key, bind = space.parse_key, space.bind
  space.parse_key = function(...) parsed = parsed + 1 return parse_key(...) end
  space.bind = function(...) bound = bound + 1 return bind(...) end
  local ok, list = pcall(picked, write(table.unpack(lines)), problems(64 * 500)[1])
  space.parse_key, space.bind = parse_key, bind
  assert(ok, list)
  assert(#list == 12 and parsed == 24 and bound == 2000, parsed .. " " .. bound)
end

-- ------------------------------------------------------------------------------- campaigns

local function lost()
  fresh()
  local k = some(2)
  local lines = { "512x256x128 " .. k[1], "512x256x128 " .. k[2] }
  local why = "loom: 256x256x128 tn f16 acc f32: no key in '" .. dir .. "/keys.txt' is for it\n"
  for _, go in ipairs { campaign.run, bench.run } do
    local code, said, notes = run(lines, nil, go)
    local _, times = notes:gsub(why:gsub("%p", "%%%0"), "")
    assert(code == 1 and times == 1, notes)
    assert(said:find("problems_with_a_kernel: 1 count", 1, true), said)
  end
  assert(count "m = 256" == 0 and count "m = 512 AND run = 1 AND pass = 3" == 4)
end

local function resumed()
  fresh()
  local k = some(4)
  local lines = { k[1], k[2], "512x256x128 " .. k[3] }
  assert(run(lines) == 0)
  local rows = count "pass < 4"
  assert(rows == 2 * (2 + 3), rows)
  local _, _, notes = run(lines)
  assert(count "pass < 4" == rows and notes:find("note: 2 of 2 problems are done already", 1, true), notes)
  lines[4] = "256x256x128 " .. k[4] -- the other problem's candidates are the same
  local code
  code, _, notes = run(lines)
  assert(code == 0 and notes:find("note: 1 of 2 problems are done already", 1, true), notes)
  assert(count "pass < 4" == rows + 2 and count("m = 256 AND pass = 3 AND key = '" .. k[4] .. "'") == 2, "what is new")
  lines[1] = "# less"
  local said
  code, said = run(lines)
  assert(code == 0 and count "pass < 4" == rows + 2, "fewer keys cost nothing")
  assert(not said:find(k[1], 1, true) and said:find(k[4], 1, true), said)
end

local function remembered()
  fresh()
  local k, list = some(3), problems(256, 512)
  local function memory(...) return picks.open { device = h200, out = dir, keys = parse(write(...)).keys } end
  local kernels = { { hash = "0a", text = "one" } }
  local first = memory(k[1], "512x256x128 " .. k[2])
  for _, p in ipairs(list) do first:keep(p, kernels) end
  local again = memory("# changed", k[1], "512x256x128 " .. k[3])
  assert(again:recall(list[1]) and not again:recall(list[2]), "what is listed for a problem counts for it")
  assert(not picks.open({ device = h200, out = dir }):recall(list[1]), "without KEYS others are chosen")
end

-- ------------------------------------------------------------------------------- FINALISTS, BLOCKS

-- A worker that writes its jobs down.
local function noting()
  local script = "#!/bin/sh\nwhile IFS= read -r line; do\nprintf '%%s\\n' \"$line\" >> '%s/jobs'; printf '%%s\\n' \"$line\"\n"
    .. "done | '%s' fake-worker\n"
  host.write(dir .. "/worker", script:format(dir, (sh.loom:gsub("'", "'\\''"))))
  assert(sh.run({ "chmod", "+x", dir .. "/worker" }).code == 0)
  return dir .. "/worker"
end

-- How many finalists were timed by each number of blocks: "32:9", the jobs of heats behind: "8:6 32:4".
local function jobs()
  local finals, heats = {}, {}
  for line in (host.read(dir .. "/jobs") or ""):gmatch("time\t[^\n]+") do
    local list, blocks = line:find("samples=1", 1, true) and finals or heats, math.tointeger(line:match("blocks=(%d+)"))
    list[blocks] = (list[blocks] or 0) + 1
  end
  local out = {}
  for i, list in ipairs { finals, heats } do
    for blocks = 1, 256 do
      if list[blocks] then out[#out + 1] = (i == 1 and "final " or "heat ") .. blocks .. ":" .. list[blocks] end
    end
  end
  return table.concat(out, " ")
end

local function reach_the_worker()
  local keys = some(9)
  for _, case in ipairs {
    { {}, "final 32:6 heat 8:9 heat 32:4" },
    { { blocks = 64 }, "final 64:6 heat 8:9 heat 32:4" },
    { { finalists = 1, blocks = 4 }, "final 4:2 heat 8:9 heat 32:3" },
    { { finalists = 5 }, "final 32:10 heat 8:9 heat 32:6" },
    { { finalists = 8 }, "final 32:16 heat 32:9" },
    { { finalists = 9 }, "final 32:18" },
    { { finalists = 16 }, "final 32:18" },
  } do
    fresh()
    case[1].worker, case[1].problems = noting(), problems(256)
    local code, _, notes = run(keys, case[1])
    assert(code == 0 and jobs() == case[2], jobs() .. ", want " .. case[2] .. "\n" .. notes)
  end
end

-- Finals of fewer blocks than are asked for are run again, those of as many or more are there already.
local function more_blocks()
  fresh()
  local keys, one = some(5), problems(256)
  local function finals(more)
    more.problems = one
    local code, said = run(keys, more)
    assert(code == 0)
    return count "pass = 3", count "pass = 4", said
  end
  local heats
  local n, results = finals {}
  heats = count "pass < 3"
  assert(n == 6 and results == 3)
  n, results = finals { blocks = 48 }
  assert(n == 12 and results == 6 and count "pass = 3 AND blocks = 48" == 6 and count "pass = 4 AND blocks = 96" == 3)
  local _, _, said = finals { blocks = 48 }
  for _, blocks in ipairs { 32, 16, 48 } do
    local now, same_results, again = finals { blocks = blocks }
    assert(now == 12 and same_results == 6 and again == said, blocks .. ": " .. now)
  end
  n, results = finals { blocks = 32, processes = 3 } -- a third process of 32, beside two of 48
  assert(n == 15 and results == 9)
  n, results = finals { blocks = 48, processes = 3 }
  assert(n == 18 and results == 12 and count "pass = 3 AND process = 3 AND blocks = 48" == 3)
  assert(count "pass < 3" == heats, "heats are not asked for again")
end

local function more_finalists()
  fresh()
  local keys, one = some(6), problems(256)
  local function rows(finalists)
    assert(run(keys, { problems = one, finalists = finalists }) == 0)
    return count "pass = 1" .. " " .. count "pass = 2" .. " " .. count "pass = 3"
  end
  assert(rows() == "6 4 6", rows())
  assert(rows(2) == "6 4 6", "fewer are there already")
  assert(rows(4) == "6 5 8", "one more in the second heat, one more in the finals")
  assert(rows(6) == "6 5 12" and rows(4) == "6 5 12" and rows() == "6 5 12")
end

return {
  { name = "keys of a file are the candidates, in its order, each once, whatever their number", run = order },
  { name = "a line MxNxK KEY is for that problem alone", run = per_problem },
  { name = "a key whose rules do not hold is passed over, a problem without any says so", run = rules },
  { name = "what is wrong in a file of keys stands at its line, and nothing is made", run = errors },
  { name = "KEYS and KEY, KERNEL, N exclude each other; limits of FINALISTS and BLOCKS", run = excluded },
  { name = "keys come from SPACE's own files too", run = own_space },
  { name = "each distinct key is parsed once, each problem bound once", run = quick },
  { name = "a problem without a key is lost, the others are measured", run = lost },
  { name = "a campaign with a changed file measures what is new", run = resumed },
  { name = "candidates are remembered by what is listed for their problem", run = remembered },
  { name = "FINALISTS and BLOCKS reach the worker", run = reach_the_worker },
  { name = "finals of fewer BLOCKS are run again, those of more count", run = more_blocks },
  { name = "other FINALISTS add what is missing", run = more_finalists },
}
