-- control | loads | 3: must 'r': 'why' has a control character
space "why_escape" { format = 1, template = "simt.cu" }
must "r" { "1 > 0", why = "\27[31m" }
