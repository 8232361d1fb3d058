-- expect: tests/fail/base_cycle.lua:2: space 'base_cycle': inherits from itself: base_cycle -> base_cycle
space "base_cycle" { format = 1, base = "base_cycle" }
