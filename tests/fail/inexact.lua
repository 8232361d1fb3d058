-- expect: tests/fail/inexact.lua:6: let 'half': 7/2 is not exact at tile_m=7
space "inexact" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "tile_m" { 64, 7 }
param "b" { 1, 2 }
let "half" "tile_m / 2"
must "even" { "half > 0", why = "x" }
