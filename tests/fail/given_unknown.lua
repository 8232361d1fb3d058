-- expect: tests/fail/given_unknown.lua:3: given: unknown 'P'
space "given_unknown" { format = 1, template = "simt.cu" }
given { "M", "P" }
