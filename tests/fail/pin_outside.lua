-- expect: tests/fail/pin_outside.lua:3: param 'a': pin 3 is not among its values
space "pin_outside" { format = 1, template = "simt.cu" }
param "a" { 1, 2, pin = 3 }
