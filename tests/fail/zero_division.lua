-- expect: tests/fail/zero_division.lua:5: must 'r': 64%0 divides by zero at M=64, a=0
space "zero_division" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 2, 0 }
must "r" { "M % a == 0", why = "x" }
