-- expect: tests/fail/search_rng.lua:3: search: rng 2147483648 is not a number from 0 to 2147483647
space "search_rng" { format = 1, template = "simt.cu" }
search { rng = 2147483648 }
