// run.h -- one kernel on one problem: runs over schedules and input families, until one is wrong.
#pragma once

#include "families.h"
#include "sites.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cpu {

struct Job {
  std::string so, desc;         // files
  std::string report, counters; // files to write; empty: none
  int64_t mnk[3] = {0, 0, 0};
  int64_t ld[3] = {0, 0, 0}; // 0: packed in even runs, apart in odd ones where the kernel is told
  std::vector<int> schedules = {0, 1, 2, 3};
  std::vector<Family> families = {Family::TERNARY, Family::CANCEL, Family::ONEHOT, Family::SLICE,
                                  Family::SPECIAL};
  uint64_t seed = 1;
  float alpha = 0, beta = 0; // of every family, where they are set
  bool has_alpha = false, has_beta = false;
  int pdl = -1;       // -1: where the descriptor has it
  int64_t shift = -1; // elements; -1: none in even runs, as little aligned as allowed in odd ones
};

struct Outcome {
  enum Status { CLEAN, WRONG, REFUSED, FAILED } status = CLEAN;
  std::string why; // of REFUSED and FAILED; WRONG: see findings()
  int runs = 0;
  double ms = 0;
  std::string run; // "schedule/family" of the last run
  Counters total;  // of one run: the first with schedule 0, else the first
};

Outcome run_job(const Job &job);
// The sites' counters as a table: one line each, by line and instruction.
std::string counters_text();

// What the watchdog looks at: is a kernel running, and what is it to be called?
extern volatile bool run_active;
extern char run_name[64];

} // namespace cpu
