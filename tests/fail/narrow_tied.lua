-- expect: tests/fail/narrow_tied.lua:3: narrow 'warps_m': 'warps_m' is tied to others: say 'warps'
space "narrow_tied" { format = 1, base = "mma" }
narrow "warps_m" { 1, 2 }
