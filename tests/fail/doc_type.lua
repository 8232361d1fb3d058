-- expect: tests/fail/doc_type.lua:2: space 'doc_type': 'doc' wants a string, not 12
space "doc_type" { format = 1, doc = 12 }
