-- expect: tests/fail/let_cycle.lua:4: let 'a': depends on itself: a -> b -> c -> a
space "let_cycle" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "b + 1"
let "b" "c + 1"
let "c" "a + 1"
