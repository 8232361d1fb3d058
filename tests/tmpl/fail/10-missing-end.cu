a
//@ for i = 1, 2 do
b
//@ if n then
c
//@ end
d
