-- prose | loads | 3: param 'x': 'doc' has 2048 bytes; 1024 are the most
space "doc_long" { format = 1, template = "simt.cu" }
local s = 'x' for _ = 1, 11 do s = s .. s end param "x" { 1, doc = s }
