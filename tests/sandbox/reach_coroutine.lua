-- words | time | 3: a space file cannot use 'coroutine'
space "reach_coroutine" { format = 1, template = "simt.cu" }
coroutine.wrap(function() while true do end end)()
