// integers and strings: names, expressions, dollars
constexpr int TILE_M = $tile_m, TILE_N = $(tile_n), BOTH = $(tile_m * tile_n), NEG = $(-tile_m);
constexpr long MIN = $(math.mininteger);
__global__ void $name() { acc$n += x$(n)y; }   // $$ $$name $$$n $$(n)
const char *s = "$name", c = '$(n)';
$(name)
f($(")"), $('('), $("\")"), $([[))]]), $((n + 1) * (n - (2))), $(("a//b"):upper()), $(n > 2 and "+=" or "="));
plain
$$ begins a line
plain
$$
$$$n
