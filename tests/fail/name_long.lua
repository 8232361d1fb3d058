-- expect: tests/fail/name_long.lua:3: param: the name 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' has 65 bytes; 64 are the most
space "name_long" { format = 1, template = "simt.cu" }
param "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" { 1 }
