-- bench_test.lua -- on a GPU: kernels of every space, layout and type are right at ragged shapes, with
-- and without programmatic launch; a kernel that is wrong is reported as wrong.

local keys = require "key_kit"
local sh = require "tests_sh"

-- All rows that a bench run leaves in its store, as {status=, why=, key=, m=, n=, k=}.
local function rows_of(out)
  local db = host.db(out .. "/store.db")
  local rows = db:rows("SELECT status, why, key, m, n, k FROM rows ORDER BY rowid", {})
  db:close()
  return rows
end

-- Whether kernels are right is asked here, not how fast they are: one process, beside cublasGemmEx alone.
local function bench(out, ...)
  local argv = { sh.loom, "bench", "BACKEND=cuda", "PROCESSES=1", "BASELINES=gemmex", "OUT=" .. out, ... }
  return sh.run(argv, { timeout = 540 })
end

local function all_right(dtype, layout)
  return function()
    local out = sh.tmpdir("gpu " .. dtype .. " " .. layout)
    local run = bench(out, "SHAPES=" .. host.root .. "/tests/gpu/edges.txt", "LAYOUT=" .. layout,
                      "DTYPE=" .. dtype, "SPACE=hopper,mma,simt", "N=3") -- so few are measured once
    assert(run.code == 0, run.output)
    local kernels, seen, by_space = 0, {}, {}
    for _, row in ipairs(rows_of(out)) do
      assert(row.status == "ok" or row.status == "same",
             string.format("%s %dx%dx%d %s: %s", row.status, row.m, row.n, row.k, row.key, row.why))
      local id = string.format("%s at %dx%dx%d", row.key, row.m, row.n, row.k)
      kernels, seen[id] = kernels + (seen[id] and 0 or 1), true
      by_space[row.key:match("^[^:]+")] = true
    end
    assert(kernels >= 20, "only " .. kernels .. " kernels ran")
    assert(by_space.mma and by_space.simt and by_space.hopper, "a space is missing")
    sh.remove(out)
  end
end

local tests = {}
for _, case in ipairs { { "f16", "nn" }, { "f16", "tn" }, { "f16", "nt" }, { "f16", "tt" }, { "bf16", "nn" },
                        { "bf16", "tn" } } do
  tests[#tests + 1] = { name = "every kernel is right at ragged shapes, " .. case[1] .. " " .. case[2],
                        run = all_right(case[1], case[2]) }
end

-- Structures that a small pick does not reach: three and four consumers, wide pingpong tiles, a raster group that the
-- tile rows do not fill, an odd number of tiles per CTA, swapped operands, clusters, parts of tiles, deep slots, stores
-- from registers.
local KEYS = {
  "tile_m=192,tile_n=128,consumers=3,chunk_buffers=1,stages=4,group_m=2",
  "tile_m=192,tile_n=64,consumers=3,chunk_buffers=2,stages=3,group_m=4",
  "tile_m=256,tile_n=128,consumers=4,stages=3",
  "tile_m=64,tile_n=256,schedule=pingpong,chunk_buffers=2,stages=4,group_m=16",
  "tile_m=192,tile_n=128,schedule=pingpong,chunk_buffers=1,stages=4,group_m=4",
  "tile_m=128,tile_n=192,schedule=pingpong,chunk_buffers=2,stages=3,group_m=8",
  "tile_m=256,tile_n=128,schedule=cooperative,consumers=2,chunk_buffers=1,stages=3",
  "tile_m=128,tile_n=256,consumers=2,split=cols,stages=3",
  "tile_m=176,tile_n=128,swap=yes,schedule=pingpong,chunk_buffers=1,stages=5,cluster=n",
  "tile_m=128,tile_n=176,schedule=pingpong,chunk_buffers=1,stages=5,cluster=m,raster=n",
  "tile_m=128,tile_n=128,schedule=pingpong,stages=5,tail=2",
  "tile_m=128,tile_n=128,consumers=2,tile_k=128,stages=3",
  "tile_m=128,tile_n=96,consumers=2,epilogue=direct,chunk_buffers=1,stages=4,grid=tiles",
  "acc=f16,tile_m=128,tile_n=256,consumers=2,stages=4",
}

tests[#tests + 1] = {
  name = "wgmma kernels of every structure are right",
  run = function()
    local ran = 0
    for i, rest in ipairs(KEYS) do
      local out = sh.tmpdir("gpu key")
      -- only rows along k can be parted by 8s
      local layout = rest:find "176" and "tn" or ({ "nn", "tn", "nt", "tt" })[i % 4 + 1]
      local key = keys.key(string.format("hopper:layout=%s,%s", layout, rest))
      local run = bench(out, "KEY=" .. key, "SHAPE=3000x3016x1000")
      assert(run.code == 0, run.output)
      ran = ran + #rows_of(out)
      sh.remove(out)
    end
    assert(ran >= #KEYS, "only " .. ran .. " rows")
  end,
}

-- A copy of the project whose template stores one row too few must be found out.
tests[#tests + 1] = {
  name = "a planted fault in a template is reported as wrong",
  run = function()
    local copy = sh.tmpdir("gpu planted")
    local cp = sh.run { "sh", "-c", 'cp -r "$2/lua" "$2/spaces" "$2/templates" "$1" && mkdir -p "$1/out/build" '
                        .. '&& cp "$3" "$1/out/build/loom" && cp "$2/out/build/loom-bench" "$1/out/build/"',
                        "sh", copy, host.root, sh.loom }
    assert(cp.code == 0, cp.output)
    local path = copy .. "/templates/mma.cu"
    local text, n = assert(host.read(path)):gsub("if %(m %+ 8 < M%)", "if (m + 8 < M - 1)")
    assert(n == 1, "the template has changed: plant the fault elsewhere")
    assert(host.write(path, text))
    local run = sh.run({ copy .. "/out/build/loom", "bench", "BACKEND=cuda", "SPACE=mma", "SHAPE=256x256x256",
                         "LAYOUT=nn", "N=2", "OUT=" .. copy .. "/out" }, { timeout = 120, cwd = copy })
    assert(run.code ~= 0, run.output)
    assert(run.output:find("wrong") and run.output:find("not written"), run.output)
    sh.remove(copy)
  end,
}

return tests
