a
//@ error("no way")
