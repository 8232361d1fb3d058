-- expect: tests/fail/why_brace.lua:4: must 'fits': 'why' has a '{' without its partner
space "why_brace" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "fits" { "M > 0", why = "needs {M B" }
