// clock.cpp -- see clock.h.
#include "clock.h"

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

// A clock of another cluster joins as what is known of that cluster.
void Clock::join(const Clock &other) {
  if (&other == this) return;
  if (other.cluster_ == cluster_) {
    join_epochs(local_, other.local_);
    if (!other.foreign_ || other.foreign_ == foreign_) return;
    if (!foreign_) {
      foreign_ = other.foreign_;
      return;
    }
  }
  auto merged = foreign_ ? std::make_shared<Foreign>(*foreign_) : std::make_shared<Foreign>();
  if (other.cluster_ != cluster_) join_epochs((*merged)[other.cluster_], other.local_);
  if (other.foreign_)
    for (const auto &[cluster, epochs] : *other.foreign_) {
      if (cluster == cluster_)
        join_epochs(local_, epochs);
      else
        join_epochs((*merged)[cluster], epochs);
    }
  foreign_ = merged;
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
  if (!foreign_) return false;
  const auto it = foreign_->find(s.cluster);
  return it != foreign_->end() && s.agent < it->second.size() && it->second[s.agent] >= s.epoch;
}

} // namespace cpu
