-- expect: tests/fail/two_spaces.lua:3: space: one file is one space, and 'two_spaces' began at line 2
space "two_spaces" { format = 1 }
space "more" { format = 1 }
