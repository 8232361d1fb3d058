// shared.cpp -- shared memory: addresses, what is allowed there, and ordinary accesses to it.
#include "memory.h"

#include <cstring>

namespace cpu {

// ---- addresses -----------------------------------------------------------------------------------

static const char *verb(bool write) { return write ? "write" : "read"; }

static std::string smem_text(const Cta &c, size_t offset) {
  return format("shared memory +%zu (0x%zx) of CTA %u", offset, offset, c.index);
}

// The CTA that an address names; null after a finding.
static Cta *cta_of(u32 address, bool cluster, Site site) {
  const u32 rank = address >> RANK_SHIFT;
  Cluster &c = *me->cta->cluster;
  if (rank == static_cast<u32>(me->cta->rank)) return me->cta;
  if (rank >= c.ctas.size()) {
    find(Kind::OUT_OF_BOUNDS, site, 0, "shared address 0x%x is of CTA rank %u, in a cluster of %zu",
         address, rank, c.ctas.size());
    return nullptr;
  }
  if (!cluster) {
    find(Kind::OUT_OF_BOUNDS, site, 0,
         "shared address 0x%x is of CTA rank %u, and this instruction reaches only its own CTA's, "
         "rank %d",
         address, rank, me->cta->rank);
    return nullptr;
  }
  return &c.ctas[rank];
}

SharedSpan shared_at(u32 address, size_t bytes, size_t align, bool cluster, Site site) {
  Cta *c = cta_of(address, cluster, site);
  if (!c) return {};
  const int64_t offset = static_cast<int64_t>(address & OFFSET_MASK) - SMEM_BASE;
  const int64_t size = static_cast<int64_t>(c->smem.size());
  if (offset < 0 || offset + static_cast<int64_t>(bytes) > size) {
    const int64_t past = offset + static_cast<int64_t>(bytes) - size;
    find(Kind::OUT_OF_BOUNDS, site, 0, "%zu bytes at shared memory %+lld of CTA %u: %lld bytes %s",
         bytes, static_cast<long long>(offset), c->index,
         static_cast<long long>(offset < 0 ? -offset : past),
         offset < 0 ? "before its begin"
                    : format("past the end of its %lld", static_cast<long long>(size)).c_str());
    return {};
  }
  if (address % align != 0) {
    find(Kind::MISALIGNED, site, 0, "%zu bytes at %s have to be aligned to %zu", bytes,
         smem_text(*c, static_cast<size_t>(offset)).c_str(), align);
    return {};
  }
  return {c, static_cast<u32>(offset), c->smem.data() + offset};
}

// ---- what is allowed -----------------------------------------------------------------------------

static void check_barriers(const Cta &c, u32 offset, size_t bytes, const Access &a) {
  const auto &all = c.barriers;
  if (all.empty() || offset >= all.rbegin()->first + 8 || offset + bytes <= all.begin()->first)
    return;
  const auto next = all.lower_bound(offset < 7 ? 0 : offset - 7);
  if (next == all.end() || next->first >= offset + bytes) return;
  find(Kind::BARRIER, a.by.site, next->second.init.site,
       "a %s by %s of %zu bytes at %s touches the mbarrier at +%u", verb(a.write),
       agent_text(a.by).c_str(), bytes, smem_text(c, offset).c_str(), next->first);
}

static int rank_of(const Stamp &by, const Cta &c) {
  return by.agent / ((c.cluster->agents - 1) / static_cast<int>(c.cluster->ctas.size()));
}

// Of one agent the last access stands for those before it.
void remember_remote(Cta &c, const Stamp &by) {
  for (Stamp &r : c.remotes)
    if (r.agent == by.agent) {
      r = by;
      return;
    }
  c.remotes.push_back(by);
}

// Another CTA's memory: it must have started, and (at its exit) not have ended.
static void check_remote(Cta &c, const Access &a) {
  if (!knows_started(*a.reads, c))
    find(Kind::RACE, a.by.site, 0,
         "a %s by %s of the shared memory of CTA %u, which may not have started yet: a "
         "cluster_sync before it is missing",
         verb(a.write), agent_text(a.by).c_str(), c.index);
  remember_remote(c, a.by);
}

// What is missing, as far as the clocks tell.
static const char *hint(const Found &f, const Access &a, const Cta &c) {
  const int per_cta = (c.cluster->agents - 1) / static_cast<int>(c.cluster->ctas.size());
  const int in_cta = f.other.agent % per_cta;
  const int warps = static_cast<int>(c.warps.size());
  const bool wgmma = in_cta >= AGENTS_PER_WARP * warps;
  const int kind = wgmma ? -1 : in_cta % AGENTS_PER_WARP;
  if (a.async && !f.other_async && f.kind != Conflict::WRITE_AFTER_READ && a.reads->covers(f.other))
    return "fence_proxy_async is missing between them";
  if (f.kind == Conflict::WRITE_AFTER_READ && wgmma)
    return "wait for that wgmma first (wgmma_wait, and a barrier to whoever writes)";
  if (f.kind == Conflict::WRITE_AFTER_READ && kind == STORE)
    return "wait until that store has read its source first (tma_store_wait_read, and a barrier)";
  if (kind == COPY) return "cp_async_wait and a barrier have to come between them";
  if (kind == LOAD && f.other_async) return "wait for the mbarrier of that load first";
  return "no barrier orders the two";
}

static void tell(const Found &f, const Cta &c, size_t bytes, const Access &a) {
  const std::string who = agent_text(a.by), where = smem_text(c, f.offset);
  if (f.kind == Conflict::UNINITIALISED) {
    find(Kind::UNINITIALISED, a.by.site, 0, "a read by %s of %zu bytes at %s, which nothing wrote",
         who.c_str(), bytes, where.c_str());
    return;
  }
  find(Kind::RACE, a.by.site, f.other.site, "%s %s by %s at %s races with the earlier %s by %s: %s",
       a.async ? "an asynchronous" : "a", verb(a.write), who.c_str(), where.c_str(),
       f.kind == Conflict::WRITE_AFTER_READ ? "read" : "write", agent_text(f.other).c_str(),
       hint(f, a, c));
}

void shared_touch(Cta &c, u32 offset, size_t bytes, const Access &a) {
  check_barriers(c, offset, bytes, a);
  if (rank_of(a.by, c) != c.rank) check_remote(c, a);
  const Found f = c.shadow.touch(offset, bytes, a);
  if (f.kind != Conflict::NONE) tell(f, c, bytes, a);
}

void shared_poison(Cta &c, u32 offset, size_t bytes) {
  memset(c.smem.data() + offset, 0xff, bytes);
}

Access ordinary(bool write, Site site) {
  const Warp &w = *me->warp;
  return {write, false, w.stamp(site), &w.C, &w.C};
}

Access asynchronous(const Warp &w, Agent kind, bool write, Site site) {
  return {write, true, w.stamp(site, kind), &w.P, &w.C};
}

// ---- one thread's access -------------------------------------------------------------------------

static void load(void *to, u32 address, int bytes, bool cluster, Site s) {
  const size_t n = static_cast<size_t>(bytes);
  const SharedSpan span = shared_at(address, n, n, cluster, s);
  count_shared(s, &address, 1, bytes);
  memset(to, 0xff, n);
  if (!span) return;
  shared_touch(*span.cta, span.offset, n, ordinary(false, s));
  memcpy(to, span.bytes, n);
}

static void store(u32 address, const void *from, int bytes, bool cluster, Site s) {
  const size_t n = static_cast<size_t>(bytes);
  const SharedSpan span = shared_at(address, n, n, cluster, s);
  count_shared(s, &address, 1, bytes);
  if (!span) return;
  shared_touch(*span.cta, span.offset, n, ordinary(true, s));
  memcpy(span.bytes, from, n);
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

// The names of the vocabulary, by size where one function has several.
static const char *sized(int bytes, const char *four, const char *more) {
  return bytes == 4 ? four : more;
}

void load_shared(void *to, u32 address, int bytes, site at) {
  load(to, address, bytes, false, site_of(sized(bytes, "lds_f32", "lds_words"), at));
}

void store_shared(u32 address, const void *from, int bytes, site at) {
  store(address, from, bytes, false, site_of(sized(bytes, "sts_f32", "sts_words"), at));
}

void load_cluster(void *to, u32 address, int bytes, site at) {
  load(to, address, bytes, true, site_of("ldc_words", at));
}

void store_cluster(u32 address, const void *from, int bytes, site at) {
  store(address, from, bytes, true, site_of("stc_words", at));
}

u32 atom_add_shared(u32 address, u32 value, site at) {
  const Site s = site_of("atom_add_shared", at);
  const SharedSpan span = shared_at(address, 4, 4, false, s);
  count_shared(s, &address, 1, 4);
  if (!span) return 0;
  Access a = ordinary(true, s);
  a.atomic = true;
  shared_touch(*span.cta, span.offset, 4, a);
  u32 old;
  memcpy(&old, span.bytes, 4);
  value += old;
  memcpy(span.bytes, &value, 4);
  return old;
}

u32 cluster_rank() { return static_cast<u32>(me->cta->rank); }
u32 cluster_size() { return static_cast<u32>(me->cta->cluster->ctas.size()); }
u32 smem_base() { return static_cast<u32>(me->cta->rank) << RANK_SHIFT | SMEM_BASE; }

u32 map_shared(u32 address, u32 rank, site at) {
  const Site s = site_of("map_shared", at);
  count_visit(s);
  if (rank >= cluster_size())
    find(Kind::OUT_OF_BOUNDS, s, 0, "rank %u in a cluster of %u CTAs", rank, cluster_size());
  return rank << RANK_SHIFT | (address & OFFSET_MASK);
}

} // namespace loom_engine
