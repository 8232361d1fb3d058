-- expect: tests/fail/extend_let.lua:3: extend 'threads': is a let at spaces/simt.lua:13, no parameter
space "extend_let" { format = 1, base = "simt" }
extend "threads" { 4 }
