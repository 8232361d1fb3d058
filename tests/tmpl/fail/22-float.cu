a
x = $(tile_m / 1);
