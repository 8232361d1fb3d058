-- expect: tests/fail/runtime.lua:5: attempt to index a nil value (local 't')
space "runtime" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
local t = nil
param "a" { t.x }
