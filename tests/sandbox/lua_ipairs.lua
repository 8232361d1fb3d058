-- lua | - | 3: attempt to index a string value
space "lua_ipairs" { format = 1, template = "simt.cu" }
for _, x in ipairs "abc" do local y = x end
