//@ if n > 1
b
//@ end
