-- expect: tests/fail/rule_key.lua:4: must 'fits': unknown key 'because'
space "rule_key" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "fits" { "M > 0", because = "x" }
