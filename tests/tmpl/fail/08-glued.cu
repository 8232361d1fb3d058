//@local x = 1
