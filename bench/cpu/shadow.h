// shadow.h -- what is known of every byte: who wrote it last, who has read it since, is it initialised.
//
// A record stands for 16 bytes, aligned, and is split into eight of 2 bytes once an access covers
// only a part of it: whole rows are cheap, single elements exact. Eight equal parts become one record
// again. What follows a write is all kept until the next one (two in the record, more in a list): no
// race is forgotten. Of one agent the last access stands for those before it.
//
// Atomics do not race with each other, so they are kept beside the reads: an ordinary write must
// follow all of them, an ordinary read those that may have changed the value.
#pragma once

#include "clock.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cpu {

enum class Conflict : uint8_t {
  NONE,
  WRITE_AFTER_WRITE,
  WRITE_AFTER_READ,
  READ_AFTER_WRITE,
  UNINITIALISED
};

struct Access {
  bool write; // of an atomic: it may change the value
  bool async; // by the asynchronous proxy: TMA, wgmma
  Stamp by;
  const Clock *ordered; // what must cover earlier writes: C, or P for the asynchronous proxy
  const Clock *reads;   // what must cover earlier reads before a write: always C
  bool atomic = false;  // does not race with other atomics
};

struct Found {
  Conflict kind = Conflict::NONE;
  size_t offset = 0; // of the first byte in question
  Stamp other;       // the earlier access
  bool other_async = false;
  bool other_atomic = false;
};

class Shadow {
public:
  void reset(size_t bytes, bool initialised);
  void forget(); // accesses so far are in order; what is initialised stays so
  // Checks an access and records it; the first conflict, if any.
  Found touch(size_t offset, size_t bytes, const Access &a);
  void set_initialised(size_t offset, size_t bytes, bool yes);
  bool initialised(size_t offset, size_t bytes) const;

private:
  enum : uint8_t { READ, LOAD_ATOMIC, UPDATE_ATOMIC };
  struct Use { // an access since the last write
    Stamp by;
    uint8_t how;
  };
  struct Record {
    Stamp write, use[2];
    uint32_t more = 0;  // index + 1 of a list of further uses
    uint32_t split = 0; // index + 1 of eight records
    uint16_t uses = 0;
    uint8_t how[2] = {0, 0};
    bool write_async = false, init = false;
    bool updated = false; // some use is an UPDATE_ATOMIC
  };
  struct Check; // an access on its way through the records

  std::vector<Record> whole_, parts_;
  std::vector<uint32_t> free_parts_, free_lists_;
  std::vector<std::vector<Use>> lists_;

  void touch_record(Record &r, size_t offset, Check &c);
  void touch_parts(Record &r, size_t from, size_t to, Check &c);
  void check_uses(const Record &r, size_t offset, Check &c);
  static void check_use(const Stamp &by, uint8_t how, size_t offset, Check &c);
  void add_use(Record &r, const Stamp &by, uint8_t how);
  void clear_uses(Record &r);
  Record *split(Record &r);
  void merge(Record &r);
  bool equal_parts(const Record &r) const;
};

} // namespace cpu
