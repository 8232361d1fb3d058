-- utf8 | loads | 3: param 'x': 'doc' is not UTF-8
space "doc_bytes" { format = 1, template = "simt.cu" }
param "x" { 1, doc = "\xff\xfe" }
