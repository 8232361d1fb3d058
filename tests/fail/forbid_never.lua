-- expect: tests/fail/forbid_never.lua:5: forbid 'forbid-1': 'layout' is never 'kk': it is one of nn, tn, nt, tt
space "forbid_never" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2 }
forbid { layout = "kk", a = 1, why = "x" }
