// global.cpp -- global memory: regions, and what may be done to each.
#include "memory.h"

#include <cstring>

namespace cpu {

// Region n lies around the middle of the n-th 2^40 bytes: an address that misses one still tells
// which one it was meant for.
enum : int { REGION_SHIFT = 40 };

static std::vector<std::unique_ptr<Region>> regions;

Region &global_add(const std::string &name, Use use, size_t bytes, size_t shift) {
  auto r = std::make_unique<Region>();
  r->name = name;
  r->use = use;
  r->address = (static_cast<u64>(regions.size() + 1) << REGION_SHIFT) +
               (u64{1} << (REGION_SHIFT - 1)) + shift;
  r->bytes.assign(bytes, 0);
  if (use != Use::INPUT) r->shadow.reset(bytes, false);
  regions.push_back(std::move(r));
  return *regions.back();
}

void global_clear() { regions.clear(); }

void global_launch_begin() {
  for (auto &r : regions)
    if (r->use != Use::INPUT) r->shadow.forget();
}

Region *global_find(const std::string &name) {
  for (auto &r : regions)
    if (r->name == name) return r.get();
  return nullptr;
}

// ---- addresses -----------------------------------------------------------------------------------

// "C[511][256]", "ws+1024".
static std::string place(const Region &r, int64_t offset) {
  if (!r.ld || offset < 0 || offset % 2)
    return format("%s%+lld bytes", r.name.c_str(), static_cast<long long>(offset));
  const long long at = offset / 2, ld = static_cast<long long>(r.ld);
  return format("%s[%lld][%lld]", r.name.c_str(), at / ld, at % ld);
}

static std::string extent(const Region &r) {
  if (!r.ld) return format("of its %zu bytes", r.bytes.size());
  return format("of %s, %zu rows of %zu%s", r.name.c_str(), r.rows, r.columns,
                r.ld > r.columns ? format(" in steps of %zu", r.ld).c_str() : "");
}

GlobalSpan global_at(u64 address, size_t bytes, size_t align, Site site) {
  const u64 n = address >> REGION_SHIFT;
  if (n == 0 || n > regions.size()) {
    find(Kind::OUT_OF_BOUNDS, site, 0, "%zu bytes at global address 0x%llx, which is nobody's",
         bytes, address);
    return {};
  }
  Region &r = *regions[n - 1];
  const int64_t offset = static_cast<int64_t>(address - r.address);
  const int64_t past = offset + static_cast<int64_t>(bytes) - static_cast<int64_t>(r.bytes.size());
  if (offset < 0 || past > 0) {
    find(Kind::OUT_OF_BOUNDS, site, 0, "%zu bytes at %s: %lld bytes %s %s", bytes,
         place(r, offset).c_str(), static_cast<long long>(offset < 0 ? -offset : past),
         offset < 0 ? "before the begin" : "past the end", extent(r).c_str());
    return {};
  }
  if (address % align != 0) {
    find(Kind::MISALIGNED, site, 0, "%zu bytes at %s have to be aligned to %zu", bytes,
         place(r, offset).c_str(), align);
    return {};
  }
  return {&r, static_cast<size_t>(offset), r.bytes.data() + offset};
}

// ---- what is allowed -----------------------------------------------------------------------------

// With programmatic launch the operands are the previous grid's until grid_dep_wait.
static void check_grid_wait(const Region &r, size_t offset, const Access &a) {
  const size_t agents = a.reads->agents();
  if (agents && a.reads->of(static_cast<uint16_t>(agents - 1)) > 0) return;
  find(Kind::BEFORE_GRID_WAIT, a.by.site, 0,
       "a %s of %s by %s before grid_dep_wait: the grid before this one may still use it",
       a.write ? "write" : "read", place(r, static_cast<int64_t>(offset)).c_str(),
       agent_text(a.by).c_str());
}

// Every element of the result once; the columns between its rows never.
static void check_output(Region &r, size_t offset, size_t bytes, const Access &a) {
  for (size_t i = offset / 2; i < (offset + bytes + 1) / 2; i++) {
    if (i % r.ld >= r.columns) {
      find(Kind::PADDING_WRITTEN, a.by.site, 0,
           "a write by %s to %s, between the rows %s: column %zu is past the last one",
           agent_text(a.by).c_str(), place(r, static_cast<int64_t>(2 * i)).c_str(),
           extent(r).c_str(), i % r.ld);
      return;
    }
    if (r.writer[i])
      find(Kind::WRITTEN_TWICE, a.by.site, r.writer[i],
           "a write by %s to %s, which was written before", agent_text(a.by).c_str(),
           place(r, static_cast<int64_t>(2 * i)).c_str());
    r.writer[i] = a.by.site;
  }
}

static void tell(const Found &f, const Region &r, const Access &a) {
  const std::string where = place(r, static_cast<int64_t>(f.offset)), who = agent_text(a.by);
  if (f.kind == Conflict::UNINITIALISED) {
    find(Kind::UNINITIALISED, a.by.site, 0, "a read by %s of %s, which nothing wrote%s",
         who.c_str(), where.c_str(), r.use == Use::OUTPUT ? " (beta is 0: C is not an input)" : "");
    return;
  }
  const bool after_read = f.kind == Conflict::WRITE_AFTER_READ;
  const bool fence = a.async && !f.other_async && !after_read && a.reads->covers(f.other);
  find(Kind::RACE, a.by.site, f.other.site, "%s %s by %s of %s races with the earlier %s by %s: %s",
       a.atomic  ? "an atomic"
       : a.async ? "an asynchronous"
                 : "a",
       a.write ? "write" : "read", who.c_str(), where.c_str(),
       f.other_atomic ? "atomic"
       : after_read   ? "read"
                      : "write",
       agent_text(f.other).c_str(),
       fence                             ? "fence_proxy_async_all is missing between them"
       : f.other.cluster != a.by.cluster ? "nothing orders the two (a release and an acquire at "
                                           "gpu scope, or a fence_gpu on both sides)"
                                         : "no barrier orders the two");
}

void global_touch(Region &r, size_t offset, size_t bytes, const Access &a) {
  if (r.previous && launched().pdl) check_grid_wait(r, offset, a);
  if (r.use == Use::INPUT) {
    if (a.write)
      find(Kind::INPUT_WRITTEN, a.by.site, 0, "a write by %s to %s, which is an input",
           agent_text(a.by).c_str(), place(r, static_cast<int64_t>(offset)).c_str());
    return;
  }
  if (a.write) {
    if (r.use == Use::OUTPUT) check_output(r, offset, bytes, a);
    if (!a.atomic) world_changed(); // an atomic may find that it changes nothing
  }
  const Found f = r.shadow.touch(offset, bytes, a);
  if (f.kind != Conflict::NONE) tell(f, r, a);
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

static const char *sized(int bytes, const char *one, const char *pair, const char *words) {
  return bytes == 2 ? one : bytes == 4 ? pair : words;
}

static GlobalSpan load(void *to, u64 address, int bytes, Site s) {
  const size_t n = static_cast<size_t>(bytes);
  const GlobalSpan span = global_at(address, n, n, s);
  count_global(s, &address, 1, bytes);
  memset(to, 0xff, n);
  if (!span) return span;
  global_touch(*span.region, span.offset, n, ordinary(false, s));
  memcpy(to, span.bytes, n);
  return span;
}

static void store(u64 address, const void *from, int bytes, Site s) {
  const size_t n = static_cast<size_t>(bytes);
  const GlobalSpan span = global_at(address, n, n, s);
  count_global(s, &address, 1, bytes);
  if (!span) return;
  global_touch(*span.region, span.offset, n, ordinary(true, s));
  if (span.region->use != Use::INPUT) memcpy(span.bytes, from, n);
}

void load_global(void *to, u64 address, int bytes, site at) {
  load(to, address, bytes, site_of(sized(bytes, "ldg", "ldg", "ldg_words"), at));
}

void store_global(u64 address, const void *from, int bytes, site at) {
  store(address, from, bytes, site_of(sized(bytes, "stg", "stg_pair", "stg_words"), at));
}

// ld.global.nc: whatever a grid may write is none of its business, written yet or not.
void load_global_stream(void *to, u64 address, int bytes, site at) {
  const Site s = site_of("ldg_words_stream", at);
  const GlobalSpan span = load(to, address, bytes, s);
  if (span && span.region->use != Use::INPUT)
    find(Kind::RACE, s, 0,
         "a read of %s, which the grid may write: for memory that nobody writes while it runs",
         place(*span.region, static_cast<int64_t>(span.offset)).c_str());
}

void store_global_stream(u64 address, const void *from, int bytes, site at) {
  store(address, from, bytes, site_of("stg_words_stream", at));
}

} // namespace loom_engine
