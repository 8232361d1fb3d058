-- expect: tests/fail/given_as_param.lua:4: param 'layout': the name 'layout' is taken: it belongs to the problem
space "given_as_param" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "layout" { "nn" }
