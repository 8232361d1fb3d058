-- forbid | loads | 4: forbid 'forbid-1': unknown name 'a == 1 or a'
space "forbid_code" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
forbid { ["a == 1 or a"] = 2, why = "code in a key" }
