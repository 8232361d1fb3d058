a
//@ end
b
