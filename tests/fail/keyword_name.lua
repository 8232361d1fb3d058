-- expect: tests/fail/keyword_name.lua:4: let 'end': the name 'end' is taken: it belongs to the language
space "keyword_name" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "end" "1"
