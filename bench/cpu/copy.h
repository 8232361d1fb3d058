// copy.h -- asynchronous copies in flight: cp.async and bulk stores of a thread, and the TMA
// engine's loads.
//
// What a copy may touch is checked when it is issued, by the line that issues it; its bytes move as
// late as the schedule likes. Until then the destination in shared memory holds NaNs. Groups are
// counted by each thread, and a group's number is the epoch of what it does: a wait makes known all
// that was numbered before. Of a store group, the reads are of epoch 2n - 1 and the writes of 2n.
#pragma once

#include "memory.h"

#include <deque>
#include <memory>
#include <vector>

namespace cpu {

// ---- cp.async ----

struct CopyItem {
  unsigned char *to;
  const unsigned char *from; // null: zeros
  int bytes;
};

// Copies that complete together.
struct CopyPiece {
  std::vector<CopyItem> items;
  void finish();
};

struct CopyGroup {
  std::vector<std::shared_ptr<CopyPiece>> pieces;
  uint64_t work = 0; // engine.h's async_add; 0: nothing to do
  uint32_t epoch = 0;
};

// ---- bulk stores ----

// Bytes of a shared memory and where they lie, or belong, in global memory.
struct Move {
  u32 shared; // offset
  u32 bytes;
  unsigned char *global;
};

struct StoreGroup {
  std::vector<Move> moves;
  std::vector<unsigned char> buffer;                  // what was read
  bool read = false, written = false, waited = false; // waited: for its reads
  uint64_t read_work = 0, write_work = 0;
  uint32_t number = 0;
  Site site = 0; // of the last store
  void do_read(const Cta &c);
  void do_write(const Cta &c);
};

struct CopyQueue {
  CopyGroup open; // not committed; its last piece may grow
  std::deque<CopyGroup> groups;
  uint32_t epoch = 1;
  std::shared_ptr<StoreGroup> store_open = std::make_shared<StoreGroup>();
  std::deque<std::shared_ptr<StoreGroup>> stores;
  uint32_t store_number = 1;
};
CopyQueue &my_copies();

// ---- bulk.cpp: loads, which arrive at a barrier ----

struct Landing {
  Cta *cta;
  u32 offset, barrier; // of the data, of the mbarrier, in its shared memory
};

struct Piece { // of a shared memory
  u32 offset, bytes;
};

struct Load {
  std::vector<Landing> to;
  std::vector<Piece> pieces; // of each of them, that the load writes
  u32 bytes = 0;             // of the pieces: what the barrier counts
  Site site = 0;
  bool proxy = true; // through the asynchronous proxy
};

// Adds a destination, `extent` bytes of which the load may write; false after a finding. The barrier
// is one of the same CTA.
bool load_land(Load *l, u32 dst, u32 extent, u32 bar, u32 align);
// Checks the destinations, fills them with NaNs and queues what fills each of them for good.
void load_start(const Load &l, std::function<void(const Landing &)> fill);

// Records what a store of the open group reads.
void store_reads(const std::vector<Piece> &pieces, Site site);
// The access by which it writes global memory.
Access store_writes(Site site);

} // namespace cpu
