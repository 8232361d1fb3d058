// fiber.h -- one stack and one saved place per CUDA thread; no POSIX thread is involved.
//
// fiber_switch saves the callee's registers of one context and resumes another. On x86-64 that is
// a dozen instructions; elsewhere ucontext does it, slower. Stacks come from a pool that lives as
// long as the process, each with a guard page below: an overflow is a crash, never silent damage.
#pragma once

#include <cstddef>

namespace cpu {

struct Fiber {
  void *sp = nullptr; // where it stands; on other machines a ucontext_t
  unsigned char *stack = nullptr;
};

// The fiber will run entry(), which must not return, at the next switch to it. `skew` spreads the
// tops of stacks over cache sets.
void fiber_prepare(Fiber *f, int skew, void (*entry)());
void fiber_switch(Fiber *from, Fiber *to);
void fiber_release(Fiber *f); // its stack is for others
const unsigned char *fiber_stack_end(const Fiber &f);

} // namespace cpu
