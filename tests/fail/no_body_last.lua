-- expect: tests/fail/no_body_last.lua:4: must 'a-rule': wants { ... } after its name
space "no_body_last" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "a-rule"
