-- globals | loads | 3: 'ipairs' would be global: write 'local ipairs'
space "global_ipairs" { format = 1, template = "simt.cu" }
function ipairs() while true do end end
