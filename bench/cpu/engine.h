// engine.h -- the CPU device's state: a grid of clusters of CTAs of warps of threads, and the one
// that runs now. One launch at a time; everything here is single-threaded.
//
// A primitive runs on the fiber of the thread that calls it. What cannot go on yet blocks: the
// thread names what it waits for, and the scheduler runs others until something wakes it. Who runs
// next, when asynchronous work completes and how many clusters are resident is the schedule's.
//
// Order in time is kept by vector clocks (clock.h), one pair per warp:
//   C  what is complete for the warp's ordinary accesses,
//   P  what is complete for the asynchronous proxy: fence_proxy_async makes it C.
// A release (barrier, arrival) publishes C and P, then the warp ticks: its later accesses are of a
// new epoch. An acquire joins what was published.
#pragma once

#include "clock.h"
#include "fiber.h"
#include "loom_engine.h"
#include "report.h"
#include "shadow.h"
#include "sites.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace cpu {

// A shared address: the CTA's rank in its cluster, and SMEM_BASE + the offset in its shared memory.
enum : u32 { SMEM_BASE = 0x400, RANK_SHIFT = 24, OFFSET_MASK = 0xffffff };
enum : int { WARP = 32, WARPGROUP = 128 };

// What accesses memory in an order of its own (clock.h's agents): four for each warp, one for each
// warpgroup, and one for the grid before this one.
enum Agent : int { GENERIC, COPY, LOAD, STORE, AGENTS_PER_WARP };

struct Cta;
struct Cluster;
struct Warp;

// State of modules that is of no concern to others; null until they make it.
struct CopyQueue;  // copy.cpp: cp.async and bulk stores of a thread
struct WgmmaQueue; // wgmma.cpp: wgmma of a warpgroup
struct Buckets;    // counters.cpp: lanes' single accesses, gathered to a warp's

enum class Wait : uint8_t { NONE, CTA_SYNC, NAMED, MBARRIER, MEETING, CLUSTER, POLL, LANES, DONE };

struct Thread : Fiber {
  loom_engine::thread_indices indices; // what threadIdx and its like read
  int t = 0, lane = 0;                 // in the CTA, in the warp
  Cta *cta = nullptr;
  Warp *warp = nullptr;
  Wait wait = Wait::NONE;
  Site wait_site = 0;
  u32 wait_on = 0, wait_arg = 0; // barrier address or id; parity or count
  Site poll_site = 0;            // a poll that another is held against, and where it asked,
  u32 poll_on = 0;               // the world that the last one saw, and how many saw the same
  uint64_t poll_world = 0;
  int polls = 0;
  bool cluster_arrived = false; // where, and since which generation of the cluster's barrier
  Site cluster_site = 0;
  uint64_t cluster_generation = 0;
  std::shared_ptr<CopyQueue> copies;
};

// Lanes of a warp or warpgroup that execute one instruction together.
struct Meeting {
  int arrived = 0;
  Site site = 0;
  void *operands[WARPGROUP] = {}; // each lane's own
};

struct Warp {
  int index = 0; // in the CTA
  Cta *cta = nullptr;
  Thread *lanes = nullptr;                         // of its 32, in the CTA's array
  u32 ready = 0;                                   // lanes that can run
  uint32_t epochs[AGENTS_PER_WARP] = {1, 1, 1, 1}; // present ones of its agents
  Clock C, P;
  Clocks fenced;   // as of the last fence at gpu scope: what a relaxed atomic publishes
  Clocks acquired; // what relaxed atomics brought; with the next fence it is known
  int size = WARP; // lanes it has
  Meeting meeting;
  std::shared_ptr<Buckets> buckets;

  uint16_t first_agent = 0;
  uint32_t cluster = 0; // its index in the grid

  uint16_t agent(Agent kind) const { return static_cast<uint16_t>(first_agent + kind); }
  Stamp stamp(Site site, Agent kind = GENERIC) const { // of an access now
    return {epochs[kind], cluster, agent(kind), site};
  }
  void tick(Agent kind = GENERIC); // its later accesses are of a new epoch
  Clocks known() const { return {C, P}; }
  void learn(const Clocks &k) {
    C.join(k.C);
    P.join(k.P);
  }
};

struct Warpgroup {
  int index = 0; // in the CTA
  Cta *cta = nullptr;
  Meeting meeting;
  uint32_t epoch = 0; // of its wgmma agent
  std::shared_ptr<WgmmaQueue> wgmma;

  uint16_t agent() const;
  Warp &warp(int i) const; // 0..3
};

struct Mbarrier {
  u32 expected = 0, pending = 0; // arrivals
  int64_t tx = 0;                // bytes announced and not yet here
  uint64_t phase = 0;            // phases completed; the running one has parity phase & 1
  bool fenced = false;           // fence_mbar_init since mbar_init
  Stamp init;
  Clock C[2], P[2];      // published: [0] in the running phase, [1] in the completed ones
  Site last_arrival = 0; // for a deadlock's dump
  std::string last_arriver;
};

struct NamedBarrier {
  int arrived = 0, expected = 0;
  Site site = 0;
  std::vector<u32> lanes; // of each warp, those that have come; of a named one
  Clock C, P;
  Clock last; // C of the round before: who comes must know that it is over
  Site last_site = 0;
};

struct Cta {
  Cluster *cluster = nullptr;
  int rank = 0;                     // in the cluster
  unsigned index = 0;               // in the grid
  std::vector<unsigned char> smem;  // without the SMEM_BASE bytes below it
  Shadow shadow;                    // of smem
  std::map<u32, Mbarrier> barriers; // by offset
  NamedBarrier named[16];
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Warpgroup> groups;
  std::vector<Stamp> remotes; // other CTAs' accesses to smem
  Clock exit;                 // what its threads knew when they ended
  int live = 0;
};

struct Cluster {
  uint32_t index = 0; // in the grid
  std::vector<Cta> ctas;
  int agents = 0; // the last one is the previous grid
  int arrived = 0, live = 0;
  uint64_t generation = 0; // of its barrier
  Clock C[2], P[2];        // of the barrier: [0] arriving, [1] released
  int in_flight = 0;       // asynchronous work
};

// ---- schedules and launches ----

enum class Order : uint8_t { FORWARD, REVERSE, RANDOM, STARVE_FIRST, STARVE_OTHERS };
enum class Async : uint8_t { EAGER, LAZY_RANDOM, LAZY_NEWEST, RANDOM };

struct Schedule {
  int number = 0;
  Order order = Order::FORWARD;
  Async async = Async::LAZY_RANDOM;
  int resident = 1; // clusters at once
  bool shuffled = false, lanes_down = false;
  int sms = 2; // of the device: how many CTAs a persistent grid has
  uint64_t seed = 1;
};
Schedule schedule_of(int number, uint64_t seed);
std::string schedule_text(const Schedule &s);

// At once: each has a stack, and a process of Linux no more than 65530 mappings of memory.
constexpr unsigned MOST_FIBERS = 30000;

struct Launch {
  void (*entry)(void **args) = nullptr;
  void **args = nullptr;
  unsigned grid = 1, block = 32, cluster = 1;
  size_t smem = 0;
  bool whole_grid = false; // a cooperative launch: every CTA is resident
  bool pdl = false;        // the previous grid may still run
  Schedule schedule;
};
// Runs the kernel to its end, or to the first thing that cannot go on: findings (report.h).
void launch(const Launch &l);

// ---- for primitives ----

extern Thread *me;                     // the thread that runs
extern volatile uint64_t thread_turns; // how many times one has begun to: what a watchdog looks at
const Launch &launched();
std::string who(const Thread &t);                       // "thread 37 (warp 1 lane 5) of CTA 2"
std::string who(const Warp &w, u32 lanes = 0xffffffff); // "warp 1 of CTA 2"
std::string agent_text(const Stamp &by); // "warp 1 of CTA 2", "the TMA loads of warp 0 ..."

// The thread that runs waits until somebody wakes it.
void block(Wait why, Site site, u32 on = 0, u32 arg = 0);
void wake(Thread &t);
// Lets the other lanes of the warp come as far as they can: lanes share their clocks, and what one
// learns after this is not to be taken for what another knew before.
void let_lanes_come(Site site);
// A thread that polls `on`: blocks when it has asked for it here before, with nothing changed since.
void poll(Site site, u32 on, u32 arg);
void world_changed(); // something that a poll may look at

// All 32 (128) lanes come together at one instruction. Returns the meeting in the lane that comes
// last, which executes for all, and then calls meeting_over; nullptr in the others, afterwards.
// Lane l's operands are m->operands[l]. Lanes at different instructions: a finding, and the end.
Meeting *meet_warp(Site site, void *operands);
Meeting *meet_warpgroup(Site site, void *operands);
void meeting_over(Meeting *m);
Warpgroup &my_warpgroup();
// Does this clock know of anything that `cta` did? Before that it may not have started.
bool knows_started(const Clock &c, const Cta &cta);

// Asynchronous work of a cluster: `run` is called once, when the schedule or async_finish wants it.
uint64_t async_add(Cluster &c, std::function<void()> run);
void async_finish(uint64_t id); // now, unless it is done

uint32_t random_number(); // the schedule's

// mbarrier.cpp. `at`: the barrier at a shared address, for asynchronous work or a remote arrival;
// null after a finding.
Mbarrier *mbarrier_at(u32 address, bool async, Site site, Cta **owner = nullptr);
// Bytes arrive at a barrier; C and P are what their arrival publishes.
void mbarrier_complete_tx(Cta &cta, u32 offset, int64_t bytes, const Clock &C, const Clock &P,
                          Site site);
// An arrival of asynchronous work (cp.async.mbarrier.arrive.noinc).
void mbarrier_arrive_async(Cta &cta, u32 offset, const Clock &C, const Clock &P, Site site);

// Gives the launch up: the thread that runs never goes on.
[[noreturn]] void leave_launch();

// deadlock.cpp: who waits for what; the thread to look at first (null where none waits), and its wait.
std::string deadlock_dump(const std::vector<Cluster *> &running);
const Thread *deadlock_culprit(const std::vector<Cluster *> &running);
std::string deadlock_line(const Thread &t);

// Called by the scheduler when a thread has ended: barriers wait for it no more.
void cta_thread_exit(Cta &c);
void cluster_thread_exit(Thread &t);

// Called by the scheduler: what is wrong with what a thread, a CTA leaves behind.
void copy_thread_exit(Thread &t);
void wgmma_cta_exit(Cta &c);
void counters_cta_exit(Cta &c);

} // namespace cpu
