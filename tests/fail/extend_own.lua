-- expect: tests/fail/extend_own.lua:4: extend 'unroll': declared in this file at line 3: edit its values there
space "extend_own" { format = 1, base = "simt" }
param "unroll" { 1, 2 }
extend "unroll" { 4 }
