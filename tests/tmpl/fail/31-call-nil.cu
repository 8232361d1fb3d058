a
//@ list.f()
