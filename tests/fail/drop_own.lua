-- expect: tests/fail/drop_own.lua:4: drop 'twice': declared in this file at line 3: delete it there
space "drop_own" { format = 1, base = "simt" }
let "twice" "2 * threads"
drop "twice"
