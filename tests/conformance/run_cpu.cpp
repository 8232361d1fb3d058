// run_cpu.cpp -- runs every conformance case on the CPU device and prints what it left in `out`.
//
//   run_cpu [--whole] [CASE...] > vectors.txt
//
// Under several schedules, which must all leave the same words. A finding of the CPU device is a
// failure too: the cases do nothing that a checker may object to.
#include "loom.cuh"

#include "memory.h"
#include "vectors.h"

#include <cstring>
#include <vector>

#define ROW(name, ...) extern "C" void name(gptr<const u32>, gptr<u32>);
#define ROW_MAP(name, ...) extern "C" void name(gptr<const u32>, gptr<u32>, tensor_map);
#include "table.h"
#undef ROW
#undef ROW_MAP

namespace {

enum : int { SCHEDULES = 6 };

gptr<const u32> in_of(void **args) {
  return loom_address::to<const u32>(*static_cast<u64 *>(args[0]));
}
gptr<u32> out_of(void **args) { return loom_address::to<u32>(*static_cast<u64 *>(args[1])); }

typedef void (*Entry)(void **args);
const Entry entries[] = {
#define ROW(name, ...) [](void **args) { name(in_of(args), out_of(args)); },
#define ROW_MAP(name, ...)                                                                         \
  [](void **args) { name(in_of(args), out_of(args), *static_cast<tensor_map *>(args[2])); },
#include "table.h"
};

cpu::Region &region(const char *name, cpu::Use use, const std::vector<uint32_t> &words) {
  cpu::Region &r = cpu::global_add(name, use, 4 * words.size(), 0);
  memcpy(r.bytes.data(), words.data(), 4 * words.size());
  if (use != cpu::Use::INPUT) r.shadow.set_initialised(0, 4 * words.size(), true);
  return r;
}

const char *encode(const conform_case &c, u64 in, u64 out, tensor_map *map) {
  const conform_map &m = c.map;
  if (m.width == 0) return nullptr;
  cpu::TensorShape shape = {};
  shape.address = (m.of_out ? out : in) + m.offset;
  shape.size[0] = m.width;
  shape.size[1] = m.height;
  shape.stride = m.stride;
  shape.box[0] = m.box_width;
  shape.box[1] = m.box_height;
  shape.swizzle = static_cast<int>(m.swizzle);
  return cpu::tensor_map_encode(shape, map);
}

// The words that the case leaves; findings are the caller's to look at.
std::vector<uint32_t> run(const conform_case &c, Entry entry, int schedule) {
  std::vector<uint32_t> in(c.in), out(c.out);
  conform_fill_in(&c, in.data());
  conform_fill_out(&c, out.data());
  cpu::global_clear();
  cpu::findings_clear();
  cpu::Region &from = region("in", cpu::Use::INPUT, in),
              &to = region("out", cpu::Use::SCRATCH, out);
  u64 addresses[] = {from.address, to.address};
  tensor_map map = {};
  if (const char *why = encode(c, addresses[0], addresses[1], &map))
    cpu::find_text(cpu::Kind::DESCRIPTOR, 0, 0, std::string("the tensor map: ") + why);
  void *args[] = {&addresses[0], &addresses[1], &map};
  cpu::Launch l;
  l.entry = entry;
  l.args = args;
  l.grid = c.grid;
  l.block = c.block;
  l.cluster = c.cluster;
  l.smem = c.smem;
  l.schedule = cpu::schedule_of(schedule, 1);
  if (cpu::findings().empty()) cpu::launch(l);
  memcpy(out.data(), to.bytes.data(), 4 * out.size());
  return out;
}

// Prints the case; is it clean, and the same under every schedule?
bool run_all(const conform_case &c, Entry entry, bool whole) {
  std::vector<uint32_t> first;
  bool good = true;
  for (int s = 0; s < SCHEDULES && good; s++) {
    const std::vector<uint32_t> words = run(c, entry, s);
    if (!cpu::findings().empty())
      fprintf(stderr, "%s, schedule %d:\n%s\n", c.name, s, cpu::findings_text().c_str());
    else if (s > 0 && words != first)
      fprintf(stderr, "%s: schedule %d does not leave what schedule 0 does\n", c.name, s);
    good = cpu::findings().empty() && (s == 0 || words == first);
    if (s == 0) first = words;
  }
  conform_print(stdout, &c, first.data(), whole);
  return good;
}

bool wanted(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(name, argv[i]) == 0) return true;
  return argc == 1;
}

} // namespace

int main(int argc, char **argv) {
  const bool whole = argc > 1 && strcmp(argv[1], "--whole") == 0;
  int bad = 0, ran = 0;
  printf("conformance 1\ngpu none: the CPU device\n");
  for (int i = 0; i < conform_count; i++) {
    if (!wanted(conform_cases[i].name, argc - whole, argv + whole)) continue;
    bad += !run_all(conform_cases[i], entries[i], whole);
    ran++;
  }
  printf("end %d cases\n", ran);
  if (bad) fprintf(stderr, "conformance: %d of %d cases with findings\n", bad, ran);
  return bad != 0 || fclose(stdout) != 0;
}
