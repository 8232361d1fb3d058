-- expect: tests/fail/name_upper_control.lua:3: param: '?2J' is not a name of letters, digits and '_'
space "name_upper_control" { format = 1, template = "simt.cu" }
param "\u{9b}2J" { 1 }
