// schedule.cpp -- the orders in which a kernel is tried.
//
// Four fixed ones, each unlike the others in every respect; further numbers draw theirs. A kernel
// that is right runs to the same end in all of them.
#include "engine.h"

namespace cpu {

static const Schedule fixed[] = {
    // order, async, clusters at once, shuffled, lanes down, SMs
    {0, Order::FORWARD, Async::LAZY_RANDOM, 1, false, false, 2, 1},
    {1, Order::REVERSE, Async::EAGER, 2, true, true, 3, 1},
    {2, Order::STARVE_FIRST, Async::LAZY_NEWEST, 3, true, false, 4, 1},
    {3, Order::STARVE_OTHERS, Async::RANDOM, 1, false, true, 1, 1},
};
constexpr int FIXED = static_cast<int>(sizeof fixed / sizeof fixed[0]);

// splitmix64: neighbouring seeds give unrelated numbers
static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

Schedule schedule_of(int number, uint64_t seed) {
  Schedule s;
  if (number >= 0 && number < FIXED) {
    s = fixed[number];
  } else {
    uint64_t r = mixed(static_cast<uint64_t>(number));
    s.order = static_cast<Order>(r % 5);
    s.async = static_cast<Async>(r / 5 % 4);
    s.resident = 1 + static_cast<int>(r / 20 % 4);
    s.shuffled = r / 80 % 2;
    s.lanes_down = r / 160 % 2;
    s.sms = 1 + static_cast<int>(r / 320 % 5);
  }
  s.number = number;
  s.seed = mixed(seed * 1000003 + static_cast<uint64_t>(number));
  return s;
}

std::string schedule_text(const Schedule &s) {
  static const char *const orders[] = {"warps in order", "warps in reverse", "warps at random",
                                       "first warpgroup last", "first warpgroup first"};
  static const char *const asyncs[] = {"copies at once", "copies late, at random",
                                       "copies late, newest first", "copies at random"};
  return format("schedule %d: %s, %s, %d cluster%s at once%s, %d SM%s", s.number,
                orders[static_cast<int>(s.order)], asyncs[static_cast<int>(s.async)], s.resident,
                s.resident > 1 ? "s" : "", s.shuffled ? " (shuffled)" : "", s.sms,
                s.sms > 1 ? "s" : "");
}

} // namespace cpu
