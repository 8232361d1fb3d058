-- expect: tests/fail/mixed_values.lua:4: param 'a': 'a' mixes integers and strings
space "mixed_values" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, "none" }
