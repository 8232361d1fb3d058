a
//@ assert(n == 4, "a copy loop would be ragged")
