-- expect: tests/fail/boolean_value.lua:4: param 'a': a value is a boolean; values are integers or strings
space "boolean_value" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { true, false }
