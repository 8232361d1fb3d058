// shadow_test.cpp -- vector clocks, and the record of accesses that is checked against them.
#include "shadow.h"

#include "ok.h"

using namespace cpu;

namespace {

constexpr uint16_t A = 0, B = 1, C = 2; // agents

// A clock of cluster 0 with three agents that knows these epochs.
Clock knowing(uint32_t a, uint32_t b, uint32_t c) {
  Clock k;
  k.reset(0, 3);
  k.know(A, a);
  k.know(B, b);
  k.know(C, c);
  return k;
}

Access access(bool write, uint16_t agent, uint32_t epoch, const Clock &k) {
  return {write, false, {epoch, 0, agent, static_cast<uint16_t>(agent + 1)}, &k, &k};
}

Shadow fresh() {
  Shadow s;
  s.reset(256, true);
  return s;
}

void clocks() {
  Clock k = knowing(3, 0, 0);
  ok(k.covers({3, 0, A, 0}) && !k.covers({4, 0, A, 0}), "a clock covers the epochs it knows");
  k.join(knowing(1, 7, 0));
  ok(k.of(A) == 3 && k.of(B) == 7, "joining keeps the later epoch of each agent");
  Clock other;
  other.reset(5, 3);
  other.know(C, 9);
  k.join(other);
  ok(k.covers({9, 5, C, 0}) && !k.covers({9, 4, C, 0}) && k.of(C) == 0,
     "another cluster's epochs are kept apart");
  Clock third;
  third.reset(7, 3);
  third.join(k);
  ok(third.covers({3, 0, A, 0}) && third.covers({9, 5, C, 0}), "and are passed on");
  Clock nobody, back;
  nobody.reset(UINT32_MAX, 0);
  nobody.join(k);
  back.reset(0, 3);
  back.join(nobody);
  ok(back.of(B) == 7, "a clock of no cluster brings a cluster its own epochs back");
}

void races() {
  const Clock none = knowing(0, 0, 0), knows_a = knowing(1, 0, 0);
  Shadow s = fresh();
  s.touch(0, 16, access(true, A, 1, knows_a));
  Found f = s.touch(0, 16, access(false, B, 1, none));
  ok(f.kind == Conflict::READ_AFTER_WRITE && f.other.agent == A && f.other.site == 1 &&
         f.offset == 0,
     "a read of what another wrote, unordered");
  ok(s.touch(0, 16, access(false, C, 1, knows_a)).kind == Conflict::NONE, "an ordered one");
  ok(s.touch(0, 16, access(true, A, 2, knows_a)).kind == Conflict::WRITE_AFTER_READ,
     "a write over unordered reads");
  ok(s.touch(0, 16, access(true, B, 1, none)).kind == Conflict::WRITE_AFTER_WRITE,
     "a write over a write");
  ok(s.touch(16, 16, access(true, B, 1, none)).kind == Conflict::NONE, "elsewhere");
}

// Ten readers, of which any one may be the forgotten one.
void many_readers() {
  bool found = true;
  for (uint16_t missing = 0; missing < 10; missing++) {
    Clock k;
    k.reset(0, 11);
    for (uint16_t r = 0; r < 10; r++)
      if (r != missing) k.know(r, 1);
    Shadow s = fresh();
    for (uint16_t r = 0; r < 10; r++) s.touch(32, 16, access(false, r, 1, k));
    const Found f = s.touch(32, 16, access(true, 10, 1, k));
    found = found && f.kind == Conflict::WRITE_AFTER_READ && f.other.agent == missing;
  }
  ok(found, "each of ten reads is remembered");
}

void parts() {
  const Clock none = knowing(0, 0, 0);
  Shadow s = fresh();
  s.touch(64, 16, access(true, A, 1, none));
  s.touch(68, 4, access(true, A, 2, knowing(1, 0, 0)));
  const Clock first = knowing(1, 0, 0);
  ok(s.touch(64, 4, access(false, B, 1, first)).kind == Conflict::NONE &&
         s.touch(72, 8, access(false, B, 1, first)).kind == Conflict::NONE,
     "parts that an access left alone keep their record");
  Found f = s.touch(70, 2, access(false, B, 1, first));
  ok(f.kind == Conflict::READ_AFTER_WRITE && f.offset == 70 && f.other.epoch == 2,
     "the part that it wrote has a new one");
  f = s.touch(64, 16, access(false, C, 1, first));
  ok(f.kind == Conflict::READ_AFTER_WRITE && f.offset == 68,
     "an access of all of it sees each part");
  s.touch(64, 16, access(true, A, 3, knowing(2, 1, 1)));
  ok(s.touch(64, 16, access(false, B, 2, knowing(3, 0, 0))).kind == Conflict::NONE,
     "a write of all of it makes it one record");
  ok(s.touch(60, 8, access(true, C, 1, none)).kind == Conflict::WRITE_AFTER_WRITE,
     "an access may span records");
}

void merging() {
  Shadow s = fresh();
  const Clock none = knowing(0, 0, 0), knows = knowing(1, 0, 0);
  for (size_t i = 0; i < 16; i += 4) s.touch(96 + i, 4, access(true, A, 1, none));
  for (size_t i = 12; i + 4 > 0; i -= 4) s.touch(96 + i, 4, access(false, B, 1, knows));
  const Found f = s.touch(96, 16, access(true, C, 1, knows));
  ok(f.kind == Conflict::WRITE_AFTER_READ && f.other.agent == B,
     "four equal parts are one record that lost nothing");
}

void initialisation() {
  const Clock none = knowing(0, 0, 0);
  Shadow s;
  s.reset(64, false);
  ok(s.touch(0, 4, access(false, A, 1, none)).kind == Conflict::UNINITIALISED,
     "memory starts uninitialised");
  s.touch(16, 8, access(true, A, 1, none));
  ok(s.initialised(16, 8) && !s.initialised(16, 16), "a write initialises what it covers");
  const Found f = s.touch(16, 16, access(false, A, 1, none));
  ok(f.kind == Conflict::NONE || f.kind == Conflict::READ_AFTER_WRITE, "unordered comes first");
  s.set_initialised(32, 6, true);
  ok(s.initialised(32, 6) && !s.initialised(32, 8), "so does the host, in parts");
  s.forget();
  ok(s.initialised(32, 6) && s.touch(32, 4, access(true, B, 1, none)).kind == Conflict::NONE,
     "a new launch forgets accesses, not what is initialised");
}

void atomics() {
  const Clock none = knowing(0, 0, 0), knows_a = knowing(1, 0, 0), knows_both = knowing(1, 1, 0);
  Shadow s = fresh();
  const auto atomic = [&](bool write, uint16_t agent) {
    Access a = access(write, agent, 1, none);
    a.atomic = true;
    return s.touch(0, 4, a).kind;
  };
  ok(atomic(true, A) == Conflict::NONE && atomic(true, B) == Conflict::NONE &&
         atomic(false, C) == Conflict::NONE,
     "atomics do not race with each other");
  ok(s.touch(0, 4, access(false, C, 1, knows_a)).kind == Conflict::READ_AFTER_WRITE,
     "an ordinary read has to follow all of them");
  ok(s.touch(0, 4, access(false, C, 1, knows_both)).kind == Conflict::NONE, "and may then");
  ok(atomic(true, A) == Conflict::WRITE_AFTER_READ, "an atomic over an ordinary read");
  s = fresh();
  s.touch(0, 4, access(true, C, 1, none));
  ok(atomic(false, A) == Conflict::READ_AFTER_WRITE, "an atomic load of an ordinary write");
}

} // namespace

int main() {
  clocks();
  races();
  many_readers();
  parts();
  merging();
  initialisation();
  atomics();
  return done();
}
