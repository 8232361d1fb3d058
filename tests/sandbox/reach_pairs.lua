-- words | loads | 3: a space file cannot use 'pairs'
space "reach_pairs" { format = 1, template = "simt.cu" }
for k in pairs { a = 1, b = 2 } do local x = k end
