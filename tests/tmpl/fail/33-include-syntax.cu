a
//@ include("broken", {})
