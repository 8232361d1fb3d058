-- expect: tests/fail/second_body.lua:3: param 'a': is complete: it takes no second body
space "second_body" { format = 1, template = "simt.cu" }
local a = param "a"
a { 1 }
a { 2 }
