-- expect: tests/fail/search_n.lua:3: search: n 0 is not a number from 1 to 1000000
space "search_n" { format = 1, template = "simt.cu" }
search { n = 0 }
