-- expect: tests/fail/no_space.lua:2: param: a file begins with space "name" { ... }
param "a" { 1 }
