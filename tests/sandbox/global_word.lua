-- globals | loads | 3: 'param' would be global: write 'local param'
space "global_word" { format = 1, template = "simt.cu" }
param = function() return function() end end
