// cluster.cpp -- the barrier of a cluster: arrive, then wait for all of its threads.
#include "engine.h"

namespace cpu {

static void release(Cluster &c) {
  c.generation++;
  c.arrived = 0;
  for (Clock *pair : {c.C, c.P}) {
    pair[1] = pair[0];
    pair[0].reset(c.index, static_cast<size_t>(c.agents));
  }
  for (Cta &cta : c.ctas)
    for (Thread &t : cta.threads)
      if (t.wait == Wait::CLUSTER) wake(t);
}

// It is one instruction for a whole warp.
static void check_aligned(const Thread &t, const Cluster &c, Site site) {
  for (int l = 0; l < t.warp->size; l++) {
    const Thread &other = t.warp->lanes[l];
    if (other.cluster_arrived && other.cluster_generation == c.generation &&
        other.cluster_site != site)
      find_and_stop(Kind::DIVERGED, site, other.cluster_site,
                    "a barrier in a branch that only a part of the warp takes");
  }
}

// A thread that has ended counts as one that has come.
void cluster_thread_exit(Thread &t) {
  Cluster &c = *t.cta->cluster;
  if (t.cluster_arrived && t.cluster_generation == c.generation) {
    find(Kind::BARRIER, t.cluster_site, 0, "a thread ends between cluster_arrive and cluster_wait");
    c.arrived--;
  }
  c.live--;
  if (c.live > 0 && c.arrived == c.live) release(c);
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

void cluster_arrive(site at) {
  const Site s = site_of("cluster_arrive", at);
  Thread &t = *me;
  Cluster &c = *t.cta->cluster;
  if (t.cluster_arrived)
    find_and_stop(Kind::BARRIER, s, 0, "cluster_arrive twice without a cluster_wait between");
  check_aligned(t, c, s);
  t.cluster_arrived = true;
  t.cluster_generation = c.generation;
  t.cluster_site = s;
  c.C[0].join(t.warp->C);
  c.P[0].join(t.warp->P);
  t.warp->tick();
  site_info(s).count.waits++;
  if (++c.arrived == c.live) release(c);
}

void cluster_wait(site at) {
  const Site s = site_of("cluster_wait", at);
  Thread &t = *me;
  Cluster &c = *t.cta->cluster;
  if (!t.cluster_arrived)
    find_and_stop(Kind::BARRIER, s, 0, "cluster_wait without a cluster_arrive before it");
  while (c.generation == t.cluster_generation) block(Wait::CLUSTER, s);
  t.cluster_arrived = false;
  t.warp->C.join(c.C[1]);
  t.warp->P.join(c.P[1]);
}

} // namespace loom_engine
