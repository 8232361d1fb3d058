a
//@ local x = 1 +
//@   tile_q
