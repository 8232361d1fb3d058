// who.cpp -- names of threads, warps and agents, as a report says them.
#include "engine.h"

namespace cpu {

std::string who(const Thread &t) {
  return format("thread %d (warp %d lane %d) of CTA %u", t.t, t.warp->index, t.lane, t.cta->index);
}

static std::string lanes_text(u32 lanes) {
  if (lanes == 0xffffffffu) return "";
  std::string s;
  for (int l = 0; l < WARP; l++) {
    if (!(lanes >> l & 1)) continue;
    int end = l;
    while (end + 1 < WARP && lanes >> (end + 1) & 1) end++;
    s += (s.empty() ? " lane " : ",") + std::to_string(l);
    if (end > l) s += "-" + std::to_string(end);
    l = end;
  }
  return s;
}

std::string who(const Warp &w, u32 lanes) {
  return format("warp %d%s of CTA %u", w.index, lanes_text(lanes).c_str(), w.cta->index);
}

// By its number alone: what it belonged to may have ended.
std::string agent_text(const Stamp &by) {
  static const char *const kinds[] = {"", "cp.async of ", "the TMA loads of ",
                                      "the bulk stores of "};
  const int n = static_cast<int>(launched().block + WARP - 1) / WARP;
  const int groups = static_cast<int>(launched().block + WARPGROUP - 1) / WARPGROUP;
  const int per_cta = AGENTS_PER_WARP * n + groups;
  const int rank = by.agent / per_cta, in_cta = by.agent % per_cta;
  if (rank >= static_cast<int>(launched().cluster)) return "the grid before this one";
  const unsigned cta = by.cluster * launched().cluster + static_cast<unsigned>(rank);
  if (in_cta >= AGENTS_PER_WARP * n)
    return format("wgmma of warpgroup %d of CTA %u", in_cta - AGENTS_PER_WARP * n, cta);
  return format("%swarp %d of CTA %u", kinds[in_cta % AGENTS_PER_WARP], in_cta / AGENTS_PER_WARP,
                cta);
}

} // namespace cpu
