// clock.cpp -- see clock.h.
#include "clock.h"

#include <algorithm>

namespace cpu {

static void join_epochs(Epochs &into, const Epochs &from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (size_t i = 0; i < from.size(); i++)
    if (into[i] < from[i]) into[i] = from[i];
}

void Clock::reset(uint32_t cluster, size_t agents) {
  cluster_ = cluster;
  local_.assign(agents, 0);
  foreign_.reset();
}

static const Epochs *find(const Foreign &in, uint32_t cluster) {
  const auto it = std::lower_bound(in.begin(), in.end(), cluster,
                                   [](const Known &k, uint32_t c) { return k.cluster < c; });
  return it != in.end() && it->cluster == cluster ? it->epochs.get() : nullptr;
}

static Known joined(const Known &a, const Known &b) {
  if (a.epochs == b.epochs) return a;
  auto sum = std::make_shared<Epochs>(*a.epochs);
  join_epochs(*sum, *b.epochs);
  return {a.cluster, sum};
}

static std::shared_ptr<const Foreign> merged(const Foreign &a, const Foreign &b) {
  auto all = std::make_shared<Foreign>();
  all->reserve(a.size() + b.size());
  auto x = a.begin(), y = b.begin();
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && x->cluster < y->cluster))
      all->push_back(*x++);
    else if (x == a.end() || y->cluster < x->cluster)
      all->push_back(*y++);
    else
      all->push_back(joined(*x++, *y++));
  }
  return all;
}

void Clock::learn(const std::shared_ptr<const Foreign> &foreign) {
  if (!foreign || foreign == foreign_) return;
  if (const Epochs *own = find(*foreign, cluster_)) join_epochs(local_, *own);
  foreign_ = foreign_ ? merged(*foreign_, *foreign) : foreign;
}

// A clock of another cluster joins as what is known of that cluster.
void Clock::join(const Clock &other) {
  if (&other == this) return;
  learn(other.foreign_);
  if (other.cluster_ == cluster_)
    join_epochs(local_, other.local_);
  else if (!other.local_.empty())
    learn(std::make_shared<Foreign>(
        Foreign{{other.cluster_, std::make_shared<Epochs>(other.local_)}}));
}

void Clock::meet(const Clock &other) {
  for (size_t i = 0; i < local_.size(); i++)
    if (local_[i] > other.local_[i]) local_[i] = other.local_[i];
  foreign_.reset();
}

bool Clock::knows(const Clock &other) const {
  for (size_t i = 0; i < other.local_.size(); i++)
    if (other.local_[i] > 0 && (i >= local_.size() || local_[i] < other.local_[i])) return false;
  return true;
}

bool Clock::covers(const Stamp &s) const {
  if (s.cluster == cluster_) return s.agent < local_.size() && local_[s.agent] >= s.epoch;
  const Epochs *known = foreign_ ? find(*foreign_, s.cluster) : nullptr;
  return known && s.agent < known->size() && (*known)[s.agent] >= s.epoch;
}

} // namespace cpu
