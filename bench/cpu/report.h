// report.h -- findings: what a kernel did wrong, each told once, with the lines of both sides.
#pragma once

#include "sites.h"

#include <string>
#include <vector>

namespace cpu {

enum class Kind {
  OUT_OF_BOUNDS,
  MISALIGNED,
  UNINITIALISED,
  DEADLOCK,
  RACE,
  BARRIER,
  REMOTE_AFTER_EXIT,
  WRITTEN_TWICE,
  UNWRITTEN,
  DIVERGED,
  NOT_RESIDENT,
  REGISTERS,
  WRONG_RESULT,
  INPUT_WRITTEN,
  PADDING_WRITTEN,
  BEFORE_GRID_WAIT,
  DESCRIPTOR,
  ENDLESS,
};
const char *kind_name(Kind kind); // "out-of-bounds"

struct Finding {
  Kind kind;
  Site site, other; // 0: none
  std::string text; // one line; says what, where in memory, by whom, and what to look at
  std::string more; // further lines (a deadlock's dump)
  int count;        // how often, with these two sites
};

// Files a finding of the thread that runs; a further one of equal kind and sites is only counted.
__attribute__((format(printf, 4, 5))) void find(Kind kind, Site site, Site other,
                                                const char *format, ...);
// The same where no thread runs, or where whoever did it is another one.
void find_text(Kind kind, Site site, Site other, const std::string &text,
               const std::string &more = "");
// Files a finding and gives the whole launch up: the thread that runs never goes on.
[[noreturn]] __attribute__((format(printf, 4, 5))) void
find_and_stop(Kind kind, Site site, Site other, const char *format, ...);
const std::vector<Finding> &findings();
void findings_clear();
std::string findings_text(); // a report for people

std::string format(const char *format, ...) __attribute__((format(printf, 1, 2)));

} // namespace cpu
