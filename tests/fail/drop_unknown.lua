-- expect: tests/fail/drop_unknown.lua:3: drop 'treads': no statement 'treads' is inherited (did you mean 'threads'?)
space "drop_unknown" { format = 1, base = "simt" }
drop "treads"
