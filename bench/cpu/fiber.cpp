// fiber.cpp -- see fiber.h.
#include "fiber.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define WITH_ASAN 1
#else
#define WITH_ASAN 0
#endif

namespace cpu {

// Kernels keep their accumulators here: up to 512 floats, and what the compiler adds to them.
constexpr size_t STACK = 128 << 10;

static std::vector<unsigned char *> spare;

static void need_stack(Fiber *f) {
  if (f->stack) return;
  if (!spare.empty()) {
    f->stack = spare.back();
    spare.pop_back();
    return;
  }
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void *p = mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) != 0) {
    perror("loom-cpu: no memory for stacks");
    exit(1);
  }
  f->stack = static_cast<unsigned char *>(p);
}

void fiber_release(Fiber *f) {
  if (f->stack) spare.push_back(f->stack);
  f->stack = nullptr;
}

const unsigned char *fiber_stack_end(const Fiber &f) { return f.stack + STACK; }

static void forget_frames(const Fiber *f) {
#if WITH_ASAN // what the last kernel left on this stack is nobody's any more
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  __asan_unpoison_memory_region(f->stack + page, STACK - page);
#else
  (void)f;
#endif
}

#if defined(__x86_64__)

// rbp, rbx, r12..r15 and the stack pointer are what the ABI lets a callee rely on; the control words
// of the FPU are nobody's to change here.
extern "C" void loom_cpu_switch(void **from, void *to);
asm(".text\n"
    ".globl loom_cpu_switch\n"
    ".type loom_cpu_switch,@function\n"
    "loom_cpu_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp,(%rdi)\n"
    "  movq %rsi,%rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size loom_cpu_switch,.-loom_cpu_switch\n");

void fiber_prepare(Fiber *f, int skew, void (*entry)()) {
  need_stack(f);
  forget_frames(f);
  void **top = reinterpret_cast<void **>(f->stack + STACK - 64 - 64 * (skew % 64));
  *--top =
      nullptr; // entry's return address: it never returns, and the stack is aligned as after a call
  *--top = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  f->sp = top;
}

void fiber_switch(Fiber *from, Fiber *to) { loom_cpu_switch(&from->sp, to->sp); }

#else

#include <ucontext.h>

static ucontext_t *context(Fiber *f) {
  if (!f->sp) f->sp = new ucontext_t;
  return static_cast<ucontext_t *>(f->sp);
}

void fiber_prepare(Fiber *f, int skew, void (*entry)()) {
  need_stack(f);
  forget_frames(f);
  ucontext_t *c = context(f);
  getcontext(c);
  c->uc_stack.ss_sp = f->stack;
  c->uc_stack.ss_size = STACK - 64 * static_cast<size_t>(skew % 64);
  c->uc_link = nullptr;
  makecontext(c, entry, 0);
}

void fiber_switch(Fiber *from, Fiber *to) { swapcontext(context(from), context(to)); }

#endif

} // namespace cpu
