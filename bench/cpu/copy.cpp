// copy.cpp -- cp.async: 4, 8 or 16 bytes from global to shared memory, by each thread for itself.
//
// They go through the generic proxy: what a thread has waited for is ordered by its C, and by P
// only after a fence_proxy_async.
#include "copy.h"

#include <cstring>

namespace cpu {

CopyQueue &my_copies() {
  if (!me->copies) me->copies = std::make_shared<CopyQueue>();
  return *me->copies;
}

void CopyPiece::finish() {
  for (const CopyItem &i : items) {
    const size_t n = static_cast<size_t>(i.bytes);
    if (i.from)
      memcpy(i.to, i.from, n);
    else
      memset(i.to, 0, n);
  }
  items.clear();
}

static void add(const CopyItem &item) {
  CopyGroup &open = my_copies().open;
  if (open.pieces.empty()) open.pieces.push_back(std::make_shared<CopyPiece>());
  std::vector<CopyItem> &items = open.pieces.back()->items;
  if (items.empty()) items.reserve(16);
  items.push_back(item);
}

// The source, where there is one: null after a finding, and the copy does not take place.
static const unsigned char *source_at(u64 src, int bytes, Site site) {
  const size_t n = static_cast<size_t>(bytes);
  count_global(site, &src, 1, bytes);
  const GlobalSpan span = global_at(src, n, n, site);
  if (!span) return nullptr;
  global_touch(*span.region, span.offset, n, ordinary(false, site));
  return span.bytes;
}

static void copy(u32 dst, u64 src, int bytes, bool valid, Site site) {
  const size_t n = static_cast<size_t>(bytes);
  count_shared(site, &dst, 1, bytes);
  const unsigned char *from = valid ? source_at(src, bytes, site) : nullptr;
  const SharedSpan to = shared_at(dst, n, n, false, site);
  if (!to || (valid && !from)) return;
  Access a = ordinary(true, site);
  a.by = me->warp->stamp(site, COPY);
  a.by.epoch = my_copies().epoch;
  shared_touch(*to.cta, to.offset, n, a);
  shared_poison(*to.cta, to.offset, n);
  add({to.bytes, from, bytes});
}

static void commit() {
  CopyQueue &q = my_copies();
  CopyGroup group;
  group.pieces.swap(q.open.pieces);
  group.epoch = q.epoch++;
  if (!group.pieces.empty())
    group.work = async_add(*me->cta->cluster, [pieces = group.pieces] {
      for (const auto &p : pieces) p->finish();
    });
  q.groups.push_back(std::move(group));
}

static void wait_for(int pending) {
  CopyQueue &q = my_copies();
  while (q.groups.size() > static_cast<size_t>(pending)) {
    const CopyGroup &g = q.groups.front();
    if (g.work) async_finish(g.work);
    me->warp->C.know(me->warp->agent(COPY), g.epoch);
    q.groups.pop_front();
  }
}

// The barrier hears of this thread's copies so far once they are complete.
static void arrive_after(Cta &owner, u32 offset, Site site) {
  CopyQueue &q = my_copies();
  std::vector<std::shared_ptr<CopyPiece>> before = q.open.pieces;
  for (const CopyGroup &g : q.groups) before.insert(before.end(), g.pieces.begin(), g.pieces.end());
  const Warp &w = *me->warp;
  Clock C = w.C;
  C.know(w.agent(COPY), q.epoch++);
  if (!q.open.pieces.empty())
    q.open.pieces.push_back(std::make_shared<CopyPiece>()); // for later ones
  Cta *cta = &owner;
  async_add(*me->cta->cluster, [before, cta, offset, C, P = w.P, site] {
    for (const auto &p : before) p->finish();
    mbarrier_arrive_async(*cta, offset, C, P, site);
  });
}

static void check_stores(const CopyQueue &q, const Thread &t) {
  if (!q.store_open->moves.empty())
    find(Kind::REMOTE_AFTER_EXIT, q.store_open->site, 0,
         "a store that is never committed: tma_store_commit is missing");
  for (const auto &g : q.stores)
    if (!g->waited && g->site)
      find_text(Kind::REMOTE_AFTER_EXIT, g->site, 0,
                who(t) + " ends while this store may still read its shared memory, which has to "
                         "outlive it: tma_store_wait_read<0> is missing");
}

// cp.async that nobody waits for is harmless: the hardware completes it before the CTA is gone.
void copy_thread_exit(Thread &t) {
  if (t.copies) check_stores(*t.copies, t);
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

void cp_async(u32 dst, u64 src, int bytes, bool valid, site at) {
  static const char *const names[] = {"cp_async_4", "cp_async_8", "cp_async_16"};
  copy(dst, src, bytes, valid, site_of(names[bytes / 8], at));
}

void cp_async_commit(site at) {
  count_visit(site_of("cp_async_commit", at));
  commit();
}

void cp_async_wait(int pending, site at) {
  count_visit(site_of("cp_async_wait", at));
  wait_for(pending);
}

void cp_async_mbar_arrive(u32 bar, site at) {
  const Site s = site_of("cp_async_mbar_arrive", at);
  count_visit(s);
  Cta *owner = nullptr;
  if (!mbarrier_at(bar, false, s, &owner)) return;
  if (owner != me->cta) {
    find(Kind::OUT_OF_BOUNDS, s, 0, "an mbarrier of another CTA: this instruction takes one's own");
    return;
  }
  arrive_after(*owner, (bar & OFFSET_MASK) - SMEM_BASE, s);
}

} // namespace loom_engine
