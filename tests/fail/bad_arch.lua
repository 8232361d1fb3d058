-- expect: tests/fail/bad_arch.lua:2: space 'bad_arch': arch 'hopper' is not of the form sm_90 or sm_90a
space "bad_arch" { format = 1, arch = "hopper" }
