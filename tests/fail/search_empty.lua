-- expect: tests/fail/search_empty.lua:3: search: wants one of strategy, mutator, budget, rng, n
space "search_empty" { format = 1, template = "simt.cu" }
search {}
