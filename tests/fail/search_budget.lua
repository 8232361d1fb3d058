-- expect: tests/fail/search_budget.lua:3: search: budget '60 s' is not a time like 60s, 30m or 2h
space "search_budget" { format = 1, template = "simt.cu" }
search { budget = "60 s" }
