// tma.cpp -- boxes of a tensor map between global and shared memory.
//
// A box lies in shared memory row after row, with the swizzle on the address's bits. What is outside
// of the tensor arrives as zeros, counts as bytes all the same, and is never written. That x has to
// be a multiple of 16 bytes, and that a narrow row takes a whole line, was measured on an H200.
#include "copy.h"
#include "descriptor.h"

#include <algorithm>
#include <cstring>

struct tensor_map; // only its address is used here

namespace cpu {

namespace {

constexpr u64 MAGIC = 0x70616d5f6d6f6f6c; // in the 128 bytes of a tensor_map

struct Encoded {
  u64 magic;
  TensorShape shape;
};
static_assert(sizeof(Encoded) <= 128, "a tensor_map has 128 bytes");

struct Box { // of a map, at a place of its tensor
  TensorShape shape;
  int x, y;
  u32 row_bytes() const { return 2 * shape.box[0]; }
  u32 bytes() const { return row_bytes() * shape.box[1]; }
  // With a swizzle a row takes its whole line, however narrow it is.
  u32 pitch() const { return shape.swizzle ? static_cast<u32>(shape.swizzle) : row_bytes(); }
  u32 extent() const { return pitch() * shape.box[1]; }
  // The pattern of a swizzle of 128 bytes repeats every 1024.
  u32 align() const { return shape.swizzle == 128 ? 1024 : 128; }
};

} // namespace

// ---- tensor maps ----

static const char *refusal(const TensorShape &s) {
  const u64 row = 2 * s.size[0];
  const u32 inner = 2 * s.box[0];
  if (s.address == 0 || s.address % 16 != 0) return "the global address is not a multiple of 16";
  for (int i = 0; i < 2; i++) {
    if (s.size[i] < 1 || s.size[i] > 1ull << 32) return "a size is not within 1 to 2^32";
    if (s.box[i] < 1 || s.box[i] > 256) return "a side of the box is not within 1 to 256";
  }
  if (s.stride % 16 != 0) return "the stride is not a multiple of 16 bytes";
  if (s.stride >= 1ull << 40) return "the stride is not below 2^40 bytes";
  if (s.stride < row) return "the stride is less than a row";
  if (s.swizzle != 0 && s.swizzle != 32 && s.swizzle != 64 && s.swizzle != 128)
    return "no such swizzle";
  if (inner % 16 != 0) return "the box's inner side is not a multiple of 16 bytes";
  if (s.swizzle != 0 && inner > static_cast<u32>(s.swizzle))
    return "the box's inner side is wider than the swizzle";
  return nullptr;
}

const char *tensor_map_encode(const TensorShape &shape, void *map) {
  if (reinterpret_cast<uintptr_t>(map) % 128 != 0) return "the map is not aligned to 128 bytes";
  if (const char *why = refusal(shape)) return why;
  const Encoded e = {MAGIC, shape};
  memset(map, 0, 128);
  memcpy(map, &e, sizeof e);
  return nullptr;
}

static bool decode(const tensor_map *map, TensorShape *shape, Site site) {
  Encoded e;
  memcpy(&e, static_cast<const void *>(map), sizeof e);
  if (e.magic != MAGIC)
    find(Kind::DESCRIPTOR, site, 0, "this is not a tensor map: nothing encoded it");
  *shape = e.shape;
  return e.magic == MAGIC;
}

// ---- boxes ----

// The 16-byte chunk at `at` of a row that begins at `row`, an offset in shared memory.
static u32 chunk_place(const Box &box, u32 row, u32 at) {
  return swizzled(SMEM_BASE + row + at, box.shape.swizzle) - SMEM_BASE;
}

// What the box takes of a shared memory, from `offset` on.
static std::vector<Piece> pieces_of(const Box &box, u32 offset) {
  if (box.pitch() == box.row_bytes()) return {{offset, box.bytes()}};
  std::vector<Piece> pieces;
  for (u32 j = 0; j < box.shape.box[1]; j++)
    for (u32 at = 0; at < box.row_bytes(); at += 16)
      pieces.push_back({chunk_place(box, offset + j * box.pitch(), at), 16});
  return pieces;
}

// Bytes from..from + bytes of a row that begins at `row`.
static void add_row(std::vector<Move> *moves, const Box &box, u32 row, u32 from, u32 bytes,
                    unsigned char *global) {
  if (box.shape.swizzle == 0) {
    moves->push_back({row + from, bytes, global});
    return;
  }
  for (u32 at = from; at < from + bytes; at += 16) { // from is a multiple of 16
    moves->push_back({chunk_place(box, row, at), std::min(16u, from + bytes - at), global});
    global += 16;
  }
}

// Where what is moved of a row ends. Loads are cut at the tensor's edge; a store writes the whole
// 16 bytes in which the edge lies (H200), and so what is behind a width that is no multiple of 8.
static int64_t row_end(const Box &box, bool store) {
  const int64_t columns = static_cast<int64_t>(box.shape.size[0]);
  const int64_t edge = store ? (columns + 7) / 8 * 8 : columns;
  return std::min(static_cast<int64_t>(box.x) + box.shape.box[0], edge);
}

namespace {

struct Row {               // of a box: what lies in the tensor, and in a region of global memory
  u32 number, from, bytes; // in the box; in its row
  GlobalSpan global;
};

} // namespace

static std::vector<Row> rows_of(const Box &box, bool store, Site site) {
  std::vector<Row> rows;
  const TensorShape &s = box.shape;
  const int64_t first = std::max<int64_t>(box.x, 0), end = row_end(box, store);
  for (u32 j = 0; j < s.box[1] && first < end; j++) {
    const int64_t y = static_cast<int64_t>(box.y) + j;
    if (y < 0 || y >= static_cast<int64_t>(s.size[1])) continue;
    const u32 bytes = static_cast<u32>(2 * (end - first));
    const u64 at = s.address + static_cast<u64>(y) * s.stride + 2 * static_cast<u64>(first);
    const GlobalSpan row = global_at(at, bytes, 2, site);
    if (row) rows.push_back({j, static_cast<u32>(2 * (first - box.x)), bytes, row});
  }
  return rows;
}

// The part of the box that lies in the tensor, checked as access `a` of global memory. The box is
// at `offset` of a shared memory.
static std::vector<Move> moves_of(const Box &box, u32 offset, const Access &a) {
  std::vector<Move> moves;
  for (const Row &r : rows_of(box, a.write, a.by.site)) {
    global_touch(*r.global.region, r.global.offset, r.bytes, a);
    add_row(&moves, box, offset + r.number * box.pitch(), r.from, r.bytes, r.global.bytes);
  }
  return moves;
}

// What an H200 answers with "illegal instruction": a box that does not begin at a multiple of 16 bytes,
// and a store to a negative place. Loads may begin left of the tensor or above it.
static bool check_place(const Box &box, bool store, Site site) {
  if (box.x % 8 != 0)
    find(
        Kind::MISALIGNED, site, 0,
        "a box at x = %d: a multiple of 8 elements, 16 bytes, is needed (an illegal instruction on "
        "the GPU)",
        box.x);
  const bool outside = store && (box.x < 0 || box.y < 0);
  if (outside)
    find(Kind::OUT_OF_BOUNDS, site, 0,
         "a store to the box at x = %d, y = %d: neither may be negative (an illegal instruction on "
         "the GPU)",
         box.x, box.y);
  return box.x % 8 == 0 && !outside;
}

static bool land(Load *l, const Box &box, u32 dst, u32 bar, u16 mask) {
  const u32 ranks = static_cast<u32>(me->cta->cluster->ctas.size());
  if (mask >> ranks) {
    find(Kind::OUT_OF_BOUNDS, l->site, 0, "mask 0x%x names CTAs that a cluster of %u does not have",
         mask, ranks);
    return false;
  }
  if (!mask) return load_land(l, dst, box.extent(), bar, box.align());
  bool ok = true;
  for (u32 r = 0; r < ranks; r++) { // the same offsets everywhere
    const u32 rank = r << RANK_SHIFT;
    if (mask >> r & 1)
      ok = load_land(l, rank | (dst & OFFSET_MASK), box.extent(), rank | (bar & OFFSET_MASK),
                     box.align()) &&
           ok;
  }
  return ok;
}

static void load(const Box &box, u32 dst, u32 bar, u16 mask, Site site) {
  Load l;
  l.bytes = box.bytes();
  l.site = site;
  if (!check_place(box, false, site) || !land(&l, box, dst, bar, mask)) return;
  l.pieces = pieces_of(box, l.to[0].offset);
  const Access a = asynchronous(*me->warp, LOAD, false, site);
  load_start(l, [moves = moves_of(box, l.to[0].offset, a), pieces = l.pieces](const Landing &at) {
    unsigned char *smem = at.cta->smem.data();
    for (const Piece &p : pieces) memset(smem + p.offset, 0, p.bytes);
    for (const Move &m : moves) memcpy(smem + m.shared, m.global, m.bytes);
  });
}

// What a store needs of its box: what goes nowhere may hold anything.
static std::vector<Piece> pieces_stored(const Box &box, u32 offset,
                                        const std::vector<Move> &moves) {
  std::vector<Piece> pieces;
  u32 bytes = 0;
  for (const Move &m : moves) {
    pieces.push_back({m.shared, m.bytes});
    bytes += m.bytes;
  }
  return bytes == box.bytes() ? pieces_of(box, offset) : pieces;
}

static void store(const Box &box, u32 src, Site site) {
  const SharedSpan from = shared_at(src, box.extent(), box.align(), false, site);
  if (!check_place(box, true, site) || !from) return;
  const std::vector<Move> moves = moves_of(box, from.offset, store_writes(site));
  store_reads(pieces_stored(box, from.offset, moves), site);
  StoreGroup &g = *my_copies().store_open;
  g.moves.insert(g.moves.end(), moves.begin(), moves.end());
  g.site = site;
}

static Site one_thread(const char *op, loom_engine::site at) {
  const Site s = site_of(op, at);
  site_info(s).count.visits++;
  return s;
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

void prefetch_tensor_map(const ::tensor_map *map, site at) {
  TensorShape shape;
  decode(map, &shape, one_thread("prefetch_tensor_map", at));
}

static void load_box(u32 dst, const ::tensor_map *map, int x, int y, u32 bar, u16 mask, Site s) {
  Box box = {{}, x, y};
  if (!decode(map, &box.shape, s)) return;
  site_info(s).count.bytes += box.bytes();
  load(box, dst, bar, mask, s);
}

static void store_box(const ::tensor_map *map, u32 src, int x, int y, Site s) {
  Box box = {{}, x, y};
  if (!decode(map, &box.shape, s)) return;
  site_info(s).count.bytes += box.bytes();
  store(box, src, s);
}

void tma_load_2d(u32 dst, const ::tensor_map *map, int x, int y, u32 bar, u16 mask, site at) {
  load_box(dst, map, x, y, bar, mask,
           one_thread(mask ? "tma_load_2d_multicast" : "tma_load_2d", at));
}

void tma_store_2d(const ::tensor_map *map, u32 src, int x, int y, site at) {
  store_box(map, src, x, y, one_thread("tma_store_2d", at));
}

// ---- with L2 in mind: nothing here has an effect on what a kernel computes ----

u64 l2_policy(eviction order) {
  return order == eviction::first ? 0x12f0000000000000
         : order == eviction::last
             ? 0x14f0000000000000
             : 0x16f0000000000000; // what nvcc makes of createpolicy for sm_90a
}

static bool check_policy(u64 policy, Site s) {
  for (eviction order : {eviction::first, eviction::last, eviction::normal})
    if (policy == l2_policy(order)) return true;
  find(Kind::DESCRIPTOR, s, 0, "0x%llx is no L2 policy: l2_evict_first, _last or _normal makes one",
       policy);
  return false;
}

void tma_load_2d_hint(u32 dst, const ::tensor_map *map, int x, int y, u32 bar, u16 mask, u64 policy,
                      site at) {
  const Site s = one_thread(mask ? "tma_load_2d_multicast_hint" : "tma_load_2d_hint", at);
  if (check_policy(policy, s)) load_box(dst, map, x, y, bar, mask, s);
}

void tma_store_2d_hint(const ::tensor_map *map, u32 src, int x, int y, u64 policy, site at) {
  const Site s = one_thread("tma_store_2d_hint", at);
  if (check_policy(policy, s)) store_box(map, src, x, y, s);
}

// The place of the box as for a load. No read in the sense of races or of grid_dep_wait: it ends in L2,
// which every later write goes through.
void tma_prefetch_2d(const ::tensor_map *map, int x, int y, site at) {
  const Site s = one_thread("tma_prefetch_2d", at);
  Box box = {{}, x, y};
  if (decode(map, &box.shape, s) && check_place(box, false, s)) rows_of(box, false, s);
}

} // namespace loom_engine
