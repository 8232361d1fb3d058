// engine.cpp -- a launch: clusters come and go, warps take turns, asynchronous work completes.
#include "engine.h"

#include <algorithm>
#include <unordered_map>

namespace loom_engine {
const thread_indices *current;
}

namespace cpu {

Thread *me;
volatile uint64_t thread_turns;

namespace {

struct Work {
  uint64_t id;
  Cluster *cluster;
  std::function<void()> run;
};

Launch now;
Fiber scheduler;
bool stopped; // the launch is given up
uint64_t world, rng, next_work;
std::vector<Cluster *> running;
std::vector<Warp *> warps; // of the running clusters
size_t last_warp;
std::vector<uint32_t> waiting;              // clusters that have not started, the next one last
std::vector<Work> works;                    // in no order: see place
std::unordered_map<uint64_t, size_t> place; // of a work's number in `works`

constexpr size_t MOST_FINDINGS = 24; // one fault is enough; what it leads to is of little use
constexpr int PATIENCE = 64;         // rounds of polls, nothing else being left to run

uint64_t idle_world; // the world of the last such round, and how many it has seen
int idle_rounds;

} // namespace

const Launch &launched() { return now; }

uint32_t random_number() { // xorshift64*
  rng ^= rng >> 12;
  rng ^= rng << 25;
  rng ^= rng >> 27;
  return static_cast<uint32_t>((rng * 2685821657736338717u) >> 32);
}

// ---- agents ----

static int agents_of_cta(const Cta &c) {
  return AGENTS_PER_WARP * static_cast<int>(c.warps.size()) + static_cast<int>(c.groups.size());
}

void Warp::tick(Agent kind) {
  epochs[kind]++;
  if (kind == GENERIC) C.know(agent(GENERIC), epochs[GENERIC]);
}

uint16_t Warpgroup::agent() const {
  const int first = AGENTS_PER_WARP * static_cast<int>(cta->warps.size());
  return static_cast<uint16_t>(cta->rank * agents_of_cta(*cta) + first + index);
}

Warp &Warpgroup::warp(int i) const { return cta->warps[static_cast<size_t>(4 * index + i)]; }

bool knows_started(const Clock &c, const Cta &cta) {
  for (const Warp &w : cta.warps)
    if (c.of(w.agent(GENERIC)) > 0) return true;
  return false;
}

// ---- clusters ----

static void finish_thread();

static void fiber_main() {
  now.entry(now.args);
  finish_thread();
}

static void make_thread(Cta &c, int t) {
  Thread &x = c.threads[static_cast<size_t>(t)];
  x.t = t;
  x.lane = t % WARP;
  x.cta = &c;
  x.warp = &c.warps[static_cast<size_t>(t / WARP)];
  x.indices = {
      {static_cast<unsigned>(t), 0, 0}, {c.index, 0, 0}, {now.block, 1, 1}, {now.grid, 1, 1}};
  fiber_prepare(&x, t, fiber_main);
}

static void make_warp(Cta &c, int index) {
  Warp &w = c.warps[static_cast<size_t>(index)];
  w.index = index;
  w.cta = &c;
  w.first_agent = static_cast<uint16_t>(c.rank * agents_of_cta(c) + AGENTS_PER_WARP * index);
  w.cluster = c.cluster->index;
  w.lanes = &c.threads[static_cast<size_t>(WARP * index)];
  w.size = std::min<int>(WARP, static_cast<int>(now.block) - WARP * index);
  w.ready = w.size == WARP ? 0xffffffffu : (1u << w.size) - 1;
}

static void make_cta(Cluster &cluster, int rank) {
  Cta &c = cluster.ctas[static_cast<size_t>(rank)];
  c.cluster = &cluster;
  c.rank = rank;
  c.index = cluster.index * now.cluster + static_cast<unsigned>(rank);
  c.smem.assign(now.smem, 0xff);
  c.shadow.reset(now.smem, false);
  c.live = static_cast<int>(now.block);
  c.threads = std::vector<Thread>(now.block);
  c.warps = std::vector<Warp>((now.block + WARP - 1) / WARP);
  c.groups = std::vector<Warpgroup>((now.block + WARPGROUP - 1) / WARPGROUP);
  for (size_t i = 0; i < c.warps.size(); i++) make_warp(c, static_cast<int>(i));
  for (size_t i = 0; i < c.groups.size(); i++) {
    c.groups[i].index = static_cast<int>(i);
    c.groups[i].cta = &c;
  }
  for (unsigned t = 0; t < now.block; t++) make_thread(c, static_cast<int>(t));
}

static void reset_pair(Clock pair[2], const Cluster &c) {
  for (int i = 0; i < 2; i++) pair[i].reset(c.index, static_cast<size_t>(c.agents));
}

static void make_clocks(Cluster &cluster, Cta &c) {
  const size_t agents = static_cast<size_t>(cluster.agents);
  for (Warp &w : c.warps) {
    for (Clock *k : {&w.C, &w.P}) k->reset(cluster.index, agents);
    for (Clocks *k : {&w.fenced, &w.acquired}) k->reset(cluster.index, agents);
    w.C.know(w.agent(GENERIC), 1);
  }
  for (NamedBarrier &b : c.named) {
    b.C.reset(cluster.index, agents);
    b.P.reset(cluster.index, agents);
    b.lanes.resize(c.warps.size());
  }
  c.exit.reset(cluster.index, agents);
}

static void start_cluster() {
  Cluster *cluster = new Cluster;
  cluster->index = waiting.back();
  waiting.pop_back();
  cluster->ctas = std::vector<Cta>(now.cluster);
  for (unsigned r = 0; r < now.cluster; r++) make_cta(*cluster, static_cast<int>(r));
  cluster->agents = static_cast<int>(now.cluster) * agents_of_cta(cluster->ctas[0]) + 1;
  cluster->live = static_cast<int>(now.cluster * now.block);
  reset_pair(cluster->C, *cluster);
  reset_pair(cluster->P, *cluster);
  for (Cta &c : cluster->ctas) {
    make_clocks(*cluster, c);
    for (Warp &w : c.warps) warps.push_back(&w);
  }
  running.push_back(cluster);
}

static void check_remotes(const Cta &c) {
  for (const Stamp &r : c.remotes)
    if (!c.exit.covers(r))
      find_text(
          Kind::REMOTE_AFTER_EXIT, r.site, 0,
          format("the access by %s to the shared memory of CTA %u may come after that CTA has "
                 "ended: nothing orders the two; a cluster_sync before the end is missing",
                 agent_text(r).c_str(), c.index));
}

static void run_work(size_t at) {
  Work w = std::move(works[at]);
  place.erase(w.id);
  if (at + 1 < works.size()) {
    works[at] = std::move(works.back());
    place[works[at].id] = at;
  }
  works.pop_back();
  w.cluster->in_flight--;
  w.run();
  world++;
}

static void drop_cluster(Cluster *c) {
  running.erase(std::find(running.begin(), running.end(), c));
  warps.erase(std::remove_if(warps.begin(), warps.end(),
                             [c](const Warp *w) { return w->cta->cluster == c; }),
              warps.end());
  for (Cta &cta : c->ctas)
    for (Thread &t : cta.threads) fiber_release(&t);
  delete c;
}

// Its threads have ended; what is in flight lands now, in memory that nobody waits for.
static void end_cluster(Cluster *c) {
  for (size_t i = works.size(); c->in_flight > 0 && i-- > 0;)
    if (i < works.size() && works[i].cluster == c) {
      run_work(i);
      i = works.size();
    }
  for (const Cta &cta : c->ctas) check_remotes(cta);
  drop_cluster(c);
}

// ---- threads ----

static void finish_thread() {
  Thread &t = *me;
  copy_thread_exit(t);
  t.cta->exit.join(t.warp->C);
  t.wait = Wait::DONE;
  t.warp->ready &= ~(1u << t.lane);
  t.cta->live--;
  cta_thread_exit(*t.cta);
  cluster_thread_exit(t);
  if (t.cta->live == 0) {
    counters_cta_exit(*t.cta);
    wgmma_cta_exit(*t.cta);
  }
  fiber_switch(&t, &scheduler);
}

void block(Wait why, Site site, u32 on, u32 arg) {
  Thread *t = me;
  t->wait = why;
  t->wait_site = site;
  t->wait_on = on;
  t->wait_arg = arg;
  t->warp->ready &= ~(1u << t->lane);
  fiber_switch(t, &scheduler);
}

void wake(Thread &t) {
  t.wait = Wait::NONE;
  t.warp->ready |= 1u << t.lane;
}

void let_lanes_come(Site site) { block(Wait::LANES, site); }

void world_changed() { world++; }

// Whoever waits for several words asks for each in turn: that it comes back to one shows that it
// waits. The one it is held against moves on at the 1st, 2nd, 4th, 8th ... poll, so that every round
// is seen in the end, however long it is and whatever was asked before it.
void poll(Site site, u32 on, u32 arg) {
  Thread *t = me;
  if (t->poll_world != world) t->polls = 0;
  t->poll_world = world;
  if (t->polls > 0 && t->poll_site == site && t->poll_on == on) {
    block(Wait::POLL, site, on, arg);
    if (t->poll_world != world) t->polls = 0;
    t->poll_world = world;
  }
  if ((t->polls & (t->polls - 1)) == 0) {
    t->poll_site = site;
    t->poll_on = on;
  }
  t->polls++;
}

void leave_launch() {
  stopped = true;
  fiber_switch(me, &scheduler);
  __builtin_trap(); // nobody goes back to it
}

// ---- asynchronous work ----

uint64_t async_add(Cluster &c, std::function<void()> run) {
  place[++next_work] = works.size();
  works.push_back({next_work, &c, std::move(run)});
  c.in_flight++;
  return next_work;
}

void async_finish(uint64_t id) {
  const auto it = place.find(id);
  if (it != place.end()) run_work(it->second);
}

static size_t chosen_work(bool newest) {
  if (!newest) return random_number() % works.size();
  size_t best = 0;
  for (size_t i = 1; i < works.size(); i++)
    if (works[i].id > works[best].id) best = i;
  return best;
}

// Work that the schedule wants done although threads could run.
static void early_work() {
  if (now.schedule.async == Async::EAGER)
    while (!works.empty()) run_work(0);
  else if (now.schedule.async == Async::RANDOM && !works.empty() && random_number() % 4 == 0)
    run_work(chosen_work(false));
}

// ---- who is next ----

static bool starved(const Warp &w) {
  const bool first = w.index < 4;
  return now.schedule.order == Order::STARVE_FIRST    ? first
         : now.schedule.order == Order::STARVE_OTHERS ? !first
                                                      : false;
}

static Warp *ready_warp(bool starving) {
  const size_t n = warps.size();
  const bool back = now.schedule.order == Order::REVERSE;
  if (now.schedule.order == Order::RANDOM && n) last_warp = random_number() % n;
  for (size_t i = 1; i <= n; i++) {
    const size_t at = (back ? last_warp + n - i : last_warp + i) % n;
    if (!warps[at]->ready || starved(*warps[at]) != starving) continue;
    last_warp = at;
    return warps[at];
  }
  return nullptr;
}

static Warp *next_warp() {
  if (!warps.empty()) last_warp %= warps.size();
  Warp *w = ready_warp(false);
  return w ? w : ready_warp(true);
}

static void run_thread(Thread &t) {
  me = &t;
  thread_turns = thread_turns + 1;
  loom_engine::current = &t.indices;
  fiber_switch(&scheduler, &t);
  me = nullptr;
}

static void lanes_have_come(Warp &w) {
  for (int l = 0; l < w.size; l++)
    if (w.lanes[l].wait == Wait::LANES) wake(w.lanes[l]);
}

// Until none of its lanes can go on; at random orders sometimes less.
static void run_warp(Warp &w) {
  while (!stopped) {
    if (!w.ready) lanes_have_come(w);
    if (!w.ready) return;
    const int lane = now.schedule.lanes_down ? 31 - __builtin_clz(w.ready) : __builtin_ctz(w.ready);
    run_thread(w.lanes[lane]);
    if (w.ready && now.schedule.order == Order::RANDOM && random_number() % 32 == 0) return;
  }
}

// A kernel may also ask some times for what it has seen already: all get further rounds before the
// world is called dead.
static bool wake_pollers() {
  if (idle_world != world) idle_rounds = 0;
  idle_world = world;
  const bool all = works.empty() && idle_rounds < PATIENCE;
  bool any = false;
  for (Warp *w : warps)
    for (int l = 0; l < w->size; l++)
      if (w->lanes[l].wait == Wait::POLL && (all || w->lanes[l].poll_world != world)) {
        wake(w->lanes[l]);
        any = true;
      }
  if (all) idle_rounds++;
  return any;
}

// ---- a launch ----

static bool polls_anywhere() {
  for (const Warp *w : warps)
    for (int l = 0; l < w->size; l++)
      if (w->lanes[l].wait == Wait::POLL) return true;
  return false;
}

static void deadlock() {
  const Thread *culprit = deadlock_culprit(running);
  const Site site = culprit ? culprit->wait_site : Site{0};
  const std::string dump = deadlock_dump(running);
  if (!waiting.empty() && polls_anywhere())
    find_text(
        Kind::NOT_RESIDENT, site, 0,
        format("waits for a CTA that need not be resident: %zu of the grid's clusters have not "
               "started, and none of those that have can go on",
               waiting.size()),
        dump);
  else
    find_text(Kind::DEADLOCK, site, 0,
              "no thread can go on; " + (culprit ? deadlock_line(*culprit) : "none waits"), dump);
}

static bool room_for_cluster() {
  const size_t threads = static_cast<size_t>(now.cluster) * now.block;
  return now.whole_grid || running.empty() ||
         (running.size() < static_cast<size_t>(now.schedule.resident) &&
          (running.size() + 1) * threads <= MOST_FIBERS);
}

// One step: something runs, completes, starts or ends. False when all is done, or nothing can.
static bool step() {
  while (!waiting.empty() && room_for_cluster()) start_cluster();
  early_work();
  if (Warp *w = next_warp()) {
    run_warp(*w);
    return true;
  }
  for (Cluster *c : running)
    if (c->live == 0) {
      end_cluster(c);
      return true;
    }
  if (running.empty()) return false;
  if (wake_pollers()) return true;
  if (!works.empty()) {
    run_work(chosen_work(now.schedule.async == Async::LAZY_NEWEST));
    return true;
  }
  deadlock();
  return false;
}

static void order_clusters() {
  waiting.clear();
  for (uint32_t i = now.grid / now.cluster; i-- > 0;) waiting.push_back(i);
  if (!now.schedule.shuffled) return;
  for (size_t i = waiting.size(); i > 1; i--)
    std::swap(waiting[i - 1], waiting[random_number() % i]);
}

void launch(const Launch &l) {
  now = l;
  stopped = false;
  world = 1;
  idle_world = 0;
  last_warp = 0;
  rng = l.schedule.seed | 1;
  order_clusters();
  while (step())
    if (stopped || findings().size() > MOST_FINDINGS) break;
  works.clear();
  place.clear();
  while (!running.empty()) drop_cluster(running.back());
}

} // namespace cpu
