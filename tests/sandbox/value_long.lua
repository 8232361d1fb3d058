-- word | loads | 3: param 'x': value 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' has 128 bytes; 64 are the most
space "value_long" { format = 1, template = "simt.cu" }
local s = 'x' for _ = 1, 7 do s = s .. s end param "x" { s }
