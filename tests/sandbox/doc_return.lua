-- control | loads | 2: space 'doc_return': 'doc' has a control character
space "doc_return" { format = 1, template = "simt.cu", doc = "a\rb" }

