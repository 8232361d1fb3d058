-- expect: tests/fail/endless.lua:5: more than 10000000 instructions: does it end?
space "endless" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
while true do
  local x = 1
end
