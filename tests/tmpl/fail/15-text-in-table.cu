//@ include {
b
//@ }
