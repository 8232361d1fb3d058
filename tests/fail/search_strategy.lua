-- expect: tests/fail/search_strategy.lua:3: search: strategy 'evolv' is none of evolve (did you mean 'evolve'?)
space "search_strategy" { format = 1, template = "simt.cu" }
search { strategy = "evolv" }
