// mbarrier.cpp -- barriers in shared memory: phases of arrivals and of bytes.
//
// A phase ends when no arrival is pending and no announced byte is outstanding. Its waiters get
// what the arrivals published. Only the eight bytes' place is kept in memory, the state is here.
#include "memory.h"

namespace cpu {

static std::string name_of(u32 offset) { return format("mbarrier at smem+%u", offset); }

static void forget(Clock &k, const Cta &c) {
  k.reset(c.cluster->index, static_cast<size_t>(c.cluster->agents));
}

// ---- phases ----

static void wake_waiters(Cta &c, u32 offset, const Mbarrier &m) {
  const u32 done = static_cast<u32>(m.phase - 1) & 1;
  for (Warp &w : c.warps)
    for (int l = 0; l < w.size; l++) {
      Thread &t = w.lanes[l];
      if (t.wait == Wait::MBARRIER && t.wait_on == offset && t.wait_arg == done) wake(t);
    }
}

static void complete(Cta &c, u32 offset, Mbarrier &m) {
  if (m.pending != 0 || m.tx != 0) return;
  m.phase++;
  m.pending = m.expected;
  m.C[1].join(m.C[0]);
  m.P[1].join(m.P[0]);
  forget(m.C[0], c);
  forget(m.P[0], c);
  world_changed();
  wake_waiters(c, offset, m);
}

static void arrive(Cta &c, u32 offset, Mbarrier &m, const Clock &C, const Clock &P, Site site) {
  m.C[0].join(C);
  m.P[0].join(P);
  if (m.pending == 0) {
    find(Kind::BARRIER, site, m.last_arrival,
         "%s: one arrival more than the %u it was initialised for, in the phase that waits for "
         "bytes",
         name_of(offset).c_str(), m.expected);
    return;
  }
  m.pending--;
  m.last_arrival = site;
  m.last_arriver = me ? who(*me) : "asynchronous work";
  complete(c, offset, m);
}

void mbarrier_arrive_async(Cta &c, u32 offset, const Clock &C, const Clock &P, Site site) {
  const auto it = c.barriers.find(offset);
  if (it != c.barriers.end()) arrive(c, offset, it->second, C, P, site);
}

void mbarrier_complete_tx(Cta &c, u32 offset, int64_t bytes, const Clock &C, const Clock &P,
                          Site site) {
  const auto it = c.barriers.find(offset);
  if (it == c.barriers.end()) {
    find(Kind::BARRIER, site, 0, "bytes arrive at smem+%u of CTA %u, where no mbarrier is", offset,
         c.index);
    return;
  }
  Mbarrier &m = it->second;
  m.C[0].join(C);
  m.P[0].join(P);
  m.tx -= bytes;
  complete(c, offset, m);
}

// ---- the barrier of an instruction ----

static void check_init_seen(const Mbarrier &m, const Cta &c, u32 offset, Site site) {
  if (!me->warp->C.covers(m.init))
    find(Kind::BARRIER, site, m.init.site,
         "%s of CTA %u is used before its initialisation is known here: a barrier between the two "
         "is "
         "missing",
         name_of(offset).c_str(), c.index);
}

// Of all that uses a barrier the shadow keeps a record, so that its memory can become something else's
// only after it.
static void record_use(Cta &c, u32 offset, bool changes, Site site) {
  Access a = ordinary(changes, site);
  a.atomic = true;
  c.shadow.touch(offset, 8, a);
}

Mbarrier *mbarrier_at(u32 address, bool async, Site site, Cta **owner) {
  Cluster &cluster = *me->cta->cluster;
  const u32 rank = address >> RANK_SHIFT, offset = (address & OFFSET_MASK) - SMEM_BASE;
  if (rank >= cluster.ctas.size()) {
    find(Kind::OUT_OF_BOUNDS, site, 0, "mbarrier of CTA rank %u in a cluster of %zu", rank,
         cluster.ctas.size());
    return nullptr;
  }
  Cta &c = cluster.ctas[rank];
  const auto it = c.barriers.find(offset);
  if (it == c.barriers.end()) {
    const bool inside = (address & OFFSET_MASK) >= SMEM_BASE && offset + 8 <= c.smem.size();
    find(inside ? Kind::BARRIER : Kind::OUT_OF_BOUNDS, site, 0,
         "no mbarrier is initialised at smem+%d of CTA %u (shared memory has %zu bytes)",
         static_cast<int>(offset), c.index, c.smem.size());
    return nullptr;
  }
  Mbarrier &m = it->second;
  check_init_seen(m, c, offset, site);
  if (async && !m.fenced && !me->warp->P.covers(m.init))
    find(Kind::BARRIER, site, m.init.site,
         "%s is used by the asynchronous proxy without fence_mbar_init after its initialisation",
         name_of(offset).c_str());
  if (owner) *owner = &c;
  return &m;
}

static u32 offset_of(u32 address) { return (address & OFFSET_MASK) - SMEM_BASE; }

static Mbarrier *local(u32 address, Site site) {
  if (address >> RANK_SHIFT != static_cast<u32>(me->cta->rank)) {
    find(Kind::OUT_OF_BOUNDS, site, 0, "an mbarrier of another CTA through an address of this one");
    return nullptr;
  }
  return mbarrier_at(address, false, site);
}

// An arrival at another CTA's barrier is an access to its memory.
static void check_remote(Cta &c, Site site) {
  if (&c == me->cta) return;
  if (!knows_started(me->warp->C, c))
    find(
        Kind::BARRIER, site, 0,
        "an arrival at CTA %u, which may not have started yet: a cluster_sync before it is missing",
        c.index);
  remember_remote(c, me->warp->stamp(site));
}

// ---- waiting ----

static void acquire(const Mbarrier &m) {
  me->warp->C.join(m.C[1]);
  me->warp->P.join(m.P[1]);
}

static const Mbarrier &awaited(u32 offset, Site site) {
  const auto it = me->cta->barriers.find(offset);
  if (it == me->cta->barriers.end())
    find_and_stop(Kind::BARRIER, site, 0, "%s is invalidated while a thread waits for it",
                  name_of(offset).c_str());
  return it->second;
}

static void wait_for(const Mbarrier *m, u32 offset, u32 parity, Site site) {
  const uint64_t from = m->phase;
  SiteInfo &info = site_info(site);
  info.count.waits++;
  if ((from & 1) == parity) info.count.blocked++;
  while ((m->phase & 1) == parity) {
    block(Wait::MBARRIER, site, offset, parity);
    m = &awaited(offset, site);
    if (m->phase >= from + 2)
      find_and_stop(Kind::BARRIER, site, m->last_arrival,
                    "%s went through two phases while a thread waited for the first: the parity it "
                    "waits for can no longer tell them apart",
                    name_of(offset).c_str());
  }
  acquire(*m);
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

void mbar_init(u32 bar, u32 arrivals, site at) {
  const Site s = site_of("mbar_init", at);
  const SharedSpan span = shared_at(bar, 8, 8, false, s);
  if (!span) return;
  if (arrivals < 1 || arrivals > (1u << 20) - 1)
    find(Kind::BARRIER, s, 0, "mbarrier for %u arrivals: 1 to 2^20-1 exist", arrivals);
  Cta &c = *span.cta;
  for (u32 near = span.offset < 7 ? 0 : span.offset - 7; near < span.offset + 8; near++)
    if (c.barriers.count(near))
      find(Kind::BARRIER, s, c.barriers[near].init.site, "%s is initialised while it is in use",
           name_of(span.offset).c_str());
  shared_touch(c, span.offset, 8, ordinary(true, s));
  Mbarrier m;
  m.expected = m.pending = arrivals;
  m.init = me->warp->stamp(s);
  for (Clock *k : {&m.C[0], &m.C[1], &m.P[0], &m.P[1]}) forget(*k, c);
  c.barriers[span.offset] = m;
}

void mbar_inval(u32 bar, site at) {
  const Site s = site_of("mbar_inval", at);
  if (Mbarrier *m = local(bar, s)) {
    if (m->pending != m->expected || m->tx != 0)
      find(Kind::BARRIER, s, m->last_arrival, "%s is invalidated in the middle of a phase",
           name_of(offset_of(bar)).c_str());
    Cta &c = *me->cta;
    c.barriers.erase(offset_of(bar));
    shared_touch(c, offset_of(bar), 8, ordinary(true, s)); // after all that has used it
    c.shadow.set_initialised(offset_of(bar), 8, false);
  }
}

void fence_mbar_init(site at) {
  site_of("fence_mbar_init", at);
  const Warp &w = *me->warp;
  for (auto &[offset, m] : me->cta->barriers)
    if (m.init.agent == w.agent(GENERIC) || w.C.covers(m.init)) m.fenced = true;
}

void mbar_arrive(u32 bar, bool cluster, site at) {
  const Site s = site_of(cluster ? "mbar_arrive_cluster" : "mbar_arrive", at);
  Cta *c = me->cta;
  Mbarrier *m = cluster ? mbarrier_at(bar, false, s, &c) : local(bar, s);
  if (!m) return;
  check_remote(*c, s);
  record_use(*c, offset_of(bar), true, s);
  arrive(*c, offset_of(bar), *m, me->warp->C, me->warp->P, s);
  me->warp->tick();
}

void mbar_expect_tx(u32 bar, u32 bytes, bool arrives, site at) {
  const Site s = site_of(arrives ? "mbar_expect_tx" : "mbar_add_tx", at);
  Mbarrier *m = local(bar, s);
  if (!m) return;
  m->tx += bytes;
  if (m->tx >= 1 << 20)
    find(Kind::BARRIER, s, 0, "%s is told of %lld bytes: 2^20-1 are its most",
         name_of(offset_of(bar)).c_str(), static_cast<long long>(m->tx));
  record_use(*me->cta, offset_of(bar), true, s);
  if (!arrives) return;
  arrive(*me->cta, offset_of(bar), *m, me->warp->C, me->warp->P, s);
  me->warp->tick();
}

void mbar_wait(u32 bar, u32 parity, bool cluster_scope, site at) {
  const Site s = site_of(cluster_scope ? "mbar_wait_cluster" : "mbar_wait", at);
  if (parity > 1) find(Kind::BARRIER, s, 0, "parity %u: 0 and 1 exist", parity);
  const Mbarrier *m = local(bar, s);
  if (!m) return;
  record_use(*me->cta, offset_of(bar), false, s);
  wait_for(m, offset_of(bar), parity & 1, s);
}

bool mbar_try(u32 bar, u32 parity, site at) {
  const Site s = site_of("mbar_try", at);
  poll(s, offset_of(bar), parity & 1);
  const Mbarrier *m = local(bar, s);
  if (!m) return true;
  record_use(*me->cta, offset_of(bar), false, s);
  if ((m->phase & 1) == (parity & 1)) return false;
  acquire(*m);
  return true;
}

} // namespace loom_engine
