/* selftest_clock.c - shows that the host's clock tells apart what it must
**
** On kernels that wait for a known time: equal sides are equal, one that takes longer
** is slower, requests wait in line, and what does not end is told.
*/
#include "selftest.h"

#include "hostclock.h"
#include "kernels.h"

#include <stdio.h>
#include <string.h>

enum { SETS = 4, ENDLESS_US = 400000 };
static const double seconds = 0.5, patience = 0.05;

struct waits {
  cudaStream_t stream;
  unsigned us;
};

static bool launch(void *context, int set, struct fault *f) {
  const struct waits *w = context;
  (void)set;
  return CUDA(f, kernels_wait(w->us, w->stream));
}

static bool nothing(void *context, int side, enum hostclock_when when, struct fault *f) {
  (void)context;
  (void)side;
  (void)when;
  (void)f;
  return true;
}

static struct hostclock clock_of(struct gpu *g, bool server, struct waits side[2]) {
  struct hostclock h = {
      .gpu = g, .sets = SETS, .server = server, .patience = patience, .seed = 1, .sides = 2};
  for (int i = 0; i < 2; i++)
    h.side[i] = (struct hostclock_side){.launch = launch, .context = &side[i]};
  return h;
}

struct seen {
  double alone, us[2], p99, enqueue; /* microseconds; alone, p99 and enqueue of side 0 */
  struct clockratio ratio;           /* of side 1 to side 0 */
};

static void look(struct hostclock *h, struct seen *out) {
  double medians[2][CLOCK_SEGMENTS];
  for (int i = 0; i < 2; i++) {
    hostclock_medians(h, i, medians[i]);
    out->us[i] = hostclock_latency(h, i, 0.5);
  }
  out->p99 = hostclock_latency(h, 0, 0.99);
  out->enqueue = hostclock_enqueue(h, 0);
  out->ratio = clockplan_ratio(medians[1], medians[0], h->side[0].segments / 2);
}

/* At half of what side 0 can serve, where it is a server. */
static bool measure(struct hostclock *h, struct seen *out, struct fault *f) {
  struct clockplan plan;
  double s, least;
  if (!hostclock_open(h, f) || !hostclock_isolated(h, 1, 0.02, &s, f) ||
      !hostclock_isolated(h, 0, 0.02, &s, f))
    return false;
  out->alone = s * 1e6;
  if (!clockplan_cut(seconds, 2, 2 * s, 0, &plan, &least))
    return fault_set(f, "%g seconds are too few", seconds);
  if (!hostclock_run(h, &plan, nothing, NULL, f)) return false;
  look(h, out);
  return true;
}

static const struct wanted {
  const char *name;
  bool server;
  unsigned us[2];
  double least, most; /* of the ratio */
} wanted[] = {{"calls of equal length are equal", false, {20, 20}, 0.98, 1.02},
              {"a longer call is slower", false, {20, 40}, 1.3, 2.05},
              {"requests wait in line", true, {20, 20}, 0.97, 1.03}};

static bool right(const struct wanted *w, const struct seen *s) {
  double ratio = s->ratio.ratio.mid;
  bool long_enough = s->us[0] >= w->us[0] && s->us[0] < 5 * w->us[0];
  bool waits = !w->server || (s->p99 > 1.3 * s->alone && s->us[0] > 0.9 * s->alone);
  return ratio > w->least && ratio < w->most && long_enough && waits;
}

static void tell(bool ok, const char *name, const char *why, int *passed, int *failed) {
  printf("%s clock: %s (%s)\n", ok ? "ok" : "not ok", name, why);
  (void)fflush(stdout);
  ++*(ok ? passed : failed);
}

static void one(struct gpu *g, const struct wanted *w, int *passed, int *failed) {
  struct waits side[2] = {{g->stream, w->us[0]}, {g->stream, w->us[1]}};
  struct hostclock h = clock_of(g, w->server, side);
  struct fault f = {.hung = false};
  struct seen s = {.alone = 0};
  char why[640];
  bool ran = measure(&h, &s, &f);
  snprintf(
      why, sizeof why, "ratio %.4f [%.4f, %.4f], p50 %.2f, p99 %.2f, alone %.2f, launch %.2f us",
      s.ratio.ratio.mid, s.ratio.ratio.lo, s.ratio.ratio.hi, s.us[0], s.p99, s.alone, s.enqueue);
  tell(ran && right(w, &s), w->name, ran ? why : f.text, passed, failed);
  (void)cudaStreamSynchronize(g->stream);
  hostclock_close(&h);
}

/* It does end, but long after patience has. */
static void endless(struct gpu *g, int *passed, int *failed) {
  struct waits side[2] = {{g->stream, ENDLESS_US}, {g->stream, ENDLESS_US}};
  struct hostclock h = clock_of(g, false, side);
  struct fault f = {.hung = false};
  double s;
  bool ran = hostclock_open(&h, &f) && hostclock_isolated(&h, 0, 0.02, &s, &f);
  tell(!ran && f.hung && strstr(f.text, "does not end"), "a call that does not end is told",
       ran ? "nothing happened" : f.text, passed, failed);
  (void)cudaStreamSynchronize(g->stream);
  hostclock_close(&h);
}

void selftest_clock(struct gpu *g, int *passed, int *failed) {
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) one(g, &wanted[i], passed, failed);
  endless(g, passed, failed);
}
