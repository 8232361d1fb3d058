-- expect: tests/fail/unknown_device.lua:4: must 'fits': unknown name 'device.smem_per_blok' (did you mean 'device.smem_per_block'?)
space "unknown_device" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "fits" { "device.smem_per_blok > 0", why = "no" }
