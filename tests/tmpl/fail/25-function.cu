$include
