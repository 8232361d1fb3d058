// descriptor.cpp -- see descriptor.h.
#include "descriptor.h"

namespace cpu {

u32 swizzled(u32 address, int swizzle) {
  const u32 chunks = static_cast<u32>(swizzle / 16); // of a line
  return chunks ? address ^ (address >> 3 & (chunks - 1) << 4) : address;
}

static u32 field(u64 descriptor, int bit) {
  return static_cast<u32>(descriptor >> bit & 0x3fff) << 4;
}

const char *operand_of(u64 descriptor, bool mn_major, Operand *to) {
  static const int swizzles[] = {0, 128, 64, 32};
  to->start = field(descriptor, 0);
  to->leading = field(descriptor, 16);
  to->stride = field(descriptor, 32);
  to->swizzle = swizzles[descriptor >> 62];
  to->mn_major = mn_major;
  if (descriptor >> 49 & 7)
    return "a base offset: the swizzle is one of the address's bits, and needs none";
  if (descriptor & ~0xc0003fff3fff3fffull)
    return "a bit between its fields is set: an address or an offset is too large for its field";
  return nullptr;
}

static u32 plain_offset(const Operand &o, u32 across, u32 along) {
  const u32 in_matrix = across % 8 * 16; // matrices of 8 x 8 elements, 128 bytes
  return o.mn_major ? in_matrix + across / 8 * o.leading + along * o.stride
                    : in_matrix + across / 8 * o.stride + along * o.leading;
}

static u32 swizzle_offset(const Operand &o, u32 across, u32 along) {
  const u32 line = static_cast<u32>(o.swizzle), in_pattern = across % 8 * line;
  const u32 first = in_pattern + across / 8 * o.stride;
  if (!o.mn_major) return first + along * 16;
  const u32 chunks = line / 16; // then the next block of lines
  return first + along % chunks * 16 + along / chunks * o.leading;
}

u32 chunk_address(const Operand &o, int across, int along) {
  const u32 i = static_cast<u32>(across), j = static_cast<u32>(along);
  return swizzled(o.start + (o.swizzle ? swizzle_offset(o, i, j) : plain_offset(o, i, j)),
                  o.swizzle);
}

} // namespace cpu
