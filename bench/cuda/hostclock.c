/* hostclock.c - calls as their caller sees them: from the host's clock to completion
**
** While the clock runs, nothing is allocated and nothing is printed; memory that is
** written meanwhile was written before. Whoever stays silent is asked after by gpu_await,
** which knows errors and deadlines.
*/
#define _GNU_SOURCE
#include "hostclock.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { IN_FLIGHT = 64 }; /* below what a stream queues before a launch waits */
enum { LEAST_ISOLATED = 5, MOST_ISOLATED = 4096 };
static const double silence = 0.1; /* seconds without an end, after which the driver is asked */
static const double overload = 4;  /* times its length that a server's segment may last */

/* Open and close */

static void pin(struct hostclock *h) {
  cpu_set_t one;
  int cpu = sched_getcpu();
  _Static_assert(sizeof one == sizeof h->cpus, "a cpu_set_t has another size here");
  if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  CPU_ZERO(&one);
  CPU_SET((size_t)cpu, &one);
  if (sched_getaffinity(0, sizeof one, (cpu_set_t *)(void *)h->cpus) != 0) return;
  h->pinned = sched_setaffinity(0, sizeof one, &one) == 0;
}

static bool find_write(struct hostclock *h, struct fault *f) {
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  void *entry = NULL;
  if (!CUDA(f, cudaGetDriverEntryPointByVersion("cuStreamWriteValue32", &entry, 11070,
                                                cudaEnableDefault, &found)))
    return false;
  if (found != cudaDriverEntryPointSuccess || !entry)
    return fault_set(f, "the driver has no cuStreamWriteValue32");
  memcpy(&h->write, &entry, sizeof entry);
  return true;
}

bool hostclock_open(struct hostclock *h, struct fault *f) {
  void *flag = NULL, *device = NULL;
  pin(h);
  if (!find_write(h, f) || !CUDA(f, cudaHostAlloc(&flag, 64, cudaHostAllocMapped))) return false;
  h->flag = flag;
  *h->flag = 0;
  if (!CUDA(f, cudaHostGetDevicePointer(&device, flag, 0))) return false;
  h->flag_device = (CUdeviceptr)(uintptr_t)device;
  return true;
}

void hostclock_close(struct hostclock *h) {
  for (int i = 0; i < h->sides; i++) {
    free(h->side[i].us);
    free(h->side[i].enqueue_us);
  }
  free(h->due);
  free(h->us);
  free(h->enqueue_us);
  if (h->flag) (void)cudaFreeHost(h->flag);
  if (h->pinned) (void)sched_setaffinity(0, sizeof h->cpus, (const cpu_set_t *)(void *)h->cpus);
}

/* 'n' zeroes that are in memory, not only promised. */
static bool take(void *out, size_t n, size_t size, struct fault *f) {
  void *p = malloc(n * size);
  if (!p) return fault_set(f, "no memory for %zu samples", n);
  memset(p, 0, n * size);
  memcpy(out, &p, sizeof p);
  return true;
}

static bool make_room(struct hostclock *h, int room, struct fault *f) {
  size_t n = (size_t)room;
  if (room <= h->room) return true;
  free(h->due);
  free(h->us);
  free(h->enqueue_us);
  h->due = NULL;
  h->us = h->enqueue_us = NULL;
  h->room = 0;
  if (!take(&h->due, n, sizeof *h->due, f) || !take(&h->us, n, sizeof *h->us, f) ||
      !take(&h->enqueue_us, n, sizeof *h->enqueue_us, f))
    return false;
  h->room = room;
  return true;
}

/* One call */

static bool launch(struct hostclock *h, struct hostclock_side *s, struct fault *f) {
  int set = h->set;
  h->set = set + 1 < h->sets ? set + 1 : 0;
  return s->launch(s->context, set, f);
}

/* What was enqueued so far is to be told. */
static bool tell(struct hostclock *h, struct fault *f) {
  CUresult e = h->write(h->gpu->stream, h->flag_device, ++h->sent, CU_STREAM_WRITE_VALUE_DEFAULT);
  return e == CUDA_SUCCESS || fault_set(f, "cuStreamWriteValue32 fails (error %d)", (int)e);
}

/* How many tells since the number 'first' have come true. */
static int told(const struct hostclock *h, uint32_t first) {
  return (int)(__atomic_load_n(h->flag, __ATOMIC_ACQUIRE) - first);
}

static bool ask_after(struct hostclock *h, struct fault *f) {
  return gpu_await(h->gpu, "a call on the host's clock", h->patience, f);
}

static bool wait_for_all(struct hostclock *h, double since, struct fault *f) {
  while (told(h, h->sent) != 0)
    if (gpu_now() - since > silence) return ask_after(h, f);
  return true;
}

/* Segments: into h->us; *n is how many */

static bool call_after_call(struct hostclock *h, struct hostclock_side *s, double length, int least,
                            int most, int *n, struct fault *f) {
  double start = gpu_now(), end = start;
  for (*n = 0; *n < most && (end - start < length || *n < least); ++*n) {
    double from = gpu_now();
    if (!launch(h, s, f)) return false;
    double returned = gpu_now();
    if (!tell(h, f) || !wait_for_all(h, returned, f)) return false;
    end = gpu_now();
    h->us[*n] = (float)((end - from) * 1e6);
    h->enqueue_us[*n] = (float)((returned - from) * 1e6);
  }
  return true;
}

/* Sends what is due, and sees to it that somebody is awake on the other side. *moved: when something
** last was sent into an empty queue or came out of it. */
static bool send_or_wait(struct hostclock *h, struct hostclock_side *s, struct clockqueue *q,
                         double now, double *moved, struct fault *f) {
  if (clockqueue_may_send(q, now)) {
    if (q->sent == q->done) *moved = now;
    q->sent++;
    return launch(h, s, f) && tell(h, f);
  }
  return q->sent == q->done || now - *moved <= silence || ask_after(h, f);
}

static bool requests(struct hostclock *h, struct hostclock_side *s, double length, int *n,
                     struct fault *f) {
  struct clockqueue q = {.due = h->due, .n = *n, .most = IN_FLIGHT};
  uint32_t first = h->sent;
  int given_up = 0;
  double start = gpu_now(), moved = 0;
  while (q.done < q.n) {
    int done = told(h, first);
    double now = gpu_now() - start;
    if (done > q.done) moved = now;
    clockqueue_done(&q, done, now, h->us);
    if (!send_or_wait(h, s, &q, now, &moved, f)) return false;
    if (now > overload * length && q.sent > 0 && q.sent < q.n) /* one at least: it has a median */
      given_up += clockqueue_give_up(&q, now, h->us);
  }
  h->dropped += given_up;
  *n = q.n + given_up;
  return true;
}

/* Isolated calls */

bool hostclock_isolated(struct hostclock *h, int side, double seconds, double *median,
                        struct fault *f) {
  int n;
  int most = h->most_calls && h->most_calls < MOST_ISOLATED ? h->most_calls : MOST_ISOLATED;
  if (!make_room(h, most, f) ||
      !call_after_call(h, &h->side[side], seconds, LEAST_ISOLATED, most, &n, f))
    return false;
  *median = clockplan_percentile(h->us, n, 0.5) * 1e-6;
  return true;
}

/* A run */

static bool grow(float **v, int room, struct fault *f) {
  float *more = realloc(*v, (size_t)room * sizeof *more);
  if (!more) return fault_set(f, "no memory for %d samples", room);
  *v = more;
  return true;
}

static bool keep(const struct hostclock *h, struct hostclock_side *s, int n, struct fault *f) {
  if (s->calls + n > s->room) {
    s->room = 2 * (s->calls + n);
    if (!grow(&s->us, s->room, f) || !grow(&s->enqueue_us, s->room, f)) return false;
  }
  memcpy(s->us + s->calls, h->us, (size_t)n * sizeof *s->us);
  memcpy(s->enqueue_us + s->calls, h->enqueue_us, (size_t)n * sizeof *s->enqueue_us);
  s->calls += n;
  s->from[++s->segments] = s->calls;
  return true;
}

/* Of calls, a side much faster than the one the plan goes by ends its segments early. */
static int room_for(const struct hostclock *h, const struct clockplan *plan) {
  int most = h->server ? plan->calls : 4 * plan->calls + 64;
  return h->most_calls && h->most_calls < most ? h->most_calls : most;
}

static bool segment(struct hostclock *h, const struct clockplan *plan, int side, int schedule,
                    struct fault *f) {
  struct hostclock_side *s = &h->side[side];
  int n = plan->calls;
  if (!h->server)
    return call_after_call(h, s, plan->length, 1, room_for(h, plan), &n, f) && keep(h, s, n, f);
  clockplan_arrivals(h->due, n, plan->gap, clockplan_seed(h->seed, schedule));
  return requests(h, s, plan->length, &n, f) && keep(h, s, n, f);
}

bool hostclock_run(struct hostclock *h, const struct clockplan *plan, hostclock_between *between,
                   void *context, struct fault *f) {
  if (!make_room(h, room_for(h, plan), f)) return false;
  for (int b = 0; b < plan->blocks; b++)
    for (int w = 0; w < 2 * plan->sides; w++) {
      int side = clockplan_side(w, plan->sides), half = w >= plan->sides;
      bool its_last = half && b == plan->blocks - 1;
      if (!between(context, side, its_last ? HOSTCLOCK_BEFORE_LAST : HOSTCLOCK_BEFORE, f) ||
          !segment(h, plan, side, 2 * b + half, f) ||
          (its_last && !between(context, side, HOSTCLOCK_AFTER_LAST, f)))
        return false;
    }
  return true;
}

/* Figures */

void hostclock_medians(struct hostclock *h, int side, double *out) {
  struct hostclock_side *s = &h->side[side];
  for (int i = 0; i < s->segments; i++)
    out[i] = clockplan_percentile(s->us + s->from[i], s->from[i + 1] - s->from[i], 0.5);
}

double hostclock_latency(struct hostclock *h, int side, double part) {
  return clockplan_percentile(h->side[side].us, h->side[side].calls, part);
}

double hostclock_enqueue(struct hostclock *h, int side) {
  return clockplan_percentile(h->side[side].enqueue_us, h->side[side].calls, 0.5);
}
