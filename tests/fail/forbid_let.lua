-- expect: tests/fail/forbid_let.lua:5: forbid 'forbid-1': 'b' is a let: a forbid names parameters and givens
space "forbid_let" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
let "b" "2 * a"
forbid { b = 2, why = "x" }
