// outer $n
//@ include("inner", { n = n + 1 })
// outer again $n
//@ include("inner", { n = n + 2 })
