-- expect: tests/fail/point_of_tied.lua:5: must 'r': 64/0 divides by zero at M=64, wm=0, kind=y
space "point_of_tied" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "w" { {1, "x"}, {0, "y"}, as = {"wm", "kind"} }
must "r" { "kind == 'x' or M / wm > 1", why = "x" }
