/* rivals_reply.c - what an answer says of the libraries' options */
#include "rivals.h"

#include "baseline.h"

#include <stdio.h>

/* lt_best is the fastest of all answers, so the first one is a candidate for it too. */
static bool belongs(const struct option *o, enum option_group group) {
  return o->group == group || (group == OPTION_BEST && o->group == OPTION_FIRST);
}

/* The fastest ready option of a group and layout; without one any that tells why; else NULL. */
static const struct option *fastest(const struct rivals *r, enum option_group group, int layout) {
  const struct option *best = NULL;
  for (const struct option *o = r->option; o < r->option + r->n; o++) {
    if (o->layout != layout || !belongs(o, group)) continue;
    if (!best || (o->ready && !best->ready) || (o->ready == best->ready && o->us < best->us))
      best = o;
  }
  return best;
}

static void text_of(struct reply *out, const char *name, const char *what, const char *value) {
  char full[64];
  snprintf(full, sizeof full, "%s_%s", name, what);
  reply_text(out, full, value);
}

static void real_of(struct reply *out, const char *name, const char *what, double value) {
  char full[64];
  snprintf(full, sizeof full, "%s_%s", name, what);
  reply_real(out, full, value);
}

static void int_of(struct reply *out, const char *name, const char *what, long long value) {
  char full[64];
  snprintf(full, sizeof full, "%s_%s", name, what);
  reply_int(out, full, value);
}

static void reply_option(const struct rivals *r, enum option_group group, int layout,
                         struct reply *out) {
  const struct option *o = fastest(r, group, layout);
  char name[32], algo[LT_TEXT] = "";
  if (!o) return;
  option_name(group, layout, name);
  if (!o->ready) {
    text_of(out, name, "why", o->why);
    return;
  }
  real_of(out, name, "us", o->us);
  if (group != OPTION_BEST && group != OPTION_EXHAUSTIVE) return;
  lt_text(&o->algo, algo);
  text_of(out, name, "algo", algo);
  int_of(out, name, "place", o->place);
}

static void reply_counts(const struct rivals *r, int i, struct reply *out) {
  const struct rivals_count *c = &r->count[i];
  char name[32];
  snprintf(name, sizeof name, "lt_%s", loom_layout_name(baseline_layout[i]));
  if (r->want & RIVALS_LT) {
    int_of(out, name, "answers", c->answers);
    int_of(out, name, "looked", c->looked);
    int_of(out, name, "failed", c->failed);
  }
  if (r->want & RIVALS_EXHAUSTIVE) {
    int_of(out, name, "checked", c->checked);
    int_of(out, name, "accepted", c->accepted);
    int_of(out, name, "raced", c->raced);
    int_of(out, name, "whole", c->whole && c->raced == c->accepted);
  }
}

void rivals_health(const struct nvml_state *s, struct reply *out) {
  char words[96];
  reply_int(out, "throttled", nvml_throttled(s));
  reply_text(out, "throttle", nvml_words(s, words, sizeof words));
  if (s->power_w > 0) reply_real(out, "power_w", s->power_w);
  if (s->temp_c > 0) reply_real(out, "temp_c", s->temp_c);
}

void rivals_reply(const struct rivals *r, struct reply *out) {
  static const char *const parts[] = {"ms_gemmex", "ms_race", "ms_verify", "ms_blocks"};
  const struct option *best = &r->option[r->best];
  char name[32], algo[LT_TEXT];
  for (int group = 0; group < OPTION_GROUPS; group++)
    for (int i = 0; i < PROBLEM_BASES; i++)
      reply_option(r, (enum option_group)group, baseline_layout[i], out);
  for (int i = 0; i < PROBLEM_BASES; i++) reply_counts(r, i, out);
  /* The first answer is one of all answers. */
  option_name(best->group == OPTION_FIRST ? OPTION_BEST : best->group, best->layout, name);
  reply_text(out, "best_nv", name);
  reply_real(out, "best_nv_us", best->us);
  if (best->lt) {
    lt_text(&best->algo, algo);
    reply_text(out, "best_nv_algo", algo);
  }
  reply_real(out, "clock_mhz", r->mhz);
  reply_real(out, "drift", r->drift);
  reply_int(out, "blocks", r->blocks);
  reply_int(out, "starved", r->starved);
  reply_int(out, "drifted", r->drifted);
  reply_int(out, "unsteady", r->unsteady);
  rivals_health(&r->health, out);
  for (int i = 0; i < 4; i++) reply_real(out, parts[i], r->seconds[i] * 1000);
}
