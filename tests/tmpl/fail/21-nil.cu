a
$(list.x)
