-- expect: tests/fail/no_format.lua:2: space 'no_format': lacks 'format = 1'
space "no_format" { doc = "x" }
