-- expect: tests/fail/drop_without_base.lua:4: drop 'b': no statement 'b' is inherited
space "drop_without_base" { format = 1, template = "simt.cu" }
param "a" { 1 }
drop "b"
