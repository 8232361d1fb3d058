-- expect: tests/fail/doc_upper_control.lua:3: param 'a': 'doc' has a control character
space "doc_upper_control" { format = 1, template = "simt.cu" }
param "a" { 1, doc = "\u{9b}2J" }
