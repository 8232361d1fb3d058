// barrier.cpp -- meetings of a warp or warpgroup, and the barriers of a CTA.
#include "engine.h"

namespace cpu {

// ---- meetings ----

static Meeting *meet(Meeting &m, int lane, int size, Site site, void *operands) {
  if (m.arrived > 0 && m.site != site)
    find_and_stop(
        Kind::DIVERGED, site, m.site,
        "an aligned instruction, which all %d threads have to execute together, but others "
        "of them are at another one",
        size);
  m.site = site;
  m.operands[lane] = operands;
  if (++m.arrived == size) return &m;
  block(Wait::MEETING, site);
  return nullptr;
}

Meeting *meet_warp(Site site, void *operands) {
  Warp &w = *me->warp;
  Meeting *m = meet(w.meeting, me->lane, w.size, site, operands);
  if (m) site_info(site).count.visits++;
  return m;
}

Warpgroup &my_warpgroup() { return me->cta->groups[static_cast<size_t>(me->t / WARPGROUP)]; }

Meeting *meet_warpgroup(Site site, void *operands) {
  Meeting *m = meet(my_warpgroup().meeting, me->t % WARPGROUP, WARPGROUP, site, operands);
  if (m) site_info(site).count.visits++;
  return m;
}

static void wake_lanes(Warp &w) {
  for (int l = 0; l < w.size; l++)
    if (w.lanes[l].wait == Wait::MEETING) wake(w.lanes[l]);
}

void meeting_over(Meeting *m) {
  m->arrived = 0;
  Warp &w = *me->warp;
  if (m == &w.meeting) {
    wake_lanes(w);
    return;
  }
  Warpgroup &g = my_warpgroup();
  for (int i = 0; i < 4; i++) wake_lanes(g.warp(i));
}

// ---- barriers of a CTA: number 0 is cta_sync's ----

static void forget(NamedBarrier &b, const Cta &c) {
  const size_t agents = static_cast<size_t>(c.cluster->agents);
  b.arrived = b.expected = 0;
  b.lanes.assign(c.warps.size(), 0);
  b.C.reset(c.cluster->index, agents);
  b.P.reset(c.cluster->index, agents);
}

static void publish(NamedBarrier &b, Site site) {
  b.site = site;
  b.C.join(me->warp->C);
  b.P.join(me->warp->P);
}

static void release_cta(Cta &c) {
  NamedBarrier &b = c.named[0];
  for (Warp &w : c.warps) {
    w.C.join(b.C);
    w.P.join(b.P);
    w.tick();
    for (int l = 0; l < w.size; l++)
      if (w.lanes[l].wait == Wait::CTA_SYNC) wake(w.lanes[l]);
  }
  forget(b, c);
}

// Threads that have ended are not waited for.
void cta_thread_exit(Cta &c) {
  if (c.live > 0 && c.named[0].arrived == c.live) release_cta(c);
}

// bar.sync is one instruction for a whole warp.
static void check_aligned(Wait why, Site site) {
  const Warp &w = *me->warp;
  for (int l = 0; l < w.size; l++)
    if (w.lanes[l].wait == why && w.lanes[l].wait_site != site)
      find_and_stop(Kind::DIVERGED, site, w.lanes[l].wait_site,
                    "a barrier in a branch that only a part of the warp takes");
}

static bool waiting_at(const Warp &w, u32 id) {
  for (int l = 0; l < w.size; l++)
    if (w.lanes[l].wait == Wait::NAMED && w.lanes[l].wait_on == id) return true;
  return false;
}

// The last has come; `me` is that one, and goes on.
static void release_named(Cta &c, const NamedBarrier &b, u32 id, bool waits) {
  for (Warp &w : c.warps) {
    if (!waiting_at(w, id) && !(waits && &w == me->warp)) continue;
    w.C.join(b.C);
    w.P.join(b.P);
    w.tick();
    for (int l = 0; l < w.size; l++)
      if (w.lanes[l].wait == Wait::NAMED && w.lanes[l].wait_on == id) wake(w.lanes[l]);
  }
  if (!waits) me->warp->tick();
}

static NamedBarrier &named(int id, int threads, Site site) {
  if (id < 1 || id > 15)
    find_and_stop(Kind::BARRIER, site, 0, "named barrier %d: 1 to 15 exist, 0 is cta_sync's", id);
  if (threads < WARP || threads % WARP != 0 || threads > static_cast<int>(launched().block))
    find_and_stop(Kind::BARRIER, site, 0,
                  "named barrier %d for %d threads: whole warps of the CTA's %u are needed", id,
                  threads, launched().block);
  NamedBarrier &b = me->cta->named[id];
  if (b.arrived > 0 && b.expected != threads)
    find_and_stop(Kind::BARRIER, site, b.site,
                  "named barrier %d for %d threads, but others came to it for %d", id, threads,
                  b.expected);
  return b;
}

static void note_lane(NamedBarrier &b, int id, Site site) {
  u32 &lanes = b.lanes[static_cast<size_t>(me->warp->index)];
  if (lanes >> me->lane & 1)
    find_and_stop(Kind::BARRIER, site, b.site,
                  "named barrier %d is come to twice in one round by the same thread", id);
  lanes |= 1u << me->lane;
}

// It counts warps: where some lanes of one have come, all have to.
static void check_whole_warps(const NamedBarrier &b, const Cta &c, int id, Site site) {
  for (const Warp &w : c.warps) {
    const u32 came = b.lanes[static_cast<size_t>(w.index)];
    for (int l = 0; came && l < w.size; l++)
      if (!(came >> l & 1) && w.lanes[l].wait != Wait::DONE)
        find_and_stop(Kind::DIVERGED, site, 0,
                      "named barrier %d counts whole warps, and only %s came to it", id,
                      who(w, came).c_str());
  }
}

// One thread comes to a barrier of `threads`; `waits`: and stays until all have come.
static void come(int id, int threads, bool waits, Site site) {
  NamedBarrier &b = named(id, threads, site);
  if (waits) check_aligned(Wait::NAMED, site);
  b.expected = threads;
  if (!me->warp->C.knows(b.last))
    find(Kind::BARRIER, site, b.last_site,
         "named barrier %d is come to again by a thread that cannot know that its last round is "
         "over: it may be counted in that one",
         id);
  note_lane(b, id, site);
  publish(b, site);
  if (++b.arrived < threads) {
    if (waits)
      block(Wait::NAMED, site, static_cast<u32>(id), static_cast<u32>(threads));
    else
      me->warp->tick();
    return;
  }
  check_whole_warps(b, *me->cta, id, site);
  const NamedBarrier done = b;
  b.last = b.C;
  b.last_site = site;
  forget(b, *me->cta);
  release_named(*me->cta, done, static_cast<u32>(id), waits);
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

void cta_sync(site at) {
  const Site s = site_of("cta_sync", at);
  Cta &c = *me->cta;
  NamedBarrier &b = c.named[0];
  site_info(s).count.waits++;
  check_aligned(Wait::CTA_SYNC, s);
  publish(b, s);
  if (++b.arrived == c.live)
    release_cta(c);
  else
    block(Wait::CTA_SYNC, s);
}

void named_sync(int id, int threads, site at) {
  const Site s = site_of("named_sync", at);
  site_info(s).count.waits++;
  come(id, threads, true, s);
}

void named_arrive(int id, int threads, site at) {
  come(id, threads, false, site_of("named_arrive", at));
}

void warp_sync(site at) {
  if (Meeting *m = meet_warp(site_of("warp_sync", at), nullptr)) meeting_over(m);
}

bool elect_one(site at) {
  if (Meeting *m = meet_warp(site_of("elect_one", at), nullptr)) meeting_over(m);
  return me->lane == 0;
}

int warpgroup_index(site at) {
  if (Meeting *m = meet_warp(site_of("warpgroup_index", at), nullptr)) meeting_over(m);
  return me->t / WARPGROUP;
}

u32 shfl(shuffle kind, u32 value, int lane, site at) {
  struct Lane {
    u32 value, result;
    int from;
  } mine = {value, 0, (kind == shuffle::index ? lane : me->lane ^ lane) & 31};
  if (Meeting *m = meet_warp(site_of("shfl", at), &mine)) {
    for (int l = 0; l < me->warp->size; l++) {
      Lane *to = static_cast<Lane *>(m->operands[l]);
      to->result = static_cast<Lane *>(m->operands[to->from])->value;
    }
    meeting_over(m);
  }
  return mine.result;
}

void setmaxnreg(bool increase, int regs, site at) {
  const Site s = site_of(increase ? "setmaxnreg_inc" : "setmaxnreg_dec", at);
  if (regs < 24 || regs > 256 || regs % 8 != 0)
    find(Kind::DESCRIPTOR, s, 0, "setmaxnreg to %d: multiples of 8 from 24 to 256 exist", regs);
  const Warpgroup &g = my_warpgroup();
  if (g.cta->warps.size() < static_cast<size_t>(4 * g.index + 4) || g.warp(3).size != WARP)
    find_and_stop(Kind::DIVERGED, s, 0,
                  "setmaxnreg is for a whole warpgroup, and this one has less than 128 threads");
  if (Meeting *m = meet_warpgroup(s, nullptr)) {
    site_info(s).count.visits += 3; // counted as what each of the four warps executes
    meeting_over(m);
  }
}

} // namespace loom_engine
