-- expect: tests/fail/value_long.lua:3: param 'a': value 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' has 65 bytes; 64 are the most
space "value_long" { format = 1, template = "simt.cu" }
param "a" { "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" }
