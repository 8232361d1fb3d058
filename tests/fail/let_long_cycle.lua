-- expect: tests/fail/let_long_cycle.lua:3: let 'a': depends on itself: a -> b -> c -> a
space "let_long_cycle" { format = 1, template = "simt.cu" }
let "a" "b"
let "b" "c + 1"
let "c" "a"
