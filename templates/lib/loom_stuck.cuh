// loom_stuck.cuh -- waits that give up, a part of loom.cuh: in a build with LOOM_WAIT_LIMIT (nanoseconds) only.
//
// A kernel that does not end says nothing. This build of it does: a wait that lasts longer than the
// limit writes down which one it is and traps. It is never timed. Bounded are mbar_wait, and loops
// around mbar_try, ld_acquire and ld_relaxed; the barriers of a CTA's and a cluster's threads are
// the hardware's, and cannot be.
#pragma once

enum : u32 { LOOM_AT_MBARRIER = 1, LOOM_AT_FLAG = 2 };

// What the host reads afterwards: memory of its own, mapped.
struct loom_stuck_record {
  u32 told, kind, cta, thread;
  u64 at;         // LOOM_AT_MBARRIER: offset in shared memory; LOOM_AT_FLAG: address
  u32 value, pad; // the parity that is waited for; what the flag holds
};

// Found by this name and written by the host before a launch.
struct loom_stuck_state {
  volatile loom_stuck_record *record; // NULL: nobody asks
  u64 since;                          // of the first poll
  u32 taken, pad;
};
static_assert(sizeof(loom_stuck_record) == 32 && sizeof(loom_stuck_state) == 24,
              "as the host has them");
extern "C" __device__ loom_stuck_state loom_stuck;
__device__ loom_stuck_state loom_stuck;

LOOM_FN u64 loom_nanoseconds() {
  u64 now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// The first to come writes and traps, which ends the others too: they go on waiting until then.
LOOM_FN void loom_give_up(u32 kind, u64 at, u32 value) {
  if (atomicCAS(&loom_stuck.taken, 0u, 1u) != 0) return;
  volatile loom_stuck_record *r = loom_stuck.record;
  if (r) {
    r->kind = kind;
    r->cta = blockIdx.x;
    r->thread = threadIdx.x;
    r->at = at;
    r->value = value;
    __threadfence_system();
    r->told = 1;
    __threadfence_system();
  }
  asm volatile("trap;");
}

// After a look at something that is not there yet. The first look of all begins the time: a look does
// not know which loop it belongs to.
LOOM_FN void loom_polled(u32 kind, u64 at, u32 value) {
  u64 now = loom_nanoseconds(), since = *(volatile u64 *)&loom_stuck.since;
  if (since == 0) since = atomicCAS(&loom_stuck.since, 0ull, now);
  if (since != 0 && now > since && now - since > LOOM_WAIT_LIMIT) loom_give_up(kind, at, value);
}

// After a wait for an mbarrier that began at `start`, and has not ended.
LOOM_FN void loom_waited(u64 start, u32 bar, u32 parity) {
  u64 now = loom_nanoseconds();
  if (now > start && now - start > LOOM_WAIT_LIMIT)
    loom_give_up(LOOM_AT_MBARRIER, bar - smem_base(), parity);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 // in the place of loom_hopper.cuh's
#define LOOM_WAIT(name, scope)                                                                     \
  LOOM_FN void name(u32 bar, u32 parity) {                                                         \
    u64 start = loom_nanoseconds();                                                                \
    for (;;) {                                                                                     \
      u32 done;                                                                                    \
      asm volatile("{\n"                                                                           \
                   ".reg .pred p;\n"                                                               \
                   "mbarrier.try_wait.parity" scope ".shared::cta.b64 p, [%1], %2;\n"              \
                   "selp.b32 %0, 1, 0, p;\n"                                                       \
                   "}"                                                                             \
                   : "=r"(done)                                                                    \
                   : "r"(bar), "r"(parity)                                                         \
                   : "memory");                                                                    \
      if (done) return;                                                                            \
      loom_waited(start, bar, parity);                                                             \
    }                                                                                              \
  }
LOOM_WAIT(mbar_wait, "")
LOOM_WAIT(mbar_wait_cluster, ".acquire.cluster")
#undef LOOM_WAIT
#endif
