// watchdog.cpp -- see watchdog.h. Handlers run in the middle of anything: they write with write(2)
// what snprintf makes of numbers and texts that stay where they are, and end the process.
#include "watchdog.h"

#include "engine.h"
#include "run.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/time.h>
#include <unistd.h>

namespace cpu {

enum { SECONDS = 10 };
#ifdef __SANITIZE_ADDRESS__
constexpr bool WITH_ASAN = true;
#else
constexpr bool WITH_ASAN = false;
#endif

static int answer_fd;
static uint64_t calls_seen, turns_seen;
static int idle_seconds, alone_seconds; // without a call; without a turn of another thread

static void answer_and_end(const char *kind, const char *why) {
  char line[1024];
  char place[256] = "";
  if (site_last) {
    const SiteInfo &s = site_info(site_last);
    snprintf(place, sizeof place, "%s:%d", s.file.c_str(), s.line);
  }
  const int n =
      snprintf(line, sizeof line, "wrong\tkind=%s\twhy=%s%s\tat=%s\tother=\tfindings=1\trun=%s\n",
               kind, why, site_last ? ", after this instruction" : "", place, run_name);
  const ssize_t written = write(answer_fd, line, static_cast<size_t>(n));
  _exit(written == n ? EXIT_LOST : 1);
}

static void on_second(int) {
  if (!run_active || site_calls != calls_seen) idle_seconds = 0;
  if (!run_active || thread_turns != turns_seen) alone_seconds = 0;
  calls_seen = site_calls;
  turns_seen = thread_turns;
  if (!run_active) return;
  if (++idle_seconds > SECONDS)
    answer_and_end("endless",
                   "the kernel computed for 10 s without an instruction of the vocabulary");
  if (++alone_seconds > 2 * SECONDS)
    answer_and_end("endless",
                   "a thread ran for 20 s and waited for nothing: a loop until another thread "
                   "writes has to poll with ld_acquire, ld_relaxed or mbar_try");
}

static void on_crash(int signal) {
  static volatile sig_atomic_t again;
  if (again) _exit(EXIT_LOST);
  again = 1;
  if (!run_active) { // ours, not a kernel's: let it be seen as what it is
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  const char *what = signal == SIGFPE   ? "the kernel divides by zero"
                     : signal == SIGILL ? "the kernel runs into an undefined instruction"
                     : signal == SIGABRT
                         ? "the kernel ends itself: abort, or an exception that nobody catches"
                         : "the kernel reads or writes outside its variables, or its stack is full";
  answer_and_end("crash", what);
}

static void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction a = {};
  a.sa_handler = handler;
  a.sa_flags = flags;
  sigaction(signal, &a, nullptr);
}

void watchdog_start(int fd) {
  answer_fd = fd;
  static unsigned char stack[64 << 10];
  stack_t other = {};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  if (!WITH_ASAN) // which tells more
    for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
      handle(s, on_crash, SA_ONSTACK | SA_NODEFER);
  handle(SIGPROF, on_second, SA_RESTART | SA_ONSTACK);
  const itimerval every = {{1, 0}, {1, 0}};
  setitimer(ITIMER_PROF, &every, nullptr);
}

} // namespace cpu
