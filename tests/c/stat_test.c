/* stat_test.c - the statistics on known values and planted series */
#include "../../gen/stat.h"
#include "ok.h"

#include <math.h>
#include <string.h>

static double noise(unsigned *state) { /* uniform in -1 .. 1 */
  *state = *state * 1664525u + 1013904223u;
  return (double)*state / 2147483648.0 - 1.0;
}

/* About normal, standard deviation 1 */
static double bell(unsigned *state) {
  double sum = 0;
  for (int i = 0; i < 6; i++) sum += noise(state);
  return sum / sqrt(2);
}

static void medians(void) {
  const double odd[] = {5, 1, 4, 2, 3}, even[] = {4, 1, 3, 2}, wild[] = {1, 1, 1, 1e30, -1e30};
  double kept[5];
  memcpy(kept, odd, sizeof kept);
  ok(stat_median(odd, 5) == 3, "the median of five values is the third");
  ok(stat_median(even, 4) == 2.5, "the median of four is the mean of the middle two");
  ok(stat_median(odd, 1) == 5, "the median of one value is that value");
  ok(stat_median(wild, 5) == 1, "outliers do not move the median");
  ok(memcmp(kept, odd, sizeof kept) == 0, "the values are left in place");
}

static void intervals(void) {
  double v[STAT_MAX];
  unsigned state = 7;
  v[0] = 3;
  struct stat_interval one = stat_bootstrap(v, 1, 0.95);
  ok(one.lo == 3 && one.mid == 3 && one.hi == 3, "one value is its own interval");
  for (int i = 0; i < 32; i++) v[i] = 2;
  struct stat_interval same = stat_bootstrap(v, 32, 0.95);
  ok(same.lo == 2 && same.hi == 2, "equal values have an interval of width 0");
  for (int i = 0; i < STAT_MAX; i++) v[i] = 0.1 + 0.01 * noise(&state);
  struct stat_interval few = stat_bootstrap(v, 16, 0.95), many = stat_bootstrap(v, 256, 0.95);
  ok(few.lo <= few.mid && few.mid <= few.hi, "the interval holds the median");
  ok(few.lo > 0.09 && few.hi < 0.11, "the interval stays within the values");
  ok(many.hi - many.lo < (few.hi - few.lo) * 0.6, "more blocks narrow it (%g to %g)",
     few.hi - few.lo, many.hi - many.lo);
  struct stat_interval wide = stat_bootstrap(v, 16, 0.99);
  ok(wide.lo <= few.lo && wide.hi >= few.hi && wide.hi - wide.lo > few.hi - few.lo,
     "99 %% are wider than 95 %%");
  struct stat_interval again = stat_bootstrap(v, 16, 0.95);
  ok(memcmp(&few, &again, sizeof few) == 0, "equal values give equal intervals");
  struct stat_interval most = stat_bootstrap(v, STAT_MAX, 0.95);
  ok(fabs(most.mid - 0.1) < 0.001, "the largest sample is taken");
}

/* The interval must hold the true median in about 95 of 100 experiments. */
static void coverage(void) {
  unsigned state = 12345;
  int held = 0, experiments = 400;
  for (int e = 0; e < experiments; e++) {
    double v[32];
    for (int i = 0; i < 32; i++) v[i] = noise(&state) + noise(&state) + noise(&state);
    struct stat_interval s = stat_bootstrap(v, 32, 0.95);
    held += s.lo <= 0 && s.hi >= 0;
  }
  ok(held >= experiments * 90 / 100 && held <= experiments * 99 / 100,
     "the interval holds the truth in %d of %d experiments", held, experiments);
}

/* Eight processes, each with an offset of its own that is ten times the noise of its blocks */
static void processes(void) {
  enum { GROUPS = 8, BLOCKS = 32 };
  unsigned state = 99;
  int size[GROUPS], held = 0, held_flat = 0, experiments = 100;
  for (int g = 0; g < GROUPS; g++) size[g] = BLOCKS;
  for (int e = 0; e < experiments; e++) {
    double v[GROUPS * BLOCKS];
    for (int g = 0; g < GROUPS; g++) {
      double offset = 0.01 * bell(&state);
      for (int i = 0; i < BLOCKS; i++) v[g * BLOCKS + i] = offset + 0.001 * bell(&state);
    }
    struct stat_interval s = stat_bootstrap_groups(v, size, GROUPS, 0.95);
    struct stat_interval flat = stat_bootstrap(v, GROUPS * BLOCKS, 0.95);
    held += s.lo <= 0 && s.hi >= 0;
    held_flat += flat.lo <= 0 && flat.hi >= 0;
  }
  ok(held >= experiments * 85 / 100, "over processes the interval holds the truth %d of %d times",
     held, experiments);
  ok(held_flat < experiments * 60 / 100, "which pooled blocks do %d times only", held_flat);
  const double v[] = {1, 2, 3, 10, 11};
  const int uneven[] = {3, 2};
  struct stat_interval s = stat_bootstrap_groups(v, uneven, 2, 0.95);
  ok(s.mid == 3 && s.lo >= 1 && s.hi <= 11, "groups may differ in size");
}

/* Sequential stopping */

static void verdicts(void) {
  struct stat_interval faster = {0.02, 0.006, 0.03}, slower = {-0.02, -0.03, -0.006},
                       same = {0, -0.004, 0.004}, wide = {0, -0.006, 0.004};
  ok(stat_judge(faster) == STAT_FASTER && stat_judge(slower) == STAT_SLOWER &&
         stat_judge(same) == STAT_SAME && stat_judge(wide) == STAT_UNDECIDED,
     "an interval above, below, within and across the band has its verdict");
  ok(strcmp(stat_word(STAT_FASTER), "FASTER") == 0 && strcmp(stat_word(STAT_SAME), "SAME") == 0 &&
         strcmp(stat_word(STAT_SLOWER), "SLOWER") == 0 &&
         strcmp(stat_word(STAT_UNDECIDED), "UNDECIDED") == 0,
     "the words of the verdicts");
  const double far[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
  ok(stat_look(far, 8).verdict == STAT_FASTER && stat_look(far, 8).stop, "eight blocks may decide");
  ok(stat_look(far, 7).verdict == STAT_UNDECIDED && !stat_look(far, 7).stop, "fewer do not");
  int looks[] = {0, 8, 16, 32, 64, 128};
  bool right = true;
  for (int i = 0; i < 5; i++) right = right && stat_next_look(looks[i]) == looks[i + 1];
  ok(right && stat_next_look(128) == 128 && stat_next_look(9) == 16, "looks at 8 16 32 64 128");
}

/* Grows a series until it may stop: ln ratio + noise + a drift that the blocks' pairing left over,
** across the whole of 128 blocks. */
static struct stat_look follow(double ratio, double sd, double drift, unsigned *state,
                               int *blocks) {
  double d[STAT_LAST_LOOK];
  struct stat_look l = {.stop = false};
  int n = 0;
  while (!l.stop) {
    int target = stat_next_look(n);
    for (; n < target; n++) d[n] = log(ratio) + sd * bell(state) + drift * n / STAT_LAST_LOOK;
    l = stat_look(d, n);
  }
  *blocks = n;
  return l;
}

static void count(double ratio, double sd, double drift, int series, int out[4], double *blocks) {
  unsigned state = 4321;
  memset(out, 0, 4 * sizeof *out);
  *blocks = 0;
  for (int i = 0; i < series; i++) {
    int n;
    out[follow(ratio, sd, drift, &state, &n).verdict]++;
    *blocks += (double)n / series;
  }
}

/* The same implementation on both sides: FASTER and SLOWER are both false. Noisy series are long. */
static void same_sides(void) {
  static const double sds[] = {0.001, 0.004, 0.01, 0.04};
  static const int series[] = {1000, 750, 150, 100};
  int all = 0, wrong = 0;
  for (int i = 0; i < 4; i++) {
    int out[4];
    double blocks;
    count(1, sds[i], 0, series[i], out, &blocks);
    all += series[i];
    wrong += out[STAT_FASTER] + out[STAT_SLOWER];
    printf("# A/A with noise %g: %d same, %d undecided, %d false, %.1f blocks\n", sds[i],
           out[STAT_SAME], out[STAT_UNDECIDED], out[STAT_FASTER] + out[STAT_SLOWER], blocks);
    if (i == 0) ok(out[STAT_SAME] >= 990, "quiet A/A series are SAME");
  }
  ok(wrong * 100 <= all, "%d A/A series have %d false verdicts, at most 1 %%", all, wrong);
}

static void known_ratios(void) {
  int out[4];
  double few, many, blocks;
  count(1.02, 0.004, 0, 100, out, &few);
  ok(out[STAT_FASTER] >= 99, "2 %% faster is FASTER (%d of 100, %.1f blocks)", out[STAT_FASTER],
     few);
  count(1 / 1.02, 0.004, 0, 100, out, &blocks);
  ok(out[STAT_SLOWER] >= 99, "2 %% slower is SLOWER (%d of 100)", out[STAT_SLOWER]);
  count(1.01, 0.01, 0, 100, out, &many);
  ok(out[STAT_SLOWER] + out[STAT_SAME] <= 1,
     "1 %% faster in 1 %% of noise is hardly ever mistaken");
  ok(many > 2 * few, "and takes more blocks (%.1f, not %.1f)", many, few);
  count(1, 0.002, 0.004, 100, out, &blocks);
  ok(out[STAT_FASTER] + out[STAT_SLOWER] <= 1, "a drift of 0.4 %% makes no winner");
}

static void drifts(void) {
  double v[32];
  for (int i = 0; i < 30; i++) v[i] = 1980;
  ok(stat_drift(v, 30) == 0, "an even clock has no drift");
  for (int i = 0; i < 30; i++) v[i] = 1980 - 4 * i; /* 1980 to 1864 MHz */
  double fall = stat_drift(v, 30);
  ok(fall < -0.035 && fall > -0.06, "a falling clock drifts down (%g)", fall);
  v[3] = v[17] = 0;
  ok(fabs(stat_drift(v, 30) - fall) < 0.005, "unknown values are left out");
  ok(stat_drift(v, 2) == 0 && stat_drift(v, 0) == 0, "too few values have no drift");
  double flat[] = {1980, 1900, 1900, 1980}; /* the second tape always draws more power */
  ok(stat_mirror_spread(flat, 4) == 0, "a tape that always runs at another clock is no drift");
  double step[] = {1980, 1980, 1980, 1950};
  ok(fabs(stat_mirror_spread(step, 4) - 0.0154) < 0.001, "a clock that falls in a block is one");
  step[3] = 0;
  ok(stat_mirror_spread(step, 4) == 0, "an unknown clock tells nothing");
}

int main(void) {
  medians();
  intervals();
  coverage();
  processes();
  verdicts();
  same_sides();
  known_ratios();
  drifts();
  return done();
}
