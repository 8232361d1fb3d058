// families.h -- multiplications whose every result is known exactly, whatever the order of the sums.
//
//   ternary  A and B of -1, 0, 1: small integers all the way
//   cancel   the same with pairs of large products that cancel: narrow partial sums show
//   onehot   rows of A pick rows of B: which k goes where
//   slice    each row of A lives in one sixteenth of K: all of K is summed, once
//   special  one NaN in A, one Inf in B: they show in their row and column, and nowhere else
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cpu {

enum class Family { TERNARY, CANCEL, ONEHOT, SLICE, SPECIAL, COUNT };
const char *family_name(Family f);
Family family_of(const std::string &name); // COUNT: there is none

struct Factors { // of alpha*A*B + beta*C
  float alpha = 1, beta = 0;
};

struct Problem {
  Family family = Family::TERNARY;
  int dtype = 0;       // enum loom_dtype
  bool narrow = false; // accumulators of f16
  int64_t M = 0, N = 0, K = 0;
  Factors factors;
  bool exact = true; // false: alpha and beta allow two roundings, and so the neighbouring number
  std::vector<uint16_t> a, b, c; // M x K, K x N, M x N: bits, row by row; c before the run
  std::vector<uint16_t> want;    // M x N
};

// Fills what family, dtype, narrow, M, N, K and factors ask for.
void problem_make(Problem &p, uint64_t seed);

// Numbers of the 16-bit formats; written apart from the primitives, to check those too.
uint16_t bits_of(int dtype, double x);
double value_of(int dtype, uint16_t bits);
uint16_t unwritten_mark(int dtype); // a NaN that no arithmetic makes

} // namespace cpu
