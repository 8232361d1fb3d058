-- expect: tests/fail/forbid_device.lua:4: forbid 'forbid-1': 'device.sms' is the device's: a forbid names parameters and givens
space "forbid_device" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
forbid { ["device.sms"] = 132, why = "x" }
