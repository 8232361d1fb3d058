-- expect: tests/fail/drop_twice.lua:4: drop 'square-block': 'square-block' is gone since line 3
space "drop_twice" { format = 1, base = "simt" }
drop "square-block"
drop "square-block"
