// wgmma_queue.h -- what a warpgroup has asked of the tensor cores and not yet waited for.
//
// The registers of an operation in flight belong to it. Here the values of the accumulators move
// into the queue when it is issued, and their registers are filled with a NaN until the wait that
// covers the last operation on them: a kernel that reads them early computes nonsense, one that
// writes them is found. Registers are arrays of the kernel's threads, and their addresses name them.
#pragma once

#include "descriptor.h"
#include "engine.h"
#include "numbers.h"

#include <deque>
#include <memory>
#include <vector>

namespace cpu {

enum : int { WGMMA_M = 64, WGMMA_K = 16, WGMMA_N = 256 }; // N: at most

// The accumulators of 64 x n: an array of each thread.
struct Tile {
  void *d[WARPGROUP] = {};
  int n = 0;
  bool f16_acc = false;
  std::vector<float> value; // [64][n]: in flight, what is computed; else what is known of registers
  int in_flight = 0;        // operations no wait has covered
  Site last = 0;            // the newest operation
  uint32_t fences = 0;      // of its warpgroup before that
};

// The first operand where registers hold it: four of each thread.
struct Fragment {
  const u32 *at[WARPGROUP] = {};
  u32 bits[WARPGROUP][4];
};

// A thread's frames: registers that no operation has named so far are somewhere among them.
struct Frames {
  const unsigned char *begin = nullptr;
  std::vector<unsigned char> bytes;
};

struct Operation {
  Operand a, b;
  int n;
  Number type;
  bool accumulate, usable; // usable: its operands could be found
  Site site;
  uint32_t epoch;
  std::shared_ptr<Tile> tile;
  std::shared_ptr<const Fragment> fragment; // of this operation; null: a is in shared memory
};

struct WgmmaGroup {
  std::vector<Operation> operations;
  bool done = false;
  uint64_t work = 0; // engine.h's async_add
};

struct WgmmaQueue {
  std::vector<Operation> open;                    // not committed
  std::deque<std::shared_ptr<WgmmaGroup>> groups; // committed, not waited for
  std::vector<std::shared_ptr<Tile>> tiles;       // all that have been met
  std::vector<Fragment> fragments;                // as at the last fence, or when last used
  uint32_t fences = 0;                            // so far
  std::vector<Frames> frames; // of each thread, at the first fence, until the second
};

// ---- operation.cpp ----

// Checks and records the reads of an operand with `mn` rows or columns; false where it is not in
// shared memory.
bool operand_touch(Cta &c, const Operand &o, int mn, const Access &a);
// Reads the operands and computes.
void operation_carry_out(const Cta &c, const Operation &o);

// ---- registers.cpp ----

// Registers to value; false where they did not hold what value says already.
bool tile_take(Tile &t);
void tile_poison(Tile &t);
bool tile_poisoned(const Tile &t);
void tile_give(const Tile &t); // value to registers
// Reads a fragment from its registers; false where that changed it.
bool fragment_take(Fragment &f);
void frames_take(Frames &f, const void *begin, const void *end);
// Do these bytes hold what they held then? True for those that are not among the frames.
bool frames_hold(const Frames &f, const void *at, size_t bytes);

} // namespace cpu
