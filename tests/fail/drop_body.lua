-- expect: tests/fail/drop_body.lua:3: drop 'square-block': takes a name and nothing else
space "drop_body" { format = 1, base = "simt" }
drop "square-block" { why = "slow" }
