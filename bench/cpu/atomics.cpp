// atomics.cpp -- what orders accesses of different clusters: atomics and fences at gpu scope, and
// the grid before this one.
//
// A release publishes its clocks at the address it writes, an acquire joins what it finds there. They
// are C and P for acquire and release operations; a relaxed one publishes them as of the last
// fence_gpu before it, and what it brings joins them at the next fence_gpu after it. An atomic that
// reads and writes passes on what it found (a release sequence); a plain release store begins anew.
#include "memory.h"

#include <cstring>
#include <unordered_map>

namespace cpu {

namespace {
std::unordered_map<u64, Clocks> published; // by address
} // namespace

void atomics_launch_begin(); // run.cpp
void atomics_launch_begin() { published.clear(); }

static Clocks &published_at(u64 address) {
  const auto [it, fresh] = published.try_emplace(address);
  if (fresh) it->second.reset(UINT32_MAX, 0); // of no cluster: all they hold is foreign
  return it->second;
}

using loom_engine::order;

static void acquire(u64 address, order sem) {
  Warp &w = *me->warp;
  const auto it = published.find(address);
  if (it == published.end()) return;
  if (sem == order::acquire || sem == order::acq_rel)
    w.learn(it->second);
  else
    w.acquired.join(it->second);
}

static void release(u64 address, order sem) {
  Warp &w = *me->warp;
  const bool now = sem == order::release || sem == order::acq_rel;
  published_at(address).join(now ? w.known() : w.fenced);
  if (now) w.tick();
}

// The word at an address, checked and recorded as an atomic access; null after a finding.
static unsigned char *atomic_at(u64 address, bool write, Site s) {
  const GlobalSpan span = global_at(address, 4, 4, s);
  count_global(s, &address, 1, 4);
  if (!span) return nullptr;
  Access a = ordinary(write, s);
  a.atomic = true;
  global_touch(*span.region, span.offset, 4, a);
  return write && span.region->use == Use::INPUT ? nullptr : span.bytes;
}

static u32 load_word(const unsigned char *p) {
  u32 v;
  memcpy(&v, p, sizeof v);
  return v;
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

static const char *atomic_name(atomic op, order sem) {
  const bool strong = sem == order::acq_rel;
  return op == atomic::add   ? strong ? "atom_add_acq_rel" : "atom_add"
         : op == atomic::inc ? strong ? "atom_inc_acq_rel" : "atom_inc"
                             : "atom_exchange";
}

u32 atom_global(atomic op, order sem, u64 address, u32 value, site at) {
  const Site s = site_of(atomic_name(op, sem), at);
  poll(s, static_cast<u32>(address), 0);
  unsigned char *p = atomic_at(address, true, s);
  if (!p) return 0;
  acquire(address, sem);
  release(address, sem);
  const u32 old = load_word(p);
  const u32 fresh = op == atomic::add   ? old + value
                    : op == atomic::inc ? old >= value ? 0 : old + 1
                                        : value;
  memcpy(p, &fresh, sizeof fresh);
  if (fresh != old) world_changed();
  return old;
}

void red_global_f32(u64 address, float value, site at) {
  unsigned char *p = atomic_at(address, true, site_of("red_add", at));
  if (!p) return;
  release(address, order::relaxed);
  float sum;
  memcpy(&sum, p, sizeof sum);
  sum += value;
  memcpy(p, &sum, sizeof sum);
  world_changed();
}

u32 load_global_ordered(order sem, u64 address, site at) {
  const Site s = site_of(sem == order::acquire ? "ld_acquire" : "ld_relaxed", at);
  poll(s, static_cast<u32>(address), 0);
  const unsigned char *p = atomic_at(address, false, s);
  if (!p) return 0;
  acquire(address, sem);
  return load_word(p);
}

void store_global_ordered(order sem, u64 address, u32 value, site at) {
  unsigned char *p = atomic_at(address, true, site_of("st_release", at));
  if (!p) return;
  published.erase(address);
  release(address, sem);
  memcpy(p, &value, sizeof value);
  world_changed();
}

void fence_gpu(site at) {
  count_visit(site_of("fence_gpu", at));
  Warp &w = *me->warp;
  w.learn(w.acquired);
  w.fenced = w.known();
  w.tick();
}

// Within a cluster its barriers order everything already; only atomics at gpu scope look at `fenced`.
void fence_cluster(site at) { count_visit(site_of("fence_cluster", at)); }

void fence_proxy_async(bool global_too, site at) {
  const Site s = site_of(global_too ? "fence_proxy_async_all" : "fence_proxy_async", at);
  count_visit(s);
  me->warp->P.join(me->warp->C);
  me->warp->tick(); // what the warp writes from now on is not covered
  let_lanes_come(s);
}

void grid_dep_wait(site at) {
  count_visit(site_of("grid_dep_wait", at));
  Warp &w = *me->warp;
  const uint16_t previous = static_cast<uint16_t>(w.cta->cluster->agents - 1);
  w.C.know(previous, 1);
  w.P.know(previous, 1);
}

void grid_dep_launch(site at) { count_visit(site_of("grid_dep_launch", at)); }

} // namespace loom_engine
