-- expect: tests/fail/name_control.lua:3: param: '\27[2J' is not a name of letters, digits and '_'
space "name_control" { format = 1, template = "simt.cu" }
param "\27[2J" { 1 }
