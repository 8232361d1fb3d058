// descriptor.h -- operands of wgmma in shared memory: what a descriptor says, and where it puts
// every 16-byte chunk.
//
// A chunk is 8 elements that are neighbours along the major index. A K-major tile has a chunk for
// each (mn, k/8), an MN-major one for each (k, mn/8): `across` counts lines, `along` chunks in one.
// Lines lie W = 32, 64 or 128 bytes apart in groups of 8 (16 without a swizzle), and the swizzle
// exchanges chunks of a line by the line's number: it is an exclusive or of bits of the address, so
// that a tile that starts inside a line, or inside the pattern of 8 lines, finds its chunks all the
// same (measured on an H200).
#pragma once

#include "loom_engine.h"

namespace cpu {

struct Operand {
  u32 start = 0, leading = 0, stride = 0; // bytes; start is an address without the CTA's rank
  int swizzle = 0;                        // bytes: 0 32 64 128
  bool mn_major = false;
};

// Null, or what is wrong with the descriptor.
const char *operand_of(u64 descriptor, bool mn_major, Operand *to);
// The address of a chunk, in the address space of `start`.
u32 chunk_address(const Operand &o, int across, int along);
// What a swizzle of so many bytes makes of an address of shared memory.
u32 swizzled(u32 address, int swizzle);

} // namespace cpu
