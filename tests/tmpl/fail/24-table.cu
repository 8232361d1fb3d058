$list
