-- expect: tests/fail/when_fails.lua:4: param 'b': 4/0 divides by zero at a=0
space "when_fails" { format = 1, template = "simt.cu" }
param "a" { 2, 0 }
param "b" { 1, 2, default = 1, when = "4 / a > 1" }
