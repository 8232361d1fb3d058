// kit.h -- a table of kernels for the CPU device, each with the finding it has to lead to.
#pragma once

#include "memory.h"
#include "ok.h"

#include <cstring>

struct Case {
  const char *name;
  void (*kernel)(void **);
  unsigned block, cluster;
  const char *kind;  // of a finding; null: none, and the kernel's own check
  const char *text;  // a part of what it says
  unsigned grid = 0; // 0: one cluster
};

static bool right; // what kernels check themselves
static void check(bool yes) { right = right && yes; }
static u32 at(u32 offset) { return loom_engine::smem_base() + offset; }

static bool has(const char *kind, const char *text) {
  for (const cpu::Finding &f : cpu::findings())
    if (strcmp(cpu::kind_name(f.kind), kind) == 0 && f.text.find(text) != std::string::npos)
      return true;
  return false;
}

static void run(const Case &c, int number, const char *with) {
  cpu::findings_clear();
  right = true;
  cpu::Launch l;
  l.entry = c.kernel;
  l.cluster = c.cluster;
  l.grid = c.grid ? c.grid : c.cluster;
  l.whole_grid = c.grid > 0;
  l.block = c.block;
  l.smem = 8192;
  l.schedule = cpu::schedule_of(number, 1);
  cpu::launch(l);
  const bool good = c.kind ? has(c.kind, c.text) : right && cpu::findings().empty();
  ok(good, "%s%s, schedule %d", c.name, with, number);
  if (!good) printf("# %s\n%s", right ? "" : "wrong bytes", cpu::findings_text().c_str());
}
