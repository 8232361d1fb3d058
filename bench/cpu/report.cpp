// report.cpp -- see report.h.
#include "report.h"

#include "engine.h"

#include <cstdarg>
#include <cstdio>

namespace cpu {

namespace {
std::vector<Finding> all;
}

const char *kind_name(Kind kind) {
  static const char *const names[] = {
      "out-of-bounds",    "misaligned",        "uninitialised", "deadlock",      "race",
      "barrier",          "remote-after-exit", "written-twice", "unwritten",     "diverged",
      "not-resident",     "registers",         "wrong-result",  "input-written", "padding-written",
      "before-grid-wait", "descriptor",        "endless"};
  return names[static_cast<int>(kind)];
}

static std::string formatted(const char *text, va_list args) {
  char line[1024];
  vsnprintf(line, sizeof line, text, args);
  return line;
}

std::string format(const char *text, ...) {
  va_list args;
  va_start(args, text);
  std::string s = formatted(text, args);
  va_end(args);
  return s;
}

void find_text(Kind kind, Site site, Site other, const std::string &text, const std::string &more) {
  for (Finding &f : all)
    if (f.kind == kind && f.site == site && f.other == other) {
      f.count++;
      return;
    }
  all.push_back({kind, site, other, text, more, 1});
}

static void find_by_me(Kind kind, Site site, Site other, const std::string &text) {
  find_text(kind, site, other, me ? text + " [" + who(*me) + "]" : text);
}

void find(Kind kind, Site site, Site other, const char *text, ...) {
  va_list args;
  va_start(args, text);
  find_by_me(kind, site, other, formatted(text, args));
  va_end(args);
}

void find_and_stop(Kind kind, Site site, Site other, const char *text, ...) {
  {
    va_list args;
    va_start(args, text);
    find_by_me(kind, site, other, formatted(text, args));
    va_end(args);
  }
  leave_launch();
}

const std::vector<Finding> &findings() { return all; }
void findings_clear() { all.clear(); }

static std::string finding_text(const Finding &f) {
  std::string s = kind_name(f.kind);
  if (f.site) s += "  " + site_text(f.site);
  s += "\n    " + f.text + "\n";
  if (f.other) s += "    the other side: " + site_text(f.other) + "\n";
  if (f.count > 1) s += format("    and %d times more\n", f.count - 1);
  return s + f.more;
}

std::string findings_text() {
  std::string s;
  for (const Finding &f : all) s += finding_text(f);
  return s;
}

} // namespace cpu
