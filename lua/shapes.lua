-- shapes: on which problems a kernel is run on the CPU device.
--
-- A kernel's control flow depends on a problem's size through tiles and remainders alone, so a large
-- problem is stood in for by a small one with the same remainders against the tile, a few tiles each
-- way, and slices of K enough to go round the ring twice.

local shapes = {}

-- Multiplications that one run may have, by the instruction in a kernel's text: some 0.2 s of one core.
local WORK = { { "wgmma", 1 << 27 }, { "mma_m16n8k", 1 << 24 }, { "", 1 << 19 } }

local function work_of(text)
  for _, w in ipairs(WORK) do
    if text:find(w[1], 1, true) then return w[2] end
  end
end

local function number_in(key, name)
  return math.tointeger(tonumber((key:match("[:,]" .. name .. "=(%d+)"))))
end

local function ceil_to(v, step)
  return -(-v // step) * step
end

-- What the kernel's loops count by: {m, n, k, stages, split_k, legal}. A tile's depth and the ring's are
-- the space's; a kernel that comes as a file has its key alone.
function shapes.geometry(kernel)
  local launch, full = kernel.launch, kernel.full
  local function value(name)
    local ok, v = pcall(function() return full and full[name] end)
    return ok and math.type(v) == "integer" and v or number_in(kernel.key or "", name)
  end
  local legal = launch.legal
  return {
    launch.tile[1], launch.tile[2], value("tile_k") or 64, stages = value("stages") or 1,
    split_k = launch.split_k, step = { legal.m, legal.n, legal.k }, baked = { legal.M, legal.N, legal.K },
    work = work_of(kernel.text),
  }
end

local function product(dims)
  return dims[1] * dims[2] * dims[3]
end

local function shape_of(dims)
  return { M = dims[1], N = dims[2], K = dims[3] }
end

-- `v` without whole tiles until `most` are left; what a step of legality must divide stays divided.
local function without_tiles(v, tile, step, most)
  local unit = tile
  while unit % step ~= 0 do unit = unit + tile end
  local spare = (v - most * tile) // unit
  return spare > 0 and v - spare * unit or v
end

-- Slices that fill and drain the ring twice, for each part of a split K.
local function rounds(g)
  return (2 * g.stages + 1) * g.split_k
end

-- The problem that stands in for `p`: {M, N, K}, and whether it is a smaller one.
function shapes.reduce(p, kernel)
  local g, whole = shapes.geometry(kernel), { p.M, p.N, p.K }
  local best
  for _, most in ipairs { { 3, 3 }, { 2, 2 }, { 2, 1 }, { 1, 1 } } do
    local dims = {}
    for i, v in ipairs(whole) do
      local count = i == 3 and rounds(g) or most[i]
      dims[i] = g.baked[i] ~= 0 and v or without_tiles(v, g[i], g.step[i], count)
    end
    best = dims
    if product(dims) <= g.work then break end
  end
  return shape_of(best), product(best) < product(whole)
end

-- A dimension of `count` tiles less `cut`, as the kernel's legality and its baked dimensions have it.
local function dim(g, i, count, cut)
  if g.baked[i] ~= 0 then return g.baked[i] end
  return ceil_to(math.max(1, count * g[i] - cut), g.step[i])
end

-- A part of a tile that is no half and no quarter of it: an odd number of steps.
local function part(g, i)
  return g.step[i] * (-(-(g[i] // 3) // g.step[i]) | 1)
end

-- The shapes of tests: {name, shape} for one tile, an odd number of tiles and of slices, and one that is
-- clipped in M, N and K.
function shapes.of(kernel)
  local g = shapes.geometry(kernel)
  local short = math.min(g.stages, 3) * g.split_k
  local odd = { dim(g, 1, 3, 0), dim(g, 2, 3, 0), dim(g, 3, rounds(g), 0) }
  if product(odd) > g.work then odd[2] = dim(g, 2, 1, 0) end
  return {
    { "one tile", shape_of { dim(g, 1, 1, 0), dim(g, 2, 1, 0), dim(g, 3, short, 0) } },
    { "odd", shape_of(odd) },
    { "clipped", shape_of { dim(g, 1, 2, part(g, 1)), dim(g, 2, 2, part(g, 2)),
                            dim(g, 3, (g.stages + 1) * g.split_k, part(g, 3)) } },
  }
end

-- Leading dimensions with some elements behind each row, {lda, ldb, ldc}: a kernel that takes the row's
-- length for them is found, and so is one that writes there. An odd number of steps, so that rows begin anywhere.
function shapes.padded(kernel, shape)
  local layout, step = kernel.desc:match('"layout":"(%a%a)"'), kernel.launch.legal.ld
  local a_k_major, b_k_major = layout == "nn" or layout == "tn", layout == "tn" or layout == "tt"
  local behind = step * (-(-8 // step) | 1)
  local function ld(row) return ceil_to(row, step) + behind end
  return { lda = ld(a_k_major and shape.K or shape.M), ldb = ld(b_k_major and shape.K or shape.N), ldc = ld(shape.N) }
end

-- Elements that A, B and C lie past a multiple of 1 KiB, as little aligned as the kernel takes them.
function shapes.shift(kernel)
  local launch = kernel.launch
  local align = #launch.tensors > 0 and math.max(launch.legal.align, 16) or launch.legal.align
  return align < 1024 and align // 2 or nil
end

function shapes.text(s)
  return string.format("%dx%dx%d", s.M, s.N, s.K)
end

return shapes
