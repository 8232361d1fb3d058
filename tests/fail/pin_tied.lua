-- expect: tests/fail/pin_tied.lua:3: param 'w': each value wants {wm, wn}
space "pin_tied" { format = 1, template = "simt.cu" }
param "w" { {1, 2}, {2, 2}, as = {"wm", "wn"}, pin = 2 }
