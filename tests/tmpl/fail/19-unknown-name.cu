a

  x = $tile_q;
