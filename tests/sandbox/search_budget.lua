-- search | loads | 3: search: budget '60s; rm' is not a time like 60s, 30m or 2h
space "search_budget" { format = 1, template = "simt.cu" }
search { budget = "60s; rm" }
