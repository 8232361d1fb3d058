a
//@ local s = [[ this
would swallow text
//@ ]]
