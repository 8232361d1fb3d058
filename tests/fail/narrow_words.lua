-- expect: tests/fail/narrow_words.lua:3: narrow 'warps': a range wants a parameter of integers: list the values
space "narrow_words" { format = 1, base = "hopper" }
narrow "warps" { range = {1, 2} }
