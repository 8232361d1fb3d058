a
//@ include("bad", {})
