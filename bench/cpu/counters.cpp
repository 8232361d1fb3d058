// counters.cpp -- what accesses cost: wavefronts of shared memory, sectors of global memory.
//
// A GPU looks at the 32 addresses of a warp's access at once; here lanes run one after the other. So
// the n-th access of each lane at one site is taken as the warp's n-th, and counted once all lanes
// have come there, or the CTA ends. Who runs when makes no difference to the sums.
#include "memory.h"

#include <algorithm>
#include <cstring>

namespace cpu {

// ---- one access of a warp ------------------------------------------------------------------------

// The most different words that one of the 32 banks has to give: equal words are given once.
static int passes(const u32 *words, int n) {
  u32 seen[32][32];
  int many[32] = {}, most = 0;
  for (int i = 0; i < n; i++) {
    const u32 bank = words[i] & 31;
    bool twice = false;
    for (int j = 0; j < many[bank]; j++) twice = twice || seen[bank][j] == words[i];
    if (twice) continue;
    seen[bank][many[bank]++] = words[i];
    most = std::max(most, many[bank]);
  }
  return most;
}

// 32 lanes of 4 bytes, 16 of 8 and 8 of 16 fill the banks once: larger accesses go in groups.
static void shared_cost(Counters &c, const u32 *addresses, int lanes, int bytes) {
  const int each = std::max(1, bytes / 4), group = WARP / each;
  for (int first = 0; first < lanes; first += group) {
    u32 words[WARP];
    int n = 0;
    for (int l = first; l < std::min(lanes, first + group); l++)
      for (int w = 0; addresses[l] && w < each; w++)
        words[n++] = (addresses[l] & OFFSET_MASK) / 4 + static_cast<u32>(w);
    if (n == 0) continue;
    c.wavefronts += static_cast<uint64_t>(passes(words, n));
    c.wavefronts_ideal++;
  }
}

static void global_cost(Counters &c, const u64 *addresses, int lanes, int bytes) {
  u64 at[WARP];
  int n = 0;
  for (int l = 0; l < std::min<int>(lanes, WARP); l++)
    if (addresses[l]) at[n++] = addresses[l];
  std::sort(at, at + n);
  n = static_cast<int>(std::unique(at, at + n) - at);
  u64 next = 0; // the first sector not counted yet
  for (int i = 0; i < n; i++) {
    const u64 first = std::max(at[i] / 32, next), last = (at[i] + static_cast<u64>(bytes) - 1) / 32;
    if (last < first) continue;
    c.sectors += last - first + 1;
    next = last + 1;
  }
  c.sectors_ideal += static_cast<u64>(n * bytes + 31) / 32;
}

// ---- single lanes, gathered ----------------------------------------------------------------------

namespace {

enum Space : uint8_t { NOTHING, SHARED, GLOBAL, SPACES };

struct Slot { // one access of the warp, of which some lanes have come
  u32 lanes = 0;
  u64 at[WARP];
};

// The open accesses at one site: a ring, of which the first is the oldest.
struct Gather {
  int bytes = 0;
  bool visits = false;      // they count as visits: of cp.async's two kinds only one
  uint32_t first = 0;       // ordinal of the oldest open one
  uint32_t next[WARP] = {}; // ordinal of each lane's next access
  std::vector<Slot> ring;   // a power of two; ordinal n lies at n modulo its size
  uint32_t end = 0;         // ordinal after the youngest open one

  Slot &slot(uint32_t n) { return ring[n & (ring.size() - 1)]; }
  void grow();
};

} // namespace

struct Buckets {
  std::vector<std::unique_ptr<Gather>> of[SPACES]; // by site
};

// Accesses at one site that wait for other lanes. Those of a lane that goes on alone, elected or in a
// loop without an end, are counted as its own before they take all memory.
constexpr size_t MOST_OPEN = 1 << 14;

void Gather::grow() {
  std::vector<Slot> larger(std::max<size_t>(4, 2 * ring.size()));
  for (uint32_t n = first; n != end; n++) larger[n & (larger.size() - 1)] = slot(n);
  ring = std::move(larger);
}

static void count_slot(Space space, Site site, const Slot &s, const Gather &g) {
  Counters &c = site_info(site).count;
  if (g.visits) c.visits++;
  if (space == NOTHING) return;
  u64 at[WARP];
  u32 low[WARP];
  for (int l = 0; l < WARP; l++) {
    at[l] = s.lanes >> l & 1 ? s.at[l] : 0;
    low[l] = static_cast<u32>(at[l]);
  }
  if (space == SHARED)
    shared_cost(c, low, WARP, g.bytes);
  else
    global_cost(c, at, WARP, g.bytes);
}

static Gather &gather_of(Space space, Site site) {
  Warp &w = *me->warp;
  if (!w.buckets) w.buckets = std::make_shared<Buckets>();
  auto &all = w.buckets->of[space];
  if (all.size() <= site) all.resize(static_cast<size_t>(site) + 1);
  if (!all[site]) {
    all[site] = std::make_unique<Gather>();
    const auto &other = w.buckets->of[space == SHARED ? GLOBAL : SHARED];
    all[site]->visits = space == NOTHING || other.size() <= site || !other[site];
  }
  return *all[site];
}

static void gather(Space space, Site site, u64 address, int bytes) {
  Gather &g = gather_of(space, site);
  const uint32_t n = g.next[me->lane]++;
  if (n < g.first) return; // counted without this lane
  if (n - g.first >= MOST_OPEN) {
    count_slot(space, site, g.slot(g.first), g);
    g.first++;
  }
  while (n - g.first >= g.ring.size()) g.grow();
  for (; g.end <= n; g.end++) g.slot(g.end).lanes = 0;
  Slot &s = g.slot(n);
  s.lanes |= 1u << me->lane;
  s.at[me->lane] = address;
  g.bytes = bytes;
  const u32 all = 0xffffffffu >> (WARP - me->warp->size);
  for (; g.first != g.end && g.slot(g.first).lanes == all; g.first++)
    count_slot(space, site, g.slot(g.first), g);
}

void count_visit(Site site) { gather(NOTHING, site, 0, 0); }

void count_shared(Site site, const u32 *addresses, int lanes, int bytes) {
  if (lanes == 1)
    gather(SHARED, site, addresses[0], bytes);
  else
    shared_cost(site_info(site).count, addresses, lanes, bytes);
}

void count_global(Site site, const u64 *addresses, int lanes, int bytes) {
  if (lanes == 1)
    gather(GLOBAL, site, addresses[0], bytes);
  else
    global_cost(site_info(site).count, addresses, lanes, bytes);
}

void count_matrix(Site site, const u32 *addresses, int matrices) {
  for (int m = 0; m < matrices; m++) shared_cost(site_info(site).count, addresses + 8 * m, 8, 16);
}

void counters_cta_exit(Cta &c) {
  for (Warp &w : c.warps) {
    if (!w.buckets) continue;
    for (int space = 0; space < SPACES; space++) {
      auto &all = w.buckets->of[space];
      for (size_t site = 0; site < all.size(); site++)
        for (Gather *g = all[site].get(); g && g->first != g->end; g->first++)
          count_slot(static_cast<Space>(space), static_cast<Site>(site), g->slot(g->first), *g);
    }
    w.buckets.reset();
  }
}

} // namespace cpu
