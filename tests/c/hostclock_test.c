/* hostclock_test.c - the host's clock against a GPU whose every time is known
**
** The GPU is simulated, and so is time: a look at the clock takes 0.1 us, a launch 2 us,
** the write behind it 1 us of the host; kernels last as long as their side says, one after
** the other. What the clock must say can then be computed.
*/
#include "../../bench/cuda/hostclock.h"
#include "ok.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING = 256, LOG = 4096, SETS = 7 };
static const double look = 0.1e-6, launching = 2e-6, writing = 1e-6; /* of the host */
static const double on_its_way = 1e-6, coming_back = 0.5e-6;

/* The simulated machine */

static uint32_t *flag;

static struct {
  double now, free_at;
  struct {
    double at;
    uint32_t value;
  } pending[PENDING];
  int first, last, most_pending;
  int launches, set[LOG];
  bool hangs, writes_fail;
} sim;

/* A side's kernel */
struct kernel {
  double s;
  int stuck_at; /* this launch of it never ends; 0: none */
  int launches;
};

double gpu_now(void) {
  sim.now += look;
  for (; sim.first != sim.last && sim.pending[sim.first % PENDING].at <= sim.now; sim.first++)
    *flag = sim.pending[sim.first % PENDING].value;
  return sim.now;
}

static bool launch(void *context, int set, struct fault *f) {
  struct kernel *k = context;
  (void)f;
  sim.now += launching;
  if (++k->launches == k->stuck_at) sim.hangs = true;
  if (sim.launches < LOG) sim.set[sim.launches] = set;
  sim.launches++;
  sim.free_at = sim.hangs ? INFINITY : fmax(sim.free_at, sim.now + on_its_way) + k->s;
  return true;
}

static CUresult write_value(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned flags) {
  int i = sim.last % PENDING;
  (void)stream;
  (void)flags;
  if (sim.writes_fail || to != (CUdeviceptr)(uintptr_t)flag) return CUDA_ERROR_INVALID_VALUE;
  sim.now += writing;
  sim.pending[i].at = fmax(sim.free_at, sim.now) + coming_back;
  sim.pending[i].value = value;
  sim.last++;
  if (sim.last - sim.first > sim.most_pending) sim.most_pending = sim.last - sim.first;
  return CUDA_SUCCESS;
}

bool gpu_await(struct gpu *g, const char *what, double seconds, struct fault *f) {
  (void)g;
  if (sim.hangs) {
    sim.now += seconds;
    f->hung = true;
    return fault_set(f, "%s does not end (%g s)", what, seconds);
  }
  if (sim.first != sim.last) sim.now = fmax(sim.now, sim.pending[(sim.last - 1) % PENDING].at);
  (void)gpu_now();
  return true;
}

bool gpu_cuda(struct fault *f, cudaError_t e, const char *expr, const char *file, int line) {
  return e == cudaSuccess || fault_set(f, "%s:%d: %s", file, line, expr);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found) {
  PFN_cuStreamWriteValue32_v11070 f = write_value;
  (void)version;
  (void)flags;
  memcpy(out, &f, sizeof f);
  *found = cudaDriverEntryPointSuccess;
  return strcmp(name, "cuStreamWriteValue32") == 0 ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaHostAlloc(void **out, size_t size, unsigned flags) {
  (void)flags;
  *out = flag = malloc(size);
  return flag ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned flags) {
  (void)flags;
  *out = host;
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void *host) {
  free(host);
  return cudaSuccess;
}

/* A clock with so many sides */

static struct hostclock h;
static struct kernel kernels[CLOCK_SIDES];
static struct fault fault;
static struct gpu gpu;

static void start(bool server, int sides, const double *seconds) {
  memset(&sim, 0, sizeof sim);
  memset(&fault, 0, sizeof fault);
  h = (struct hostclock){
      .gpu = &gpu, .sets = SETS, .server = server, .patience = 5, .seed = 1, .sides = sides};
  for (int i = 0; i < sides; i++) {
    kernels[i] = (struct kernel){.s = seconds[i]};
    h.side[i] = (struct hostclock_side){.launch = launch, .context = &kernels[i]};
  }
  if (!hostclock_open(&h, &fault)) ok(false, "opens (%s)", fault.text);
}

static struct seen {
  int n, side[2 * CLOCK_SIDES * CLOCK_MOST_BLOCKS], before_last, after_last;
} seen;

static bool between(void *context, int side, enum hostclock_when when, struct fault *f) {
  struct seen *s = context;
  (void)f;
  if (when == HOSTCLOCK_AFTER_LAST) {
    s->after_last++;
    return true;
  }
  s->side[s->n++] = side;
  s->before_last += when == HOSTCLOCK_BEFORE_LAST;
  return true;
}

static struct clockplan plan_of(double seconds, double gap) {
  struct clockplan p;
  double least;
  memset(&seen, 0, sizeof seen);
  if (!clockplan_cut(seconds, h.sides, gap, h.most_calls, &p, &least)) ok(false, "plans");
  return p;
}

static bool run(double seconds, double gap) {
  struct clockplan p = plan_of(seconds, gap);
  return hostclock_run(&h, &p, between, &seen, &fault);
}

static void runs(double seconds, double gap) {
  bool to_its_end = run(seconds, gap);
  ok(to_its_end, "runs to its end (%s)", fault.text);
}

static bool near(double got, double want, double off) { return fabs(got - want) <= off; }

static double mean(const struct hostclock_side *s) {
  double sum = 0;
  for (int i = 0; i < s->calls; i++) sum += (double)s->us[i];
  return sum / s->calls;
}

static struct clockratio ratio(int base, int ours) {
  double b[CLOCK_SEGMENTS], o[CLOCK_SEGMENTS];
  hostclock_medians(&h, base, b);
  hostclock_medians(&h, ours, o);
  return clockplan_ratio(b, o, h.side[ours].segments / 2);
}

/* Calls */

static void calls(void) {
  const double s[] = {10e-6, 10e-6, 20e-6};
  double median;
  start(false, 3, s);
  bool done_all = hostclock_isolated(&h, 0, 0.01, &median, &fault);
  ok(done_all && near(median * 1e6, 13.6, 0.2), "a call of 10 us is seen to its end (%.2f us)",
     median * 1e6);
  ok(h.side[0].calls == 0, "and nothing of it is kept");
  int probes = sim.launches;
  runs(0.1, 23.5e-6);
  struct clockratio same = ratio(1, 0), twice = ratio(2, 0);
  double us = hostclock_latency(&h, 0, 0.5);
  ok(near(us, 13.6, 0.2), "the median is that of one call (%.2f us)", us);
  ok(near(hostclock_enqueue(&h, 0), 2.1, 0.01), "its launch returns after 2 us");
  ok(near(same.ratio.mid, 1, 0.004) && same.verdict == STAT_SAME, "equal sides are equal");
  ok(near(twice.ratio.mid, 23.5 / 13.5, 0.03) && twice.verdict == STAT_FASTER,
     "a slower one is slower by as much (%.3f)", twice.ratio.mid);
  ok(h.side[0].calls + h.side[1].calls + h.side[2].calls == sim.launches - probes,
     "every call is kept (%d)", sim.launches - probes);
  ok(sim.most_pending == 1, "and none began before the one before was done");
  bool walks = true;
  for (int i = 0; i < sim.launches && i < LOG; i++) walks = walks && sim.set[i] == i % SETS;
  ok(walks, "all sides walk the ring together");
  hostclock_close(&h);
}

static void order(void) {
  const double s[] = {10e-6, 10e-6, 10e-6};
  start(false, 3, s);
  struct clockplan p = plan_of(0.05, 13.5e-6);
  ok(hostclock_run(&h, &p, between, &seen, &fault) && seen.n == 6 * p.blocks, "all segments run");
  bool right = true;
  for (int i = 0; i < seen.n; i++) right = right && seen.side[i] == clockplan_side(i % 6, 3);
  ok(right, "in palindromes");
  ok(seen.before_last == 3 && seen.after_last == 3, "each side's last one is announced");
  ok(h.side[2].segments == 2 * p.blocks, "each side has two of a block");
  hostclock_close(&h);
}

static void bounded(void) {
  const double s[] = {1e-6, 100e-6};
  start(false, 2, s);
  h.most_calls = SETS;
  runs(0.1, 103.5e-6);
  bool within = true;
  for (int i = 0; i < h.side[0].segments; i++)
    within = within && h.side[0].from[i + 1] - h.side[0].from[i] <= SETS;
  ok(within && h.side[0].segments > 0, "no segment has more calls than allowed");
  hostclock_close(&h);
}

/* Requests */

static void requests(void) {
  const double s[] = {100e-6, 100e-6};
  const double gap = 200e-6, rho = 0.5, alone = 103.6; /* us */
  start(true, 2, s);
  runs(8, gap);
  ok(h.side[0].calls == h.side[1].calls && h.dropped == 0, "both sides serve all (%d requests)",
     h.side[0].calls);
  struct clockratio r = ratio(1, 0);
  ok(near(r.ratio.mid, 1, 0.002) && r.verdict == STAT_SAME, "equally fast");
  double wait = rho * 100 / (2 * (1 - rho)), got = mean(&h.side[0]) - alone;
  ok(near(got, wait, 0.1 * wait), "they wait as long as theory has it (%.1f us, %.1f)", got, wait);
  double p50 = hostclock_latency(&h, 0, 0.5), p99 = hostclock_latency(&h, 0, 0.99);
  ok(p50 > alone && p50 < alone + wait, "the median waits, but less (%.1f us)", p50);
  ok(p99 > alone + 3 * wait, "one in a hundred long (%.1f us)", p99);
  hostclock_close(&h);
}

static void overload(void) {
  const double s[] = {2000e-6, 100e-6}; /* the first cannot keep up */
  start(true, 2, s);
  runs(1, 200e-6);
  ok(sim.now < 12, "in good time (%.1f s)", sim.now);
  ok(sim.most_pending == 64, "with a bounded queue (%d)", sim.most_pending);
  ok(h.dropped > 0, "requests that were never sent are counted (%d)", h.dropped);
  ok(h.side[0].calls == h.side[1].calls, "and are in the figures");
  double p99 = hostclock_latency(&h, 0, 0.99);
  ok(p99 > 70 * 2000, "their wait began when they came (%.0f us)", p99);
  ok(ratio(1, 0).verdict == STAT_SLOWER, "such a side is slower");
  hostclock_close(&h);
}

/* So short that it is over before the first request arrives */
static void late_arrivals(void) {
  const double s[] = {10e-6, 10e-6};
  const struct clockplan p = {.sides = 2, .blocks = 8, .length = 1e-6, .gap = 1e-3, .calls = 4};
  start(true, 2, s);
  memset(&seen, 0, sizeof seen);
  ok(hostclock_run(&h, &p, between, &seen, &fault), "short segments run (%s)", fault.text);
  bool some = true;
  for (int i = 0; i < h.side[0].segments; i++)
    some = some && h.side[0].from[i + 1] > h.side[0].from[i];
  ok(some && h.side[0].segments == 16, "each segment has a request, and so a median");
  hostclock_close(&h);
}

/* What goes wrong */

static void hangs(bool server) {
  const double s[] = {10e-6, 10e-6};
  const char *what = server ? "request" : "call";
  start(server, 2, s);
  kernels[1].stuck_at = 100;
  bool ended = run(1, 40e-6);
  ok(!ended && fault.hung && strstr(fault.text, "does not end"),
     "a %s that never ends is told (%s)", what, fault.text);
  ok(sim.now < 1 + 5.5, "%.1f s later", sim.now);
  hostclock_close(&h);
}

static void slow(void) {
  const double s[] = {0.3, 0.3};
  double median;
  start(false, 2, s);
  bool ended = hostclock_isolated(&h, 0, 1, &median, &fault);
  ok(ended && near(median, 0.3, 0.001), "a call of 0.3 s is slow, not hung (%.3f s)", median);
  hostclock_close(&h);
}

static void failing(void) {
  const double s[] = {10e-6, 10e-6};
  start(false, 2, s);
  sim.writes_fail = true;
  bool ended = run(1, 40e-6);
  ok(!ended && strstr(fault.text, "cuStreamWriteValue32") && !fault.hung,
     "what the driver refuses is told (%s)", fault.text);
  hostclock_close(&h);
}

int main(void) {
  calls();
  order();
  bounded();
  requests();
  overload();
  late_arrivals();
  hangs(false);
  hangs(true);
  slow();
  failing();
  return done();
}
