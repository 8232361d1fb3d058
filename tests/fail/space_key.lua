-- expect: tests/fail/space_key.lua:2: space 'space_key': unknown key 'tempalte' (did you mean 'template'?)
space "space_key" { format = 1, tempalte = "simt.cu" }
