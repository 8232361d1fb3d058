// verify.h -- is every element of the result there, and right?
#pragma once

#include "bind.h"

namespace cpu {

// Findings: unwritten elements, wrong ones (with the first of them, and what they have in common),
// changed inputs.
void verify(const Binding &b, const Problem &p, const loom_desc &d);

} // namespace cpu
