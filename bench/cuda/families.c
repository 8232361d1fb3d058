/* families.c - what a family draws on the host: places and orders, no operands */
#include "families.h"

#include "desc.h"

uint64_t family_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int family_below(uint64_t *state, int n) {
  return (int)(((family_random(state) >> 32) * (uint64_t)n) >> 32);
}

static int gcd(int a, int b) {
  while (b) {
    int rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* The two k of a pair lie in different halves of K, and rows take turns with several pairs: no way
** to split K keeps them all together. */
static void draw_cancel(struct family *f, uint64_t *r) {
  int half = f->k / 2;
  f->pairs = half < FAMILY_PAIRS ? half : FAMILY_PAIRS;
  for (int i = 0; i < f->pairs; i++) {
    int width = half / f->pairs;
    f->k1[i] = i * width + family_below(r, width);
    f->k2[i] = f->k - half + (i + 1) % f->pairs * width + family_below(r, width);
  }
}

/* k has place (first + k * step) mod K in the order in which rows of A pick: each is picked by some. */
static void draw_onehot(struct family *f, uint64_t *r) {
  f->each = (f->k + f->m - 1) / f->m;
  f->first = family_below(r, f->k);
  do { f->step = 1 + family_below(r, f->k); } while (gcd(f->step, f->k) != 1);
}

static void draw_slice(struct family *f, uint64_t *r) {
  f->width = (f->k + 15) / 16;
  f->slices = (f->k + f->width - 1) / f->width;
  f->first = family_below(r, f->slices);
}

static void draw_special(struct family *f, uint64_t *r) {
  f->nan_m = family_below(r, f->m);
  f->nan_k = family_below(r, f->k);
  f->inf_k = family_below(r, f->k);
  f->inf_n = family_below(r, f->n);
}

void family_draw(struct family *f) {
  uint64_t r = f->seed + (uint64_t)f->kind;
  switch (f->kind) {
  case FAMILY_CANCEL:
    draw_cancel(f, &r);
    break;
  case FAMILY_ONEHOT:
    draw_onehot(f, &r);
    break;
  case FAMILY_SLICE:
    draw_slice(f, &r);
    break;
  case FAMILY_SPECIAL:
    draw_special(f, &r);
    break;
  default:
    break;
  }
}

size_t family_extent(const struct family *f, int operand) {
  int rows = f->m, length = 0;
  if (operand == LOOM_A) {
    rows = f->swapped[LOOM_A] ? f->k : f->m;
    length = f->swapped[LOOM_A] ? f->m : f->k;
  } else if (operand == LOOM_B) {
    rows = f->swapped[LOOM_B] ? f->n : f->k;
    length = f->swapped[LOOM_B] ? f->k : f->n;
  }
  size_t all = (size_t)rows * (size_t)f->ld[operand];
  return operand == LOOM_C ? all : all - (size_t)(f->ld[operand] - length);
}
