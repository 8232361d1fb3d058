-- expect: tests/fail/doc_control.lua:3: param 'a': 'doc' has a control character
space "doc_control" { format = 1, template = "simt.cu" }
param "a" { 1, doc = "\27[2J" }
