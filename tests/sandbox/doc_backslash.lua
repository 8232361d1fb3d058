-- backslash | loads | 2: space 'doc_backslash': 'doc' ends in a backslash, which would join the next line of a comment
space "doc_backslash" { format = 1, template = "simt.cu", doc = "joins \\" }

