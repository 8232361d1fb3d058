-- expect: tests/fail/search_mutator.lua:3: search: mutator 'gpt' is none of random, llm
space "search_mutator" { format = 1, template = "simt.cu" }
search { mutator = "gpt" }
