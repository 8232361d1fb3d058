/* clockplan_test.c - arrivals, queue, percentiles, lengths and ratios against what they must be */
#include "../../bench/cuda/clockplan.h"
#include "ok.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 20000 };
static const double gap = 50e-6;

/* Lengths and order */

static void cuts(void) {
  struct clockplan p;
  double least;
  ok(clockplan_cut(2, 3, 10e-6, 0, &p, &least), "two seconds are enough for calls of 10 us");
  ok(p.blocks >= CLOCK_LEAST_BLOCKS && p.blocks <= CLOCK_MOST_BLOCKS, "%d blocks", p.blocks);
  ok(fabs(p.blocks * 6 * p.length - 2) < 1e-9, "the segments fill the seconds");
  ok(abs(p.calls - (int)(p.length / 10e-6)) <= 1, "a segment has as many calls as fit into it");
  ok(clockplan_cut(60, 3, 10e-6, 0, &p, &least) && p.blocks > 64, "more seconds are more blocks");
  ok(clockplan_cut(60, 3, 10e-6, 1024, &p, &least) && p.calls == 1024,
     "no more calls than allowed");
  ok(p.blocks == CLOCK_MOST_BLOCKS && p.blocks * 6 * p.length < 60, "which may end a run early");
  ok(clockplan_cut(1, 3, 0.1, 0, &p, &least) && least > 1,
     "one second is too short for a call every 100 ms, and is made longer (%g s)", least);
  ok(fabs(p.blocks * 6 * p.length - least) < 1e-9, "by as much as it takes");
  ok(p.blocks == CLOCK_LEAST_BLOCKS && p.calls == 4, "to have blocks for a verdict");
  ok(!clockplan_cut(1, 3, 0.2, 0, &p, &least) && least > 1 + CLOCK_EXTRA, "but not without end");
  ok(clockplan_cut(least - CLOCK_EXTRA, 3, 0.2, 0, &p, &least), "what it says is enough, is");
}

/* Even drift over a palindrome is the same for every side. */
static void order(void) {
  for (int sides = 2; sides <= CLOCK_SIDES; sides++) {
    int sum[CLOCK_SIDES] = {0}, count[CLOCK_SIDES] = {0};
    for (int w = 0; w < 2 * sides; w++) {
      sum[clockplan_side(w, sides)] += w;
      count[clockplan_side(w, sides)]++;
    }
    for (int s = 0; s < sides; s++)
      ok(count[s] == 2 && sum[s] == 2 * sides - 1, "side %d of %d is balanced", s, sides);
  }
}

/* Arrivals */

/* Largest distance of the gaps' distribution from the exponential one, times sqrt(n): above 1.63 in
** one of 100 honest samples (Kolmogorov and Smirnov). */
static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double distance(const double *due, int n) {
  static double g[MANY];
  double worst = 0;
  for (int i = 0; i < n; i++) g[i] = due[i] - (i ? due[i - 1] : 0);
  qsort(g, (size_t)n, sizeof *g, ascending);
  for (int i = 0; i < n; i++) {
    double f = 1 - exp(-g[i] / gap);
    worst = fmax(worst, fmax(fabs(f - (double)i / n), fabs(f - (double)(i + 1) / n)));
  }
  return worst * sqrt(n);
}

static void arrivals(void) {
  static double due[MANY], again[MANY], planted[MANY];
  clockplan_arrivals(due, MANY, gap, 7);
  clockplan_arrivals(again, MANY, gap, 7);
  ok(memcmp(due, again, sizeof due) == 0, "equal seeds give equal arrivals");
  clockplan_arrivals(again, MANY, gap, 8);
  ok(memcmp(due, again, sizeof due) != 0, "other seeds others");
  ok(due[0] > 0, "none arrives before the start");
  ok(fabs(due[MANY - 1] / (MANY * gap) - 1) < 0.03, "they come as often as they should");
  ok(distance(due, MANY) < 1.63, "gaps are exponential (%.2f)", distance(due, MANY));
  for (int i = 0; i < MANY; i++) planted[i] = gap * (i + 1);
  ok(distance(planted, MANY) > 1.63, "even gaps would be seen (%.2f)", distance(planted, MANY));
  for (int i = 0; i < MANY; i++) /* 0 .. 2 gap */
    planted[i] = (i ? planted[i - 1] : 0) + 2 * gap * fmod(i * 0.6180339887498949, 1);
  ok(distance(planted, MANY) > 1.63, "uniform gaps would be seen (%.2f)", distance(planted, MANY));
  ok(clockplan_seed(1, 0) != clockplan_seed(1, 1) && clockplan_seed(1, 0) != clockplan_seed(2, 0) &&
         clockplan_seed(1, 1) != clockplan_seed(2, 0),
     "each schedule of each seed has a seed of its own");
}

/* Queue: a server that takes 'service' for each, one after the other */

static double serve(int n, int most, double service, float *us, int *most_at_once) {
  static double due[MANY], end[MANY];
  struct clockqueue q = {.due = due, .n = n, .most = most};
  double free_at = 0, sum = 0;
  clockplan_arrivals(due, n, gap, 3);
  *most_at_once = 0;
  for (double now = 0; q.done < n; now += 0.25e-6) {
    int done = q.done;
    while (done < q.sent && end[done] <= now) done++;
    clockqueue_done(&q, done, now, us);
    if (!clockqueue_may_send(&q, now)) continue;
    free_at = fmax(free_at, now) + service;
    end[q.sent++] = free_at;
    if (q.sent - q.done > *most_at_once) *most_at_once = q.sent - q.done;
  }
  for (int i = 0; i < n; i++) sum += us[i];
  return sum / n;
}

/* Of random arrivals at a server of constant speed, the mean wait is known: Pollaczek, Khinchine. */
static void queues(void) {
  static float us[MANY];
  int at_once;
  for (int load = 10; load <= 70; load += 20) {
    double rho = load / 100.0, service = rho * gap;
    double mean = serve(MANY, 64, service, us, &at_once);
    double wait = rho * service * 1e6 / (2 * (1 - rho));
    ok(fabs(mean - service * 1e6 - wait) < 0.1 * wait + 0.2,
       "at %d %% load the wait is %.2f us, as theory has it (%.2f)", load, mean - service * 1e6,
       wait);
  }
  double free_way = serve(MANY, 64, 0.7 * gap, us, &at_once);
  double narrow = serve(MANY, 2, 0.7 * gap, us, &at_once);
  ok(at_once == 2, "no more are sent at once than may be (%d)", at_once);
  ok(fabs(narrow / free_way - 1) < 0.01,
     "to be held back counts as waiting: latency is from the arrival (%.2f, %.2f us)", narrow,
     free_way);
}

static void gives_up(void) {
  const double due[] = {1, 2, 3, 4, 5};
  float us[5] = {0};
  struct clockqueue q = {.due = due, .n = 5, .most = 2, .sent = 2, .done = 1};
  ok(!clockqueue_may_send(&q, 2.9), "none is sent before it is due");
  ok(clockqueue_may_send(&q, 3), "one that is due is");
  ok(clockqueue_give_up(&q, 4.5, us) == 2, "those that have arrived are counted");
  ok(us[2] == 1.5e6f && us[3] == 0.5e6f, "with the time they have waited");
  ok(q.n == 2 && !clockqueue_may_send(&q, 9), "and no more are sent");
  clockqueue_done(&q, 2, 5, us);
  ok(us[1] == 3e6f && us[2] == 1.5e6f && q.done == q.n, "those on their way still come");
}

/* Figures */

static void percentiles(void) {
  float v[200];
  for (int i = 0; i < 200; i++) v[(i * 77) % 200] = (float)(i + 1); /* 1 .. 200, shuffled */
  ok(clockplan_percentile(v, 200, 0.5) == 100, "the median of 1 to 200");
  ok(clockplan_percentile(v, 200, 0.99) == 198, "and what 99 of 100 do not exceed");
  ok(clockplan_percentile(v, 200, 1) == 200 && clockplan_percentile(v, 200, 0) == 1, "the ends");
  float one[] = {3};
  ok(clockplan_percentile(one, 1, 0.99) == 3, "of one value it is that");
}

/* Blocks of drifting medians whose true ratio is 'ratio'; without: in the order of ABAB. */
static struct clockratio drifting(double ratio, bool palindrome, int blocks) {
  double base[CLOCK_SEGMENTS], ours[CLOCK_SEGMENTS];
  for (int b = 0; b < blocks; b++) {
    double at[4];
    for (int w = 0; w < 4; w++) at[w] = 10 * exp(0.02 * (4 * b + w)); /* 2 % a segment */
    ours[2 * b] = at[0];
    base[2 * b] = at[1] * ratio;
    base[2 * b + 1] = at[palindrome ? 2 : 3] * ratio;
    ours[2 * b + 1] = at[palindrome ? 3 : 2];
  }
  return clockplan_ratio(base, ours, blocks);
}

static void ratios(void) {
  struct clockratio r = drifting(1.1, true, 8);
  ok(fabs(r.ratio.mid - 1.1) < 1e-9 && r.verdict == STAT_FASTER, "drift falls out (%.4f)",
     r.ratio.mid);
  ok(drifting(1, true, 8).verdict == STAT_SAME, "equal sides are the same, in spite of drift");
  ok(drifting(0.9, true, 8).verdict == STAT_SLOWER, "a slower one is slower");
  ok(drifting(1.1, true, 7).verdict == STAT_UNDECIDED, "too few blocks decide nothing");
  r = drifting(1, false, 8);
  ok(fabs(r.ratio.mid - exp(0.02)) < 1e-9, "sides that only alternate would show drift (%.4f)",
     r.ratio.mid);
  r = drifting(1.1, true, CLOCK_MOST_BLOCKS);
  ok(fabs(r.ratio.mid - 1.1) < 1e-9, "the largest run is taken");
}

int main(void) {
  cuts();
  order();
  arrivals();
  queues();
  gives_up();
  percentiles();
  ratios();
  return done();
}
