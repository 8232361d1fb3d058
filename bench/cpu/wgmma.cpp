// wgmma.cpp -- the tensor cores of a warpgroup: operations are issued, committed, and waited for.
//
// Operands in shared memory are read as late as the schedule likes, up to the wait. Their reads are
// checked when the operation is issued, against what all four warps know of the asynchronous proxy,
// and are the warpgroup's own agent's until a wait tells the warps of their end. The registers'
// rules are checked as far as a host can see registers: see wgmma_queue.h.
#include "memory.h"
#include "wgmma_queue.h"

#include <algorithm>
#include <cstring>

namespace cpu {

namespace {

struct WgmmaLane { // what one thread asks for
  const loom_engine::wgmma_kind *kind;
  void *d;
  const u32 *fragment;
  u64 a, b;
  bool accumulate;
};

constexpr size_t MOST_IDLE = 64; // arrays that are remembered

} // namespace

static WgmmaLane &lane_of(Meeting *m, int i) { return *static_cast<WgmmaLane *>(m->operands[i]); }

static WgmmaQueue &queue_of(Warpgroup &g) {
  if (!g.wgmma) g.wgmma = std::make_shared<WgmmaQueue>();
  return *g.wgmma;
}

static Meeting *meet_four_warps(Site site, void *operands) {
  const Warpgroup &g = my_warpgroup();
  if (g.cta->warps.size() < static_cast<size_t>(4 * g.index + 4) || g.warp(3).size != WARP)
    find_and_stop(Kind::DIVERGED, site, 0,
                  "an instruction of a whole warpgroup in one that has less than 128 threads");
  return meet_warpgroup(site, operands);
}

// ---- operands and completion ----

static bool decode(u64 descriptor, int major, char name, Operand *to, Site site) {
  const char *wrong = operand_of(descriptor, major != 0, to);
  if (wrong)
    find(Kind::DESCRIPTOR, site, 0, "the descriptor of %c, 0x%llx, has %s", name, descriptor,
         wrong);
  return !wrong;
}

static bool find_operands(Warpgroup &g, const WgmmaLane &how, Operation *o) {
  Clock known = g.warp(0).P;
  for (int i = 1; i < 4; i++) known.meet(g.warp(i).P);
  Access a = {};
  a.async = true;
  a.by = {o->epoch, g.cta->cluster->index, g.agent(), o->site};
  a.ordered = &known;
  a.reads = &me->warp->C;
  bool ok = true;
  if (!how.fragment)
    ok = decode(how.a, how.kind->major_a, 'A', &o->a, o->site) &&
         operand_touch(*g.cta, o->a, WGMMA_M, a);
  return decode(how.b, how.kind->major_b, 'B', &o->b, o->site) &&
         operand_touch(*g.cta, o->b, o->n, a) && ok;
}

// Groups complete in order, so with this one all before it.
static void complete(const Cta &c, const WgmmaQueue &q, const WgmmaGroup *last) {
  for (const auto &g : q.groups) {
    if (!g->done)
      for (const Operation &o : g->operations) operation_carry_out(c, o);
    g->done = true;
    if (g.get() == last) return;
  }
}

// ---- registers ----

static bool same_arrays(const Tile &t, Meeting *m) {
  for (int i = 0; i < WARPGROUP; i++)
    if (t.d[i] != lane_of(m, i).d) return false;
  return true;
}

static std::shared_ptr<Tile> new_tile(WgmmaQueue &q, Meeting *m) {
  if (q.tiles.size() > MOST_IDLE)
    q.tiles.erase(std::remove_if(q.tiles.begin(), q.tiles.end(),
                                 [](const std::shared_ptr<Tile> &t) { return t->in_flight == 0; }),
                  q.tiles.end());
  auto t = std::make_shared<Tile>();
  const loom_engine::wgmma_kind &k = *lane_of(m, 0).kind;
  for (int i = 0; i < WARPGROUP; i++) t->d[i] = lane_of(m, i).d;
  t->n = k.n;
  t->f16_acc = k.f16_acc;
  t->value.resize(static_cast<size_t>(WGMMA_M * k.n));
  q.tiles.push_back(t);
  return t;
}

// The tile of these registers, where they have been one before. The order of operations on the same
// accumulators is only kept among those of one shape.
static std::shared_ptr<Tile> known_tile(WgmmaQueue &q, Meeting *m, Site site) {
  const loom_engine::wgmma_kind &kind = *lane_of(m, 0).kind;
  std::shared_ptr<Tile> t;
  for (const auto &x : q.tiles)
    if (same_arrays(*x, m)) t = x;
  if (!t || (t->n == kind.n && t->f16_acc == kind.f16_acc)) return t;
  if (t->in_flight)
    find_and_stop(Kind::REGISTERS, site, t->last,
                  "accumulators of an operation in flight, but of another shape: wgmma_wait first");
  if (t->fences == q.fences)
    find(Kind::REGISTERS, site, t->last,
         "accumulators of an operation of another shape, and no wgmma_fence between the two");
  q.tiles.erase(std::find(q.tiles.begin(), q.tiles.end(), t));
  return nullptr;
}

// Registers that are met for the first time: what they held is known of the first fence alone.
static bool held_at_fence(const WgmmaQueue &q, Meeting *m, bool fragment, size_t bytes) {
  for (size_t i = 0; i < q.frames.size(); i++) {
    const WgmmaLane &lane = lane_of(m, static_cast<int>(i));
    const void *registers = fragment ? static_cast<const void *>(lane.fragment) : lane.d;
    if (!frames_hold(q.frames[i], registers, bytes)) return false;
  }
  return true;
}

// The accumulators of an operation, made its own.
static std::shared_ptr<Tile> claim_tile(WgmmaQueue &q, Meeting *m, Site site) {
  std::shared_ptr<Tile> t = known_tile(q, m, site);
  const bool fresh = !t;
  if (fresh) t = new_tile(q, m);
  const size_t bytes = static_cast<size_t>(t->f16_acc ? t->n : 2 * t->n); // of each thread
  if (t->in_flight == 0) {
    const bool used = lane_of(m, 0).accumulate, same = used && tile_take(*t);
    if (used && !(fresh ? held_at_fence(q, m, false, bytes) : same))
      find(Kind::REGISTERS, site, t->last,
           "accumulators were written since the last wgmma_fence: it has to come between");
    tile_poison(*t);
  }
  t->in_flight++;
  t->last = site;
  t->fences = q.fences;
  return t;
}

static std::shared_ptr<const Fragment> claim_fragment(WgmmaQueue &q, Meeting *m, Site site) {
  Fragment *known = nullptr;
  for (Fragment &f : q.fragments)
    if (f.at[0] == lane_of(m, 0).fragment) known = &f;
  const bool fresh = !known;
  if (fresh) {
    if (q.fragments.size() > MOST_IDLE) q.fragments.clear();
    q.fragments.emplace_back();
    known = &q.fragments.back();
  }
  for (int i = 0; i < WARPGROUP; i++) known->at[i] = lane_of(m, i).fragment;
  const bool same = fragment_take(*known);
  if (!(fresh ? held_at_fence(q, m, true, sizeof known->bits[0]) : same))
    find(Kind::REGISTERS, site, 0,
         "the registers of A were written since the last wgmma_fence: it has to come between");
  return std::make_shared<Fragment>(*known);
}

// A wait covers these operations: the registers of A may be written from now on.
static void release_operations(WgmmaGroup &g, Site wait) {
  for (Operation &o : g.operations) {
    o.tile->in_flight--;
    if (!o.fragment) continue;
    Fragment now = *o.fragment;
    if (!fragment_take(now))
      find(Kind::REGISTERS, o.site, wait,
           "the registers of A were written between wgmma and the wgmma_wait that covers it (what "
           "is "
           "in flight needs arrays of its own)");
  }
}

static void deliver(Tile &t, Site wait) {
  if (!tile_poisoned(t))
    find(Kind::REGISTERS, t.last, wait,
         "accumulator registers touched between wgmma and wgmma_wait");
  tile_give(t);
  if (t.f16_acc) tile_take(t); // a NaN has one form there
}

// ---- one instruction of 128 threads ----

static const char *difference(const WgmmaLane &x, const WgmmaLane &y) {
  if (x.kind->n != y.kind->n || x.kind->major_a != y.kind->major_a ||
      x.kind->major_b != y.kind->major_b || x.kind->type != y.kind->type)
    return "shape";
  if (!x.fragment && x.a != y.a) return "descriptor of A";
  if (x.b != y.b) return "descriptor of B";
  return x.accumulate != y.accumulate ? "choice to accumulate" : nullptr;
}

static void check_uniform(Meeting *m, Site site) {
  for (int i = 1; i < WARPGROUP; i++)
    if (const char *what = difference(lane_of(m, 0), lane_of(m, i))) {
      find(Kind::DIVERGED, site, 0, "thread %d of the warpgroup gives another %s than thread 0", i,
           what);
      return;
    }
}

static void issue(Warpgroup &g, Meeting *m, Site site) {
  WgmmaQueue &q = queue_of(g);
  const WgmmaLane &how = lane_of(m, 0);
  const int n = how.kind->n;
  if (n < 8 || n > WGMMA_N || n % 8 != 0)
    find_and_stop(Kind::DESCRIPTOR, site, 0, "wgmma of n = %d: multiples of 8 up to 256 exist", n);
  check_uniform(m, site);
  if (q.fences == 0)
    find(Kind::REGISTERS, site, 0, "the first wgmma of a warpgroup, and no wgmma_fence before it");
  Operation o = {};
  o.n = n;
  o.type = how.kind->type;
  o.accumulate = how.accumulate;
  o.site = site;
  o.epoch = ++g.epoch;
  o.usable = find_operands(g, how, &o);
  if (how.fragment) o.fragment = claim_fragment(q, m, site);
  o.tile = claim_tile(q, m, site);
  site_info(site).count.flops += static_cast<uint64_t>(2 * WGMMA_M * WGMMA_K * n);
  q.open.push_back(std::move(o));
}

static void commit(Warpgroup &g) {
  WgmmaQueue &q = queue_of(g);
  auto group = std::make_shared<WgmmaGroup>();
  group->operations.swap(q.open);
  q.groups.push_back(group);
  if (group->operations.empty()) return;
  const Cta *cta = g.cta;
  group->work = async_add(*g.cta->cluster, [cta, queue = g.wgmma, last = group.get()] {
    complete(*cta, *queue, last);
  });
}

static void wait_oldest(Warpgroup &g, Site site) {
  WgmmaQueue &q = queue_of(g);
  const auto group = q.groups.front();
  if (group->work) async_finish(group->work);
  q.groups.pop_front();
  release_operations(*group, site);
  if (group->operations.empty()) return;
  const uint32_t epoch = group->operations.back().epoch;
  for (int i = 0; i < 4; i++) {
    g.warp(i).C.know(g.agent(), epoch);
    g.warp(i).P.know(g.agent(), epoch);
  }
}

static void wait_for(Warpgroup &g, int pending, Site site) {
  WgmmaQueue &q = queue_of(g);
  if (!q.open.empty())
    find(Kind::REGISTERS, q.open.back().site, site,
         "a wgmma that is not committed when the warpgroup waits: wgmma_commit is missing");
  std::vector<std::shared_ptr<Tile>> busy;
  for (const auto &t : q.tiles)
    if (t->in_flight) busy.push_back(t);
  while (q.groups.size() > static_cast<size_t>(pending)) wait_oldest(g, site);
  for (const auto &t : busy)
    if (!t->in_flight) deliver(*t, site);
}

// What registers hold now is what the next operations may rely on.
static void fence(Warpgroup &g, Meeting *m) {
  WgmmaQueue &q = queue_of(g);
  q.frames.resize(q.fences++ == 0 ? WARPGROUP : 0);
  for (size_t i = 0; i < q.frames.size(); i++)
    frames_take(q.frames[i], m->operands[i],
                fiber_stack_end(g.warp(static_cast<int>(i / WARP)).lanes[i % WARP]));
  for (const auto &t : q.tiles)
    if (!t->in_flight) tile_take(*t);
  for (Fragment &f : q.fragments) fragment_take(f);
}

void wgmma_cta_exit(Cta &c) {
  for (Warpgroup &g : c.groups) {
    if (!g.wgmma) continue;
    const std::string by = format("warpgroup %d of CTA %u", g.index, c.index);
    for (const Operation &o : g.wgmma->open)
      find_text(Kind::REGISTERS, o.site, 0,
                by + " ends before this wgmma is committed and waited for");
    for (const auto &group : g.wgmma->groups)
      for (const Operation &o : group->operations)
        find_text(Kind::REGISTERS, o.site, 0, by + " ends before any wgmma_wait covers this wgmma");
  }
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

void wgmma_fence(site at) {
  // The kernel's frames lie behind this one.
  if (Meeting *m = meet_four_warps(site_of("wgmma_fence", at), __builtin_frame_address(0))) {
    fence(my_warpgroup(), m);
    meeting_over(m);
  }
}

void wgmma_commit(site at) {
  if (Meeting *m = meet_four_warps(site_of("wgmma_commit", at), nullptr)) {
    commit(my_warpgroup());
    meeting_over(m);
  }
}

void wgmma_wait(int pending, site at) {
  const Site s = site_of("wgmma_wait", at);
  if (Meeting *m = meet_four_warps(s, nullptr)) {
    wait_for(my_warpgroup(), pending, s);
    meeting_over(m);
  }
}

void wgmma(const wgmma_kind &kind, void *d, const u32 *a_registers, u64 a, u64 b, int accumulate,
           site at) {
  static const char *const names[2][2] = {{"wgmma", "wgmma_rs"}, {"wgmma_f16", "wgmma_f16_rs"}};
  const Site s = site_of(names[kind.f16_acc][a_registers != nullptr], at);
  WgmmaLane mine = {&kind, d, a_registers, a, b, accumulate != 0};
  if (Meeting *m = meet_four_warps(s, &mine)) {
    issue(my_warpgroup(), m, s);
    meeting_over(m);
  }
}

} // namespace loom_engine
