// memory.h -- shared and global memory: bounds, initialisation, races.
//
// An access has two steps. `..._at` turns an address into bytes; an address that does not fit is a
// finding, and null comes back (the primitive then skips the access). `..._touch` checks the access
// against earlier ones and records it.
#pragma once

#include "engine.h"

namespace cpu {

// ---- shared memory (shared.cpp) ----

struct SharedSpan {
  Cta *cta = nullptr;
  u32 offset = 0;
  unsigned char *bytes = nullptr;
  explicit operator bool() const { return bytes != nullptr; }
};
// `cluster`: an address of any CTA of the cluster may be used, else of this one alone.
SharedSpan shared_at(u32 address, size_t bytes, size_t align, bool cluster, Site site);
// Data accesses; those of another CTA are also kept for the check of its exit.
void shared_touch(Cta &cta, u32 offset, size_t bytes, const Access &a);
// An access to this CTA's memory from another one: looked at when it ends.
void remember_remote(Cta &cta, const Stamp &by);
// Bytes that an asynchronous write will replace: filled with NaNs until it does.
void shared_poison(Cta &cta, u32 offset, size_t bytes);

// An ordinary access of the running warp.
Access ordinary(bool write, Site site);
// An access of the asynchronous proxy, by an agent of `w` (LOAD, STORE) at its present epoch.
Access asynchronous(const Warp &w, Agent kind, bool write, Site site);

// One execution of `site` by the thread that runs: those of a warp's lanes count as one visit.
// Single lanes' accesses (below) count their visits themselves.
void count_visit(Site site);
// Lanes' accesses to shared memory by one instruction: bytes each, at these addresses (0: none).
// Counts wavefronts against the ideal. One lane alone (lanes == 1) is the running thread, whose
// access is gathered with those of the other lanes of its warp; the same for count_global.
void count_shared(Site site, const u32 *addresses, int lanes, int bytes);
// 8 rows of 16 bytes for each matrix of ldmatrix and stmatrix.
void count_matrix(Site site, const u32 *addresses, int matrices);

// ---- global memory (global.cpp) ----

// What a region of global memory is for decides what may be done to it.
enum class Use : uint8_t { INPUT, OUTPUT, WORKSPACE, SCRATCH };

struct Region {
  std::string name; // "A", "C", "ws"
  Use use = Use::SCRATCH;
  u64 address = 0; // of its first byte; global_add chooses it
  std::vector<unsigned char> bytes;
  Shadow shadow;
  bool previous = false; // with pdl it is the previous grid's until grid_dep_wait
  // OUTPUT: rows x columns elements of 2 bytes, ld elements from row to row, each to be written once
  size_t rows = 0, columns = 0, ld = 0;
  std::vector<Site> writer; // of each element
};

// Regions lie far apart; `shift` bytes are added to an address that is a multiple of 1 KiB.
Region &global_add(const std::string &name, Use use, size_t bytes, size_t shift);
void global_clear();        // all regions
void global_launch_begin(); // a launch before this one is over: its accesses are in order
Region *global_find(const std::string &name);

struct GlobalSpan {
  Region *region = nullptr;
  size_t offset = 0;
  unsigned char *bytes = nullptr;
  explicit operator bool() const { return bytes != nullptr; }
};
GlobalSpan global_at(u64 address, size_t bytes, size_t align, Site site);
// Checks (inputs are not written, C once, nothing before grid_dep_wait, races) and records.
void global_touch(Region &r, size_t offset, size_t bytes, const Access &a);
// Lanes' accesses by one instruction: counts 32-byte sectors against the ideal.
void count_global(Site site, const u64 *addresses, int lanes, int bytes);

// ---- tensor maps (tma.cpp) ----

struct TensorShape {
  u64 address;
  u64 size[2]; // elements, innermost first
  u64 stride;  // bytes from one row to the next
  u32 box[2];
  int swizzle; // bytes: 0 32 64 128
};
// Writes what the CPU device keeps in a tensor_map; null, or why cuTensorMapEncodeTiled would refuse.
const char *tensor_map_encode(const TensorShape &shape, void *map);

} // namespace cpu
