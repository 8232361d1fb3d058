-- expect: tests/fail/unknown_in_why.lua:4: must 'fits': unknown name 'smen' (did you mean 'smem'?)
space "unknown_in_why" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "fits" { "M > 0", why = "needs {smen} B" }
let "smem" "M"
