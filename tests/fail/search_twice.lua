-- expect: tests/fail/search_twice.lua:4: search: already declared at line 3
space "search_twice" { format = 1, template = "simt.cu" }
search { n = 1 }
search { rng = 1 }
