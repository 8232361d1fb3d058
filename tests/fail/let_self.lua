-- expect: tests/fail/let_self.lua:4: let 'a': depends on itself: a -> a
space "let_self" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "a + 1"
