// shadow.cpp -- see shadow.h. The hot path of the whole device: an access of 16 aligned bytes by an
// agent that has been here before touches one record and makes no call.
#include "shadow.h"

#include <algorithm>

namespace cpu {

enum : size_t { WHOLE = 16, PART = 2, PARTS = WHOLE / PART };

struct Shadow::Check {
  const Access &a;
  uint8_t how;
  Found found;
  Stamp ordered, reads; // the last stamps seen covered: neighbours mostly have the same

  static bool same(const Stamp &x, const Stamp &y) {
    return x.epoch == y.epoch && x.agent == y.agent && x.cluster == y.cluster;
  }
  bool is_ordered(const Stamp &s) {
    if (same(s, ordered)) return true;
    if (!a.ordered->covers(s)) return false;
    ordered = s;
    return true;
  }
  bool is_read(const Stamp &s) {
    if (same(s, reads)) return true;
    if (!a.reads->covers(s)) return false;
    reads = s;
    return true;
  }
  void conflict(Conflict kind, size_t offset, const Stamp &other, bool async, bool atomic) {
    if (found.kind != Conflict::NONE) return;
    found.kind = kind;
    found.offset = offset;
    found.other = other;
    found.other_async = async;
    found.other_atomic = atomic;
  }
};

void Shadow::reset(size_t bytes, bool initialised) {
  Record fresh;
  fresh.init = initialised;
  whole_.assign((bytes + WHOLE - 1) / WHOLE, fresh);
  parts_.clear();
  free_parts_.clear();
  lists_.clear();
  free_lists_.clear();
}

void Shadow::forget() {
  for (auto *records : {&whole_, &parts_})
    for (Record &r : *records) {
      r.write = Stamp();
      clear_uses(r);
    }
}

// ---- uses: the accesses since the last write -----------------------------------------------------

void Shadow::clear_uses(Record &r) {
  if (r.more) {
    lists_[r.more - 1].clear();
    free_lists_.push_back(r.more);
    r.more = 0;
  }
  r.uses = 0;
  r.updated = false;
}

void Shadow::add_use(Record &r, const Stamp &by, uint8_t how) {
  const auto again = [&](const Stamp &s, uint8_t h) {
    return s.agent == by.agent && s.cluster == by.cluster && h == how;
  };
  if (r.uses && again(r.use[0], r.how[0])) { // most often
    r.use[0] = by;
    return;
  }
  for (int i = 0; i < std::min<int>(r.uses, 2); i++)
    if (again(r.use[i], r.how[i])) {
      r.use[i] = by;
      return;
    }
  if (r.uses < 2) {
    r.how[r.uses] = how;
    r.use[r.uses++] = by;
    return;
  }
  if (!r.more && !free_lists_.empty()) {
    r.more = free_lists_.back();
    free_lists_.pop_back();
  } else if (!r.more) {
    lists_.emplace_back();
    r.more = static_cast<uint32_t>(lists_.size());
  }
  for (Use &u : lists_[r.more - 1])
    if (again(u.by, u.how)) {
      u.by = by;
      return;
    }
  lists_[r.more - 1].push_back({by, how});
  r.uses++;
}

void Shadow::check_use(const Stamp &by, uint8_t how, size_t offset, Check &c) {
  if (c.a.atomic && how != READ) return;
  if (how == UPDATE_ATOMIC) {
    if (!c.is_ordered(by))
      c.conflict(c.a.write ? Conflict::WRITE_AFTER_WRITE : Conflict::READ_AFTER_WRITE, offset, by,
                 false, true);
  } else if (c.a.write && !c.is_read(by)) {
    c.conflict(Conflict::WRITE_AFTER_READ, offset, by, false, how != READ);
  }
}

void Shadow::check_uses(const Record &r, size_t offset, Check &c) {
  for (int i = 0; i < std::min<int>(r.uses, 2); i++) check_use(r.use[i], r.how[i], offset, c);
  if (r.more)
    for (const Use &u : lists_[r.more - 1]) check_use(u.by, u.how, offset, c);
}

// ---- one record ----------------------------------------------------------------------------------

void Shadow::touch_record(Record &r, size_t offset, Check &c) {
  const Access &a = c.a;
  if (r.write.epoch && !c.is_ordered(r.write))
    c.conflict(a.write ? Conflict::WRITE_AFTER_WRITE : Conflict::READ_AFTER_WRITE, offset, r.write,
               r.write_async, false);
  if (r.uses && (a.write || r.updated)) check_uses(r, offset, c);
  if (!r.init && (!a.write || a.atomic))
    c.conflict(Conflict::UNINITIALISED, offset, Stamp(), false, false);
  r.init = true; // an uninitialised read is told once
  if (a.write && !a.atomic) {
    r.write = a.by;
    r.write_async = a.async;
    if (r.uses) clear_uses(r);
  } else {
    add_use(r, a.by, c.how);
    r.updated = r.updated || c.how == UPDATE_ATOMIC;
  }
}

// ---- parts ---------------------------------------------------------------------------------------

Shadow::Record *Shadow::split(Record &r) {
  if (!r.split) {
    uint32_t at;
    if (!free_parts_.empty()) {
      at = free_parts_.back();
      free_parts_.pop_back();
    } else {
      at = static_cast<uint32_t>(parts_.size() / PARTS) + 1;
      parts_.resize(parts_.size() + PARTS);
    }
    Record *parts = &parts_[(at - 1) * PARTS];
    for (size_t i = 0; i < PARTS; i++) {
      parts[i] = r;
      parts[i].more = 0;
      parts[i].uses = std::min<uint16_t>(r.uses, 2);
      if (!r.more) continue;
      const std::vector<Use> uses = lists_[r.more - 1]; // a copy: add_use may move the lists
      for (const Use &u : uses) add_use(parts[i], u.by, u.how);
    }
    clear_uses(r);
    r.split = at;
  }
  return &parts_[(r.split - 1) * PARTS];
}

bool Shadow::equal_parts(const Record &r) const {
  const Record *p = &parts_[(r.split - 1) * PARTS];
  if (p->more) return false;
  const auto same = [](const Stamp &x, const Stamp &y) {
    return Check::same(x, y) && x.site == y.site;
  };
  for (size_t i = 1; i < PARTS; i++) {
    const Record &q = p[i];
    if (!same(q.write, p->write) || q.uses != p->uses || q.init != p->init ||
        q.write_async != p->write_async || q.updated != p->updated)
      return false;
    for (int u = 0; u < q.uses; u++)
      if (!same(q.use[u], p->use[u]) || q.how[u] != p->how[u]) return false;
  }
  return true;
}

// The first part stands for all eight, which have no lists.
void Shadow::merge(Record &r) {
  const uint32_t at = r.split;
  r = parts_[(at - 1) * PARTS];
  r.split = 0;
  free_parts_.push_back(at);
}

// from..to lies within one record's 16 bytes.
void Shadow::touch_parts(Record &r, size_t from, size_t to, Check &c) {
  Record *parts = split(r);
  for (size_t at = from; at < to; at += PART) touch_record(parts[at % WHOLE / PART], at, c);
  // Lanes write the parts of a row one after the other, up or down: look at its ends only.
  if ((from % WHOLE == 0 || to % WHOLE == 0) && equal_parts(r)) merge(r);
}

// ---- ranges --------------------------------------------------------------------------------------

Found Shadow::touch(size_t offset, size_t bytes, const Access &a) {
  Check c{a, !a.atomic ? READ : a.write ? UPDATE_ATOMIC : LOAD_ATOMIC, {}, {}, {}};
  const size_t end = offset + bytes;
  for (size_t at = offset & ~(WHOLE - 1); at < end; at += WHOLE) {
    Record &r = whole_[at / WHOLE];
    const size_t from = std::max(at, offset), to = std::min(at + WHOLE, end);
    if (to - from == WHOLE && !r.split)
      touch_record(r, at, c);
    else
      touch_parts(r, from, to, c);
  }
  return c.found;
}

void Shadow::set_initialised(size_t offset, size_t bytes, bool yes) {
  const size_t end = offset + bytes;
  for (size_t at = offset & ~(WHOLE - 1); at < end; at += WHOLE) {
    Record &r = whole_[at / WHOLE];
    const size_t from = std::max(at, offset), to = std::min(at + WHOLE, end);
    if (!r.split && (r.init == yes || to - from == WHOLE)) {
      r.init = yes;
      continue;
    }
    Record *parts = split(r);
    for (size_t i = from; i < to; i += PART) parts[i % WHOLE / PART].init = yes;
    if (equal_parts(r)) merge(r);
  }
}

bool Shadow::initialised(size_t offset, size_t bytes) const {
  for (size_t at = offset & ~(PART - 1); at < offset + bytes; at += PART) {
    const Record &r = whole_[at / WHOLE];
    const Record &part = r.split ? parts_[(r.split - 1) * PARTS + at % WHOLE / PART] : r;
    if (!part.init) return false;
  }
  return true;
}

} // namespace cpu
