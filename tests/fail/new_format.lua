-- expect: tests/fail/new_format.lua:2: space 'new_format': format 2; this loom reads format 1
space "new_format" { format = 2 }
