// bind.h -- a kernel and a problem in memory become a launch, as gen/launch.c does it for a GPU.
#pragma once

#include "families.h"
#include "memory.h"

extern "C" {
#include "legal.h"
}

#include <string>

namespace cpu {

struct Kernel {
  loom_desc desc = {};
  void *so = nullptr; // dlopen's
  void (*entry)(void **args) = nullptr;
  const char *const *args = nullptr; // names of the arguments' types
  int count = 0;
};
// Why a file cannot be read or loaded; empty: *out is a kernel.
std::string kernel_open(const std::string &so, const std::string &desc, Kernel *out);
void kernel_close(Kernel *k);
// Findings where the kernel and its descriptor differ, or no GPU could run what the descriptor says.
void kernel_check(const Kernel &k);

struct Placing {             // of the operands in memory
  int64_t ld[3] = {0, 0, 0}; // lda ldb ldc; 0: packed
  int64_t shift = 0;         // bytes that A, B and C lie past a multiple of 1 KiB
  bool pdl = false;          // the grid before this one may still run
};

// The operands' regions, filled from the problem: one launch and its repetitions.
class Binding {
public:
  // Refused: the text of why. Else empty, and the regions A, B, C, ws are there.
  std::string bind(const Kernel &k, const Problem &p, const Placing &at, const Schedule &s);
  void refill(); // C as before the first launch; the workspace stays as the launch has left it
  void launch();
  bool inputs_changed() const;
  uint16_t result(int64_t m, int64_t n) const;
  Site writer(int64_t m, int64_t n) const; // 0: unwritten
  int grid() const { return static_cast<int>(launch_.grid); }

private:
  const Kernel *kernel_ = nullptr;
  const Problem *problem_ = nullptr;
  Region *c_ = nullptr;
  loom_call call_ = {};
  Launch launch_;
  std::vector<unsigned char> pristine_[2]; // of A and B
  struct alignas(128) Map {
    u64 opaque[16];
  } maps_[LOOM_MAX_TENSORS];
  u64 pointers_[4] = {}; // A B C ws
  int numbers_[6] = {};  // M N K lda ldb ldc
  float factors_[2] = {};
  void *args_[LOOM_MAX_ARGS] = {};

  void place(const Placing &at);
  void fill(int operand, const std::vector<uint16_t> &from);
  std::string encode();
  std::string check_grid();
  void collect_arguments();
};

} // namespace cpu
