// watchdog.h -- a kernel that crashes, or computes for ever, still gets an answer.
#pragma once

namespace cpu {

enum { EXIT_LOST = 3 };

// From now on a crash, 10 s of processor time without an instruction of the vocabulary, and 20 s in
// which one thread waits for nothing, are answered on `fd` with a `wrong` line; the process then ends
// with EXIT_LOST.
void watchdog_start(int fd);

} // namespace cpu
