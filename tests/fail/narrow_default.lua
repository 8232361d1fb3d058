-- expect: tests/fail/narrow_default.lua:3: narrow 'group_m': its default 1 would not be among its values: give a 'default'
space "narrow_default" { format = 1, base = "mma" }
narrow "group_m" { 4, 8 }
