a

$(n n)
