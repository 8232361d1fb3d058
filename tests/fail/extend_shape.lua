-- expect: tests/fail/extend_shape.lua:3: extend 'warps': each value wants {warps_m, warps_n}
space "extend_shape" { format = 1, base = "mma" }
extend "warps" { 4 }
