-- expect: tests/fail/closed_pairs.lua:4: a space file cannot use 'pairs'
space "closed_pairs" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
for k in pairs {} do given { k } end
