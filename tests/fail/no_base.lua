-- expect: tests/fail/no_base.lua:2: space 'no_base': no base 'comon' (did you mean 'common'?)
space "no_base" { format = 1, base = "comon" }
