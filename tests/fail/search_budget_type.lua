-- expect: tests/fail/search_budget_type.lua:3: search: 'budget' wants a string, not 60
space "search_budget_type" { format = 1, template = "simt.cu" }
search { budget = 60 }
