-- expect: spaces/simt.lua:13: let 'threads': 'thread_m' is gone: tests/fail/drop_used.lua:3 drops it
space "drop_used" { format = 1, base = "simt" }
drop "thread_m"
