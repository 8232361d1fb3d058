-- lets | loads | 3: let 'x101': more than 100 lets in one chain
space "let_chain" { format = 1, template = "simt.cu" }
for i = 1, 500 do let('x' .. i)('x' .. i + 1 .. ' + 1') end
let 'x501' '1'
