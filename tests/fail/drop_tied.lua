-- expect: tests/fail/drop_tied.lua:3: drop 'warps_m': 'warps_m' is tied to others: say 'warps'
space "drop_tied" { format = 1, base = "mma" }
drop "warps_m"
