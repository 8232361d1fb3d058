// clock.h -- vector clocks: what an agent knows of the others, and so what it may touch.
//
// An agent is whatever accesses memory in an order of its own: a warp's ordinary instructions, and
// each kind of asynchronous work that a warp or a warpgroup starts. Agents of one cluster have small
// numbers and count their own epochs. A clock holds, for every agent, the last epoch known to be
// complete; of other clusters it holds their agents' epochs as received through atomics at gpu scope.
//
//   agent of a CTA = rank * per_cta + { warp*4 + GENERIC|COPY|LOAD|STORE, 4*warps + warpgroup }
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace cpu {

using Epochs = std::vector<uint32_t>;

// One access, or one piece of work: who, when, by which line.
struct Stamp {
  uint32_t epoch = 0; // 0: none
  uint32_t cluster = 0;
  uint16_t agent = 0;
  uint16_t site = 0; // sites.h
};

// Others' epochs, by cluster. Shared until changed, all of it and each cluster's: barriers copy
// clocks all the time, and where ten thousand CTAs count at one address each knows of all before it.
struct Known {
  uint32_t cluster;
  std::shared_ptr<const Epochs> epochs;
};
using Foreign = std::vector<Known>; // in order; the own cluster in it does not count

class Clock {
public:
  void reset(uint32_t cluster, size_t agents);
  void join(const Clock &other);
  void meet(const Clock &other);        // keeps what both know of their cluster
  bool knows(const Clock &other) const; // all that `other` knows of its cluster
  bool covers(const Stamp &s) const;    // is s's work known to be complete?
  void know(uint16_t agent, uint32_t epoch) {
    if (local_[agent] < epoch) local_[agent] = epoch;
  }
  uint32_t of(uint16_t agent) const { return local_[agent]; }
  size_t agents() const { return local_.size(); } // of its own cluster

private:
  uint32_t cluster_ = 0;
  Epochs local_;
  std::shared_ptr<const Foreign> foreign_;

  void learn(const std::shared_ptr<const Foreign> &foreign);
};

// What is complete for ordinary accesses, and for the asynchronous proxy.
struct Clocks {
  Clock C, P;
  void reset(uint32_t cluster, size_t agents) {
    C.reset(cluster, agents);
    P.reset(cluster, agents);
  }
  void join(const Clocks &other) {
    C.join(other.C);
    P.join(other.P);
  }
};

} // namespace cpu
