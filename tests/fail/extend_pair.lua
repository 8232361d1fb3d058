-- expect: tests/fail/extend_pair.lua:3: extend 'stages': each value wants one part, not {7, 8}
space "extend_pair" { format = 1, base = "mma" }
extend "stages" { {7, 8} }
