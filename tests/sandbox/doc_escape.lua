-- control | loads | 2: space 'doc_escape': 'doc' has a control character
space "doc_escape" { format = 1, template = "simt.cu", doc = "a\27[2Jb" }

