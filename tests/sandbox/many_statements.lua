-- statements | loads | 3: let: more than 1000 statements
space "many_statements" { format = 1, template = "simt.cu" }
for i = 1, 1500 do let('x' .. i)('1') end
