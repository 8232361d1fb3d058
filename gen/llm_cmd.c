/* llm_cmd.c -- asks a shell command: the user text on its stdin, the answer on its stdout.
 *
 * The command leads its own process group, killed as a whole at the timeout and when its leader has
 * ended.  A guard outlives loom-llm: should that be killed, the guard's pipe ends and it kills the
 * group.  What the command says on stderr is kept (its last line is the reason when it fails)
 * instead of passed on, because it may show the key.
 */
#include "llm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util.h"

enum { OUTPUT_MAX = 8 << 20, CHUNK = 1 << 16, GRACE_MS = 20 };

enum { IN, OUT, ERR, LIFE, PIPES };

typedef struct cmd {
  pid_t pid, guard;
  int fd[PIPES]; /* our ends; -1: closed */
  const char *text;
  size_t left; /* of text, still to write */
  buf out, err;
  int ended, status;
} cmd;

/* ---- starting ---- */

static _Noreturn void become(const char *command, int ends[PIPES][2]) {
  setpgid(0, 0);
  signal(SIGPIPE, SIG_DFL);
  dup2(ends[IN][0], STDIN_FILENO);
  dup2(ends[OUT][1], STDOUT_FILENO);
  dup2(ends[ERR][1], STDERR_FILENO);
  execl("/bin/sh", "sh", "-c", command, (char *)NULL);
  _exit(127);
}

/* Waits for loom-llm to be gone, then kills the command's group. */
static _Noreturn void guard(pid_t group, int life) {
  char c;
  setpgid(0, 0);
  for (int fd = 0; fd < 256; fd++)
    if (fd != life) close(fd);
  while (read(life, &c, 1) < 0 && errno == EINTR) continue;
  kill(-group, SIGKILL);
  _exit(0);
}

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void start(cmd *c, const char *command) {
  int ends[PIPES][2];
  for (int i = 0; i < PIPES; i++)
    if (pipe2(ends[i], O_CLOEXEC) < 0) util_die("cannot make a pipe: %s", strerror(errno));
  c->pid = fork();
  if (c->pid == 0) become(command, ends);
  if (c->pid > 0) setpgid(c->pid, c->pid); /* both do it: whoever comes first */
  if (c->pid > 0) c->guard = fork();
  if (c->guard == 0) {
    close(ends[LIFE][1]);
    guard(c->pid, ends[LIFE][0]);
  }
  if (c->pid < 0 || c->guard < 0) util_die("cannot start a process: %s", strerror(errno));
  for (int i = 0; i < PIPES; i++) {
    int ours = i == IN || i == LIFE;
    c->fd[i] = ends[i][ours];
    close(ends[i][!ours]);
    fcntl(c->fd[i], F_SETFL, O_NONBLOCK);
  }
}

/* ---- talking ---- */

static void feed(cmd *c) {
  ssize_t n = write(c->fd[IN], c->text, c->left);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0) {
    c->text += n;
    c->left -= (size_t)n;
  }
  if (n <= 0 || c->left == 0) close_fd(&c->fd[IN]); /* it may do without the rest */
}

/* Reads what is there; past the limit it only closes the pipe. */
static void drain(int *fd, buf *b) {
  buf_reserve(b, CHUNK);
  ssize_t n = read(*fd, b->data + b->len, CHUNK);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0) b->len += (size_t)n;
  b->data[b->len] = 0;
  if (n <= 0 || b->len > OUTPUT_MAX) close_fd(fd);
}

/* True once the leader has ended; it stays a zombie, so that its number is still its own. */
static int has_ended(const cmd *c) {
  siginfo_t info = {0};
  return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == c->pid;
}

/* One look at all pipes, waiting at most ms for something to happen. */
static void look(cmd *c, int ms) {
  struct pollfd p[3] = {{.fd = c->fd[IN], .events = POLLOUT},
                        {.fd = c->fd[OUT], .events = POLLIN},
                        {.fd = c->fd[ERR], .events = POLLIN}};
  if (poll(p, 3, ms) <= 0) return;
  if (p[0].revents) feed(c);
  if (p[1].revents) drain(&c->fd[OUT], &c->out);
  if (p[2].revents) drain(&c->fd[ERR], &c->err);
}

/* Until the leader ends, the time is up, or it says too much; then nothing of its group is left. */
static void talk(cmd *c, double until) {
  while (!c->ended && util_now() < until && c->out.len <= OUTPUT_MAX) {
    look(c, GRACE_MS);
    c->ended = has_ended(c);
  }
  kill(-c->pid, SIGKILL);
  for (int i = 0; i < OUTPUT_MAX / CHUNK && (c->fd[OUT] >= 0 || c->fd[ERR] >= 0); i++) {
    size_t before = c->out.len + c->err.len;
    look(c, 0);
    if (c->out.len + c->err.len == before) break;
  }
  kill(c->guard, SIGKILL); /* before the number of the group is free again */
  while (waitpid(c->guard, NULL, 0) < 0 && errno == EINTR) continue;
  while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR) continue;
  for (int i = 0; i < PIPES; i++) close_fd(&c->fd[i]);
}

/* ---- the result ---- */

static void add_last_line(buf *why, buf *err) {
  while (err->len > 0 && strchr("\r\n ", err->data[err->len - 1])) err->data[--err->len] = 0;
  if (err->len == 0) return;
  const char *line = strrchr(err->data, '\n');
  buf_addf(why, ": %s", line ? line + 1 : err->data);
}

/* The reason if it failed. */
static void judge(cmd *c, const llm *q, buf *why) {
  if (c->out.len > OUTPUT_MAX)
    buf_addf(why, "the command's answer has more than %d MiB", OUTPUT_MAX >> 20);
  else if (!c->ended)
    buf_addf(why, "no answer from the command within %g s", q->timeout);
  else if (WIFSIGNALED(c->status))
    buf_addf(why, "signal %d ended the command", WTERMSIG(c->status));
  else if (WEXITSTATUS(c->status) != 0)
    buf_addf(why, "the command ends with %d", WEXITSTATUS(c->status));
  if (why->len == 0) return;
  llm_clean(&c->err);
  add_last_line(why, &c->err);
}

static void log_response(const llm *q, const cmd *c, double seconds) {
  json_t *line = json_pack("{s:f}", "seconds", seconds);
  if (q->why.len > 0) json_object_set_new(line, "error", llm_json_text(q, q->why.data, q->why.len));
  if (c->err.len > 0)
    json_object_set_new(line, "stderr", llm_json_text(q, c->err.data, c->err.len));
  json_object_set_new(line, "response", llm_json_text(q, c->out.data, c->out.len));
  llm_transcript_add(q, "response", line);
}

int llm_cmd(llm *q) {
  cmd c = {.text = q->user, .left = q->user_len, .pid = -1, .guard = -1};
  double began = util_now();
  /* that a command was asked, not which: a key may stand in its text */
  llm_transcript_add(
      q, "request",
      json_pack("{s:b, s:o}", "command", 1, "request", llm_json_text(q, q->user, q->user_len)));
  start(&c, q->cmd);
  talk(&c, began + q->timeout);
  judge(&c, q, &q->why);
  log_response(q, &c, util_now() - began);
  buf_add(&q->answer, c.out.data, c.out.len);
  buf_free(&c.out);
  buf_free(&c.err);
  return q->why.len > 0 ? -1 : 0;
}
