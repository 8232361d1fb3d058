a
$(name + 1)
