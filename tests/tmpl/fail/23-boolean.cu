$flag
