// sites.h -- the instructions of a kernel by the lines they stand on, and what each one cost.
#pragma once

#include "loom_engine.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cpu {

using Site = uint16_t; // 0: none

// Only what no schedule changes, except `blocked`.
struct Counters {
  uint64_t visits = 0; // executions by a warp (by a thread for what one thread does)
  uint64_t wavefronts = 0, wavefronts_ideal = 0; // passes over the 32 banks of shared memory
  uint64_t sectors = 0, sectors_ideal = 0;       // 32-byte pieces of global memory
  uint64_t bytes = 0;                            // moved by the TMA engine
  uint64_t waits = 0;                            // at barriers
  uint64_t flops = 0;
  uint64_t blocked = 0; // waits that had to wait, in this schedule
};

struct SiteInfo {
  const char *op; // the vocabulary's name of the instruction
  std::string file;
  int line;
  Counters count;
};

// The number of instruction `op` (a literal) at `at`; the same until sites_reset.
Site site_of(const char *op, loom_engine::site at);
// The last one asked for, and how many times one was: what a watchdog looks at.
extern volatile Site site_last;
extern volatile uint64_t site_calls;
SiteInfo &site_info(Site site);
std::string site_text(Site site);  // "wgmma at kernel.cu:87"
std::string site_place(Site site); // "kernel.cu:87"
std::vector<Site> sites_sorted();  // by file, line, op
void sites_clear_counters();
void sites_reset(); // forgets all: another kernel's come

} // namespace cpu
