// deadlock.cpp -- who waits for what, for a person to read.
#include "engine.h"

#include <map>
#include <tuple>

namespace cpu {

static std::string mbarrier_text(const Cta &c, u32 offset, u32 parity) {
  const auto it = c.barriers.find(offset);
  if (it == c.barriers.end()) return "an mbarrier that is no longer there";
  const Mbarrier &m = it->second;
  std::string s =
      format("mbarrier smem+%u, for the end of a phase of parity %u; phase %llu runs, %u of "
             "%u arrivals are missing",
             offset, parity, static_cast<unsigned long long>(m.phase), m.pending, m.expected);
  if (m.tx > 0) s += format(", %lld announced bytes have not come", static_cast<long long>(m.tx));
  if (m.tx < 0)
    s += format(", %lld bytes came that nobody announced", static_cast<long long>(-m.tx));
  if (m.last_arrival)
    s += "; last arrival: " + m.last_arriver + ", " + site_text(m.last_arrival);
  else
    s += "; nobody has ever arrived";
  return s;
}

static std::string wait_text(const Thread &t) {
  const Cta &c = *t.cta;
  switch (t.wait) {
  case Wait::CTA_SYNC:
    return format("%d of the CTA's %d threads have come", c.named[0].arrived, c.live);
  case Wait::NAMED:
    return format("named barrier %u: %d of %u threads have come", t.wait_on,
                  c.named[t.wait_on].arrived, t.wait_arg);
  case Wait::MBARRIER:
    return mbarrier_text(c, t.wait_on, t.wait_arg);
  case Wait::MEETING:
    return "the other threads of its warp or warpgroup have not come to this instruction";
  case Wait::CLUSTER:
    return format("cluster barrier: %d of %d threads have come", c.cluster->arrived,
                  c.cluster->live);
  case Wait::POLL:
    return "polls, and nothing changes any more";
  default:
    return "";
  }
}

// Warps that wait alike make one line.
static std::string cta_dump(const Cta &c) {
  struct Group {
    std::string text, first;
    int threads = 0;
    std::vector<int> warps;
  };
  std::map<std::tuple<int, Wait, Site, u32, u32>, Group> groups;
  for (const Thread &t : c.threads) {
    if (t.wait == Wait::DONE) continue;
    const int lead = t.warp->index / 4; // a warpgroup's warps belong together
    Group &g = groups[{lead, t.wait, t.wait_site, t.wait_on, t.wait_arg}];
    if (g.threads++ == 0) g.text = site_text(t.wait_site) + ": " + wait_text(t);
    if (g.warps.empty() || g.warps.back() != t.warp->index) g.warps.push_back(t.warp->index);
  }
  std::string s;
  for (const auto &[key, g] : groups) {
    s += format("    CTA %u rank %d, warp %d", c.index, c.rank, g.warps.front());
    if (g.warps.size() > 1) s += format("..%d", g.warps.back());
    s += format(" (%d threads): ", g.threads) + g.text + "\n";
  }
  const int done = static_cast<int>(c.threads.size()) - c.live;
  if (done > 0) s += format("    CTA %u rank %d: %d threads have ended\n", c.index, c.rank, done);
  return s;
}

// How telling it is that a thread waits: at an mbarrier to which nobody ever came, at one that lacks
// arrivals, for lanes or threads that have gone elsewhere.
static int weight(const Thread &t) {
  if (t.wait == Wait::DONE) return 0;
  if (t.wait != Wait::MBARRIER) return t.wait == Wait::MEETING ? 3 : t.wait == Wait::POLL ? 1 : 2;
  const auto it = t.cta->barriers.find(t.wait_on);
  return it != t.cta->barriers.end() && !it->second.last_arrival ? 5 : 4;
}

// The thread to look at first; null where none waits.
const Thread *deadlock_culprit(const std::vector<Cluster *> &running) {
  const Thread *best = nullptr;
  for (const Cluster *cluster : running)
    for (const Cta &c : cluster->ctas)
      for (const Thread &t : c.threads)
        if (weight(t) > (best ? weight(*best) : 0)) best = &t;
  return best;
}

std::string deadlock_line(const Thread &t) { return who(*t.warp) + " waits: " + wait_text(t); }

std::string deadlock_dump(const std::vector<Cluster *> &running) {
  constexpr size_t MOST = 4; // clusters; more would say the same
  std::string s;
  for (size_t i = 0; i < running.size() && i < MOST; i++)
    for (const Cta &c : running[i]->ctas) s += cta_dump(c);
  if (running.size() > MOST) s += format("    and %zu clusters more\n", running.size() - MOST);
  return s;
}

} // namespace cpu
