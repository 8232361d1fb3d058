-- expect: tests/fail/drop_replaced.lua:4: drop 'threads': declared in this file at line 3: delete it there
space "drop_replaced" { format = 1, base = "simt" }
let "threads" "64"
drop "threads"
