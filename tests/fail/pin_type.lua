-- expect: tests/fail/pin_type.lua:3: param 'a': a value is a table; values are integers or strings
space "pin_type" { format = 1, template = "simt.cu" }
param "a" { 1, 2, pin = { 1, 2 } }
