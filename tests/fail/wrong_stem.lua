-- expect: tests/fail/wrong_stem.lua:2: space 'another': file 'wrong_stem.lua' holds space 'another'
space "another" { format = 1 }
