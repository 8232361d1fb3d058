/* stuck.c - which wait a kernel is stuck in, told by a build whose waits give up */
#include "stuck.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* loom_stuck_state */
struct state {
  void *record;
  unsigned long long since;
  unsigned taken, pad;
};

_Static_assert(sizeof(struct stuck_record) == 32 && sizeof(struct state) == 24,
               "as loom_stuck.cuh has them");

enum { AT_MBARRIER = 1, AT_FLAG = 2 };

bool stuck_open(struct stuck *s, const loom_kernel *k, struct fault *f) {
  size_t bytes = 0;
  memset(s, 0, sizeof *s);
  if (cudaLibraryGetGlobal(&s->state, &bytes, k->library, "loom_stuck") != cudaSuccess) {
    (void)cudaGetLastError(); /* an ordinary build has no such name */
    s->state = NULL;
    return true;
  }
  if (bytes != sizeof(struct state))
    return fault_set(f, "the kernel's 'loom_stuck' has %zu bytes, not %zu", bytes,
                     sizeof(struct state));
  void *host = NULL;
  if (!CUDA(f, cudaHostAlloc(&host, sizeof *s->record, cudaHostAllocMapped))) return false;
  s->record = memset(host, 0, sizeof *s->record);
  return true;
}

bool stuck_arm(const struct stuck *s, cudaStream_t stream, struct fault *f) {
  struct state state = {.record = NULL};
  if (!s->state) return true;
  return CUDA(f, cudaHostGetDevicePointer(&state.record, s->record, 0)) &&
         CUDA(f, cudaMemcpyAsync(s->state, &state, sizeof state, cudaMemcpyHostToDevice, stream)) &&
         CUDA(f, cudaStreamSynchronize(stream)); /* 'state' is gone after this */
}

static void tell_flag(const struct stuck_record *r, const void *ws, size_t ws_bytes, char *text,
                      size_t room) {
  uint64_t from = (uint64_t)(uintptr_t)ws;
  if (ws && r->at >= from && r->at - from < ws_bytes)
    snprintf(text, room, "CTA %u warp %u waits for a flag, workspace+%llu, which holds %u", r->cta,
             r->thread / 32, r->at - from, r->value);
  else
    snprintf(text, room, "CTA %u warp %u waits for a flag at 0x%llx, which holds %u", r->cta,
             r->thread / 32, r->at, r->value);
}

bool stuck_told(const struct stuck *s, const void *ws, size_t ws_bytes, char *text, size_t room) {
  struct stuck_record r;
  if (!s->record) return false;
  r = *(volatile struct stuck_record *)s->record; /* the device has written it */
  if (!r.told) return false;
  if (r.kind == AT_MBARRIER)
    snprintf(text, room, "CTA %u warp %u waits for mbarrier smem+%llu, phase of parity %u", r.cta,
             r.thread / 32, r.at, r.value);
  else if (r.kind == AT_FLAG)
    tell_flag(&r, ws, ws_bytes, text, room);
  else
    snprintf(text, room, "CTA %u warp %u waits", r.cta, r.thread / 32);
  return true;
}

void stuck_close(struct stuck *s) {
  if (s->record) (void)cudaFreeHost(s->record);
  memset(s, 0, sizeof *s);
}
