-- common.lua -- the base of every space: the problem, and what follows from it for any tiling.
-- No template of its own: children declare tile_m and tile_n, and may replace any statement by one
-- of the same name.

space "common" { format = 1, doc = "what all spaces share" }

given { "M", "N", "K", "layout", "dtype", "acc" }

-- nn: A[M][K], B[K][N]; tn: B stored [N][K]; nt: A stored [K][M]; tt: both stored transposed.
let "a_k_major"  "layout == 'nn' or layout == 'tn'"   -- does A lie along k
let "b_k_major"  "layout == 'tn' or layout == 'tt'"   -- does B lie along k

let "tiles_m"    "ceildiv(M, tile_m)"
let "tiles_n"    "ceildiv(N, tile_n)"
let "tiles"      "tiles_m * tiles_n"

-- Percent of the SMs that have no tile in the last wave; 0 when it is full.
let "waves_idle" "100 * (ceildiv(tiles, device.sms) * device.sms - tiles) // device.sms"

-- A template that accumulates in f16 replaces this rule.
must "f32-accumulate" { "acc == 'f32'", why = "this template accumulates in f32 only" }
must "acc-exists" { "not (dtype == 'bf16' and acc == 'f16')",
  why = "bf16 with f16 accumulation does not exist on tensor cores" }
