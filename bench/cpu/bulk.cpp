// bulk.cpp -- bulk copies without a tensor map, and what all bulk copies have in common.
//
// Loads arrive at a barrier with their bytes: what is published there is what the issuing warp
// knew, and the load itself. Stores are counted in groups by the thread that issues them; one may wait
// until the groups have read shared memory, or until they have written global memory too.
#include "copy.h"

#include <cstring>

namespace cpu {

// ---- loads ----

static u32 offset_of(u32 address) { return (address & OFFSET_MASK) - SMEM_BASE; }

bool load_land(Load *l, u32 dst, u32 extent, u32 bar, u32 align) {
  const SharedSpan span = shared_at(dst, extent, align, true, l->site);
  Cta *owner = nullptr;
  if (!span || !mbarrier_at(bar, l->proxy, l->site, &owner)) return false;
  if (owner != span.cta) {
    find(Kind::OUT_OF_BOUNDS, l->site, 0,
         "the data go to CTA %u and the mbarrier is of CTA %u: they have to be of the same",
         span.cta->index, owner->index);
    return false;
  }
  l->to.push_back({span.cta, span.offset, offset_of(bar)});
  return true;
}

static void land(const Landing &at, const Load &l, const std::string &by,
                 const std::function<void(const Landing &)> &fill, const Clock &C, const Clock &P) {
  if (at.cta->live == 0) {
    find_text(
        Kind::REMOTE_AFTER_EXIT, l.site, 0,
        format("%u bytes asked for by %s arrive in the shared memory of CTA %u, whose threads "
               "may all have ended: nobody there waits for them",
               l.bytes, by.c_str(), at.cta->index));
    return;
  }
  fill(at);
  mbarrier_complete_tx(*at.cta, at.barrier, l.bytes, C, P, l.site);
}

void load_start(const Load &l, std::function<void(const Landing &)> fill) {
  Warp &w = *me->warp;
  Access a = asynchronous(w, LOAD, true, l.site);
  if (!l.proxy) {
    a.async = false;
    a.ordered = &w.C;
  }
  for (const Landing &at : l.to)
    for (const Piece &p : l.pieces) {
      shared_touch(*at.cta, p.offset, p.bytes, a);
      shared_poison(*at.cta, p.offset, p.bytes);
    }
  Clock C = w.C, P = w.P;
  C.know(a.by.agent, a.by.epoch);
  if (l.proxy) P.know(a.by.agent, a.by.epoch);
  w.tick(LOAD);
  for (const Landing &at : l.to)
    async_add(*me->cta->cluster,
              [at, l, by = who(*me), fill, C, P] { land(at, l, by, fill, C, P); });
}

// ---- stores ----

void store_reads(const std::vector<Piece> &pieces, Site site) {
  Access a = asynchronous(*me->warp, STORE, false, site);
  a.by.epoch = 2 * my_copies().store_number - 1;
  for (const Piece &p : pieces) shared_touch(*me->cta, p.offset, p.bytes, a);
}

Access store_writes(Site site) {
  Access a = asynchronous(*me->warp, STORE, true, site);
  a.by.epoch = 2 * my_copies().store_number;
  return a;
}

void StoreGroup::do_read(const Cta &c) {
  if (read) return;
  read = true;
  size_t total = 0;
  for (const Move &m : moves) total += m.bytes;
  buffer.resize(total);
  unsigned char *to = buffer.data();
  for (const Move &m : moves) {
    memcpy(to, c.smem.data() + m.shared, m.bytes);
    to += m.bytes;
  }
}

void StoreGroup::do_write(const Cta &c) {
  do_read(c);
  if (written) return;
  written = true;
  const unsigned char *from = buffer.data();
  for (const Move &m : moves) {
    memcpy(m.global, from, m.bytes);
    from += m.bytes;
  }
  buffer = {};
  moves = {};
  world_changed();
}

static void commit() {
  CopyQueue &q = my_copies();
  const auto group = q.store_open;
  q.store_open = std::make_shared<StoreGroup>();
  group->number = q.store_number++;
  q.stores.push_back(group);
  if (group->moves.empty()) return;
  Cluster &cluster = *me->cta->cluster;
  const Cta *cta = me->cta;
  group->read_work = async_add(cluster, [group, cta] { group->do_read(*cta); });
  group->write_work = async_add(cluster, [group, cta] { group->do_write(*cta); });
}

static void know(uint32_t epoch) {
  Warp &w = *me->warp;
  w.C.know(w.agent(STORE), epoch);
  w.P.know(w.agent(STORE), epoch);
}

static void wait_for(size_t pending, bool read_only) {
  CopyQueue &q = my_copies();
  for (size_t i = 0; i + pending < q.stores.size(); i++) {
    StoreGroup &g = *q.stores[i];
    if (g.read_work) async_finish(g.read_work);
    if (g.write_work && !read_only) async_finish(g.write_work);
    g.waited = true;
    know(read_only ? 2 * g.number - 1 : 2 * g.number);
  }
  while (!read_only && q.stores.size() > pending) q.stores.pop_front();
}

// ---- copies of contiguous bytes ----

static bool check_size(u32 bytes, Site site) {
  if (bytes % 16 != 0)
    find(Kind::MISALIGNED, site, 0, "a bulk copy of %u bytes: a multiple of 16 is needed", bytes);
  return bytes % 16 == 0;
}

// A load of contiguous bytes to one place.
static bool land_bytes(Load *l, u32 dst, u32 bytes, u32 bar, u32 align) {
  l->bytes = bytes;
  if (!load_land(l, dst, bytes, bar, align)) return false;
  l->pieces.push_back({l->to[0].offset, bytes});
  return true;
}

static void load(u32 dst, u64 src, u32 bytes, u32 bar, Site site) {
  Load l;
  l.site = site;
  const GlobalSpan from = global_at(src, bytes, 16, site);
  if (!check_size(bytes, site) || !from || !land_bytes(&l, dst, bytes, bar, 16)) return;
  global_touch(*from.region, from.offset, bytes, asynchronous(*me->warp, LOAD, false, site));
  load_start(l, [p = from.bytes, bytes](const Landing &at) {
    memcpy(at.cta->smem.data() + at.offset, p, bytes);
  });
}

static void store(u64 dst, u32 src, u32 bytes, Site site) {
  const GlobalSpan to = global_at(dst, bytes, 16, site);
  const SharedSpan from = shared_at(src, bytes, 16, false, site);
  if (!check_size(bytes, site) || !to || !from) return;
  store_reads({{from.offset, bytes}}, site);
  global_touch(*to.region, to.offset, bytes, store_writes(site));
  StoreGroup &g = *my_copies().store_open;
  g.moves.push_back({from.offset, bytes, to.bytes});
  g.site = site;
}

// From this CTA's shared memory to that of one of the cluster.
static void push(u32 dst, u32 src, u32 bytes, u32 bar, Site site) {
  Load l;
  l.site = site;
  const SharedSpan from = shared_at(src, bytes, 16, false, site);
  if (!check_size(bytes, site) || !from || !land_bytes(&l, dst, bytes, bar, 16)) return;
  shared_touch(*from.cta, from.offset, bytes, asynchronous(*me->warp, LOAD, false, site));
  load_start(l, [from, bytes, site](const Landing &at) {
    if (from.cta->live == 0)
      find_text(
          Kind::REMOTE_AFTER_EXIT, site, 0,
          format("a bulk_push reads the shared memory of CTA %u, whose threads may have ended",
                 from.cta->index));
    memcpy(at.cta->smem.data() + at.offset, from.bytes, bytes);
  });
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

static Site one_thread(const char *op, u32 bytes, site at) {
  const Site s = site_of(op, at);
  site_info(s).count.visits++;
  site_info(s).count.bytes += bytes;
  return s;
}

void bulk_load(u32 dst, u64 src, u32 bytes, u32 bar, site at) {
  load(dst, src, bytes, bar, one_thread("bulk_load", bytes, at));
}

void bulk_store(u64 dst, u32 src, u32 bytes, site at) {
  store(dst, src, bytes, one_thread("bulk_store", bytes, at));
}

void bulk_push(u32 dst, u32 src, u32 bytes, u32 bar, site at) {
  push(dst, src, bytes, bar, one_thread("bulk_push", bytes, at));
}

// The generic proxy's: each thread's few bytes, which arrive at a barrier like a load's.
void store_async(u32 address, const void *from, int bytes, u32 bar, site at) {
  Load l;
  l.site = site_of("st_async", at);
  l.proxy = false;
  count_shared(l.site, &address, 1, bytes);
  const u32 n = static_cast<u32>(bytes);
  if (!land_bytes(&l, address, n, bar, n)) return;
  std::vector<unsigned char> value(n);
  memcpy(value.data(), from, n);
  load_start(l, [value](const Landing &to) {
    memcpy(to.cta->smem.data() + to.offset, value.data(), value.size());
  });
}

void tma_store_commit(site at) {
  one_thread("tma_store_commit", 0, at);
  commit();
}

void tma_store_wait(int pending, bool read_only, site at) {
  one_thread(read_only ? "tma_store_wait_read" : "tma_store_wait", 0, at);
  wait_for(static_cast<size_t>(pending), read_only);
}

} // namespace loom_engine
