-- expect: tests/fail/doc_bytes.lua:3: param 'a': 'doc' is not UTF-8
space "doc_bytes" { format = 1, template = "simt.cu" }
param "a" { 1, doc = "\xff" }
