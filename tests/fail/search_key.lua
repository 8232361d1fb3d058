-- expect: tests/fail/search_key.lua:3: search: unknown key 'strategie' (did you mean 'strategy'?)
space "search_key" { format = 1, template = "simt.cu" }
search { strategie = "evolve" }
