/* proc.c -- child processes.
 *
 * Waiting without races and without a thread: SIGCHLD and what ends us are blocked except inside
 * ppoll, which therefore returns at once when a child ends, and each round asks for every
 * running leader.  The end of a leader, not the end of its output, ends a job: a grandchild may
 * keep the pipe open for ever.
 *
 * A leader is looked at with WNOWAIT first, its group killed, and only then reaped: as long as
 * the zombie is there, its number cannot belong to another group.
 */
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

enum {
  OUTPUT_MAX = 1 << 20, /* bytes of output that a job keeps */
  CHUNK = 1 << 16,
  CHUNKS = 32, /* per look, so that an endless writer does not hold us */
};

static const double SEND_PATIENCE = 10.0, CLOSE_PATIENCE = 2.0;

/* ---- signals ---- */

static volatile sig_atomic_t interrupted; /* a handler has no argument */

/* The first asks loom to end in good order, a second one ends it at once. timeout(1) and some
   shells send each signal twice, to the process and to its group: what comes within ECHO of the
   first is the same request. */
static const double ECHO = 0.3;
static double first_time; /* the handler's own; what interrupts it is blocked */

static void on_interrupt(int sig) {
  double now = util_now();
  if (!interrupted) {
    interrupted = 1;
    first_time = now;
  } else if (now - first_time > ECHO) {
    signal(sig, SIG_DFL);
    raise(sig); /* arrives when the handler returns */
  }
}

static void on_child(int sig) { (void)sig; }

int proc_interrupted(void) { return interrupted; }

/* What asks loom to end: all the same to it, so that children never outlive a hangup either. */
static const int enders[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDERS = sizeof enders / sizeof enders[0] };

static void add_enders(sigset_t *set) {
  for (int i = 0; i < ENDERS; i++) sigaddset(set, enders[i]);
}

void proc_init(void) {
  struct sigaction sa = {.sa_handler = on_interrupt}, old;
  sigemptyset(&sa.sa_mask);
  add_enders(&sa.sa_mask);
  for (int i = 0; i < ENDERS; i++) /* nohup and the shell's & ignore some: so do we */
    if (sigaction(enders[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(enders[i], &sa, NULL);
  sa.sa_handler = on_child;
  sa.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  sigaction(SIGCHLD, &sa, NULL);
  signal(SIGPIPE, SIG_IGN);
  int fd = 0;
  while (fd >= 0 && fd < 3) fd = open("/dev/null", O_RDWR);
  if (fd >= 0) close(fd);
}

/* Blocks what may wake us; *inside is the mask for ppoll, *before the one to restore. */
static void hold_signals(sigset_t *inside, sigset_t *before) {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGCHLD);
  add_enders(&both);
  sigprocmask(SIG_BLOCK, &both, before);
  *inside = *before;
  sigdelset(inside, SIGCHLD);
  for (int i = 0; i < ENDERS; i++) sigdelset(inside, enders[i]);
}

static void release_signals(const sigset_t *before) { sigprocmask(SIG_SETMASK, before, NULL); }

/* Sleeps until a descriptor is ready, a child ends, SIGINT comes, or `until` is reached
 * (below 0: never). */
static void doze(struct pollfd *fds, size_t n, double until, const sigset_t *inside) {
  double left = until < 0 ? -1 : until - util_now();
  if (until >= 0 && left < 0) left = 0;
  if (left > 1e6) left = 1e6;
  struct timespec t = {.tv_sec = (time_t)left,
                       .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
  (void)ppoll(fds, (nfds_t)n, until < 0 ? NULL : &t, inside);
}

/* ---- starting ---- */

void proc_spec_free(proc_spec *s) {
  buf_free(&s->argv);
  buf_free(&s->env);
  free(s->cwd);
  s->cwd = NULL;
}

/* The strings in b as a vector that ends in NULL; the caller frees it. */
static char **vector(const buf *b) {
  size_t n = 0, cap = 1;
  for (size_t i = 0; i < b->len; i++) cap += b->data[i] == 0;
  char **v = util_malloc(cap * sizeof *v);
  for (char *p = b->data; n + 1 < cap; p += strlen(p) + 1) v[n++] = p;
  v[n] = NULL;
  return v;
}

/* In the child: becomes the program, or tells why not through the pipe `tell`. */
static _Noreturn void become(const proc_spec *s, char **argv, char **env, const int fds[3],
                             int tell, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  signal(SIGPIPE, SIG_DFL);
  for (int i = 0; i < ENDERS; i++) signal(enders[i], SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int bad = setpgid(0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0;
  if (getppid() != parent) _exit(127); /* loom died before the prctl */
  for (int i = 0; i < 3 && !bad; i++) bad = dup2(fds[i], i) < 0;
  for (; *env && !bad; env++) bad = putenv(*env) != 0;
  if (!bad && s->cwd) bad = chdir(s->cwd) < 0;
  if (!bad) execvp(argv[0], argv);
  int err = errno;
  (void)!write(tell, &err, sizeof err);
  _exit(127);
}

/* Starts a process with these three descriptors (0 to 2 are never among them, except 2 as
 * itself).  Its number, or -1 and the reason in why. */
static pid_t start(const proc_spec *s, const int fds[3], buf *why) {
  int tell[2], err = 0;
  char **argv = vector(&s->argv), **env = vector(&s->env);
  pid_t pid = -1, parent = getpid();
  if (pipe2(tell, O_CLOEXEC) < 0) {
    err = errno;
  } else {
    pid = fork();
    if (pid == 0) become(s, argv, env, fds, tell[1], parent);
    if (pid < 0) err = errno;
    close(tell[1]);
    ssize_t n;
    while ((n = read(tell[0], &err, sizeof err)) < 0 && errno == EINTR) continue;
    close(tell[0]);
    if (pid > 0 && n > 0) {
      while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
      pid = -1;
    }
  }
  if (pid < 0) {
    int in_cwd = s->cwd && err == ENOENT && access(s->cwd, X_OK) < 0;
    buf_addf(why, in_cwd ? "cannot enter '%s': %s" : "cannot run '%s': %s",
             in_cwd ? s->cwd : argv[0], strerror(err));
  }
  free(argv);
  free(env);
  return pid;
}

static void set_nonblocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* ---- ending ---- */

/* True if the leader has ended: its group is gone then and *status is set. */
static int reap(pid_t pid, int *status) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid != pid)
    return 0;
  kill(-pid, SIGKILL);
  while (waitpid(pid, status, 0) < 0 && errno == EINTR) continue;
  return 1;
}

/* Kills the group and waits for the leader. */
static int kill_group(pid_t pid) {
  int status = 0;
  kill(-pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

/* Reads what is there; 0 at the end of the output, else 1. */
static int drain(int fd, buf *b) {
  for (int i = 0; i < CHUNKS; i++) {
    buf_reserve(b, CHUNK);
    ssize_t n = read(fd, b->data + b->len, CHUNK);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return 0;
    b->len += (size_t)n;
    b->data[b->len] = 0;
  }
  return 1;
}

/* ---- the pool ---- */

typedef struct queue {
  job *head, **tail;
} queue;

struct pool {
  int jobs, count, nrunning; /* count: all jobs in the three places */
  long last_id;
  queue waiting, done;
  job *running;
  struct pollfd *fds; /* room for one per running job */
};

static void queue_add(queue *q, job *j) {
  if (!q->head) q->tail = &q->head;
  j->next = NULL;
  *q->tail = j;
  q->tail = &j->next;
}

static job *queue_take(queue *q) {
  job *j = q->head;
  if (j) q->head = j->next;
  return j;
}

void job_free(job *j) {
  proc_spec_free(&j->spec);
  buf_free(&j->output);
  if (j->fd >= 0) close(j->fd);
  free(j);
}

pool *pool_new(int jobs) {
  pool *p = util_malloc(sizeof *p);
  *p = (pool){.jobs = jobs, .fds = util_malloc((size_t)jobs * sizeof *p->fds)};
  return p;
}

static int run_job(job *j) {
  int out[2], fds[3] = {-1, -1, -1};
  j->began = util_now();
  if (pipe2(out, O_CLOEXEC) < 0) {
    buf_addf(&j->output, "cannot make a pipe: %s", strerror(errno));
    return -1;
  }
  fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
  fds[1] = fds[2] = out[1];
  j->pid = start(&j->spec, fds, &j->output);
  close(out[1]);
  close_fd(&fds[0]);
  j->fd = out[0];
  set_nonblocking(j->fd);
  return j->pid < 0 ? -1 : 0;
}

/* Starts queued jobs while there are places; one that cannot start is done with code 127. */
static void fill(pool *p) {
  while (p->nrunning < p->jobs && p->waiting.head) {
    job *j = queue_take(&p->waiting);
    if (run_job(j) < 0) {
      j->status = 127 << 8;
      queue_add(&p->done, j);
      continue;
    }
    j->next = p->running;
    p->running = j;
    p->nrunning++;
  }
}

/* Takes what the job has written, and cuts it. */
static void take_output(job *j) {
  if (j->fd >= 0 && !drain(j->fd, &j->output)) close_fd(&j->fd);
  if (j->output.len > OUTPUT_MAX) {
    j->dropped += j->output.len - OUTPUT_MAX;
    j->output.len = OUTPUT_MAX;
    j->output.data[OUTPUT_MAX] = 0;
  }
}

static void finish(job *j) {
  take_output(j);
  close_fd(&j->fd);
  j->seconds = util_now() - j->began;
  if (j->dropped) buf_addf(&j->output, "\n[%zu more bytes dropped]\n", j->dropped);
}

/* Looks at all running jobs once: output, timeouts, ends; starts the next ones. */
static void look(pool *p) {
  double now = util_now();
  for (job **at = &p->running, *j; (j = *at) != NULL;) {
    take_output(j);
    if (j->timeout > 0 && !j->timed_out && now >= j->began + j->timeout) {
      j->timed_out = 1;
      kill(-j->pid, SIGKILL);
    }
    if (!reap(j->pid, &j->status)) {
      at = &j->next;
      continue;
    }
    *at = j->next;
    p->nrunning--;
    finish(j);
    queue_add(&p->done, j);
  }
  fill(p);
}

long pool_submit(pool *p, proc_spec *spec, double timeout) {
  job *j = util_malloc(sizeof *j);
  *j = (job){.id = ++p->last_id, .spec = *spec, .timeout = timeout, .fd = -1, .pid = -1};
  *spec = (proc_spec){0};
  queue_add(&p->waiting, j);
  p->count++;
  look(p);
  return j->id;
}

job *pool_wait(pool *p, double seconds) {
  sigset_t inside, before;
  double give_up = seconds < 0 ? -1 : util_now() + seconds;
  hold_signals(&inside, &before);
  for (;;) {
    double until = give_up;
    size_t n = 0;
    look(p);
    if (p->done.head || !p->running || interrupted) break;
    if (give_up >= 0 && util_now() >= give_up) break;
    for (job *j = p->running; j; j = j->next) {
      double end = j->began + j->timeout;
      p->fds[n++] = (struct pollfd){.fd = j->fd, .events = POLLIN};
      if (j->timeout > 0 && !j->timed_out && (until < 0 || end < until)) until = end;
    }
    doze(p->fds, n, until, &inside);
  }
  release_signals(&before);
  job *j = queue_take(&p->done);
  if (j) p->count--;
  return j;
}

int pool_pending(const pool *p) { return p->count; }

void pool_kill(pool *p) {
  job *j;
  for (j = p->running; j; j = j->next) kill(-j->pid, SIGKILL);
  while ((j = p->running) != NULL) {
    p->running = j->next;
    (void)kill_group(j->pid);
    job_free(j);
  }
  while ((j = queue_take(&p->waiting)) != NULL) job_free(j);
  while ((j = queue_take(&p->done)) != NULL) job_free(j);
  p->nrunning = p->count = 0;
}

void pool_free(pool *p) {
  pool_kill(p);
  free(p->fds);
  free(p);
}

/* ---- one long-lived child ---- */

struct child {
  pid_t pid;
  int in, out, ended, status; /* in: its stdin; out: its stdout, -1 at the end of it */
  buf text;                   /* received, not yet handed out */
};

child *child_start(const proc_spec *s, const char *err_path, buf *why) {
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err = STDERR_FILENO;
  child *c = NULL;
  if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0) {
    buf_addf(why, "cannot make a pipe: %s", strerror(errno));
  } else if (err_path &&
             (err = open(err_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) < 0) {
    buf_addf(why, "cannot open '%s': %s", err_path, strerror(errno));
  } else {
    pid_t pid = start(s, (int[]){in[0], out[1], err}, why);
    if (pid > 0) {
      c = util_malloc(sizeof *c);
      *c = (child){.pid = pid, .in = in[1], .out = out[0]};
      set_nonblocking(in[1]);
      set_nonblocking(out[0]);
      in[1] = out[0] = -1;
    }
  }
  if (err_path) close_fd(&err);
  for (int i = 0; i < 2; i++) {
    close_fd(&in[i]);
    close_fd(&out[i]);
  }
  return c;
}

pid_t child_pid(const child *c) { return c->pid; }

/* Takes what it has written and notices its end.  After the end there is no more output, even
 * if somebody else holds the pipe. */
static void child_look(child *c) {
  if (!c->ended) c->ended = reap(c->pid, &c->status);
  if (c->out >= 0 && (!drain(c->out, &c->text) || c->ended)) close_fd(&c->out);
}

int child_send(child *c, const char *text, size_t len) {
  sigset_t inside, before;
  double until = util_now() + SEND_PATIENCE;
  int result = CHILD_OK;
  hold_signals(&inside, &before);
  while (len > 0 && result == CHILD_OK) {
    ssize_t n = c->in >= 0 ? write(c->in, text, len) : 0;
    if (n > 0) {
      text += n;
      len -= (size_t)n;
    } else if (n == 0 || errno != EAGAIN) {
      result = CHILD_EOF;
    } else if (interrupted) {
      result = CHILD_INTERRUPTED;
    } else if (util_now() >= until) {
      result = CHILD_TIMEOUT;
    } else {
      doze(&(struct pollfd){.fd = c->in, .events = POLLOUT}, 1, until, &inside);
    }
  }
  release_signals(&before);
  return result;
}

int child_recv(child *c, double seconds, buf *line) {
  sigset_t inside, before;
  double until = seconds < 0 ? -1 : util_now() + seconds;
  int result = -1;
  hold_signals(&inside, &before);
  while (result < 0) {
    child_look(c);
    char *end = c->text.len ? memchr(c->text.data, '\n', c->text.len) : NULL;
    if (end) {
      size_t len = (size_t)(end - c->text.data);
      buf_add(line, c->text.data, len);
      buf_drop(&c->text, len + 1);
      result = CHILD_OK;
    } else if (c->out < 0) {
      result = CHILD_EOF; /* half a line is no line */
    } else if (interrupted) {
      result = CHILD_INTERRUPTED;
    } else if (until >= 0 && util_now() >= until) {
      result = CHILD_TIMEOUT;
    } else {
      doze(&(struct pollfd){.fd = c->out, .events = POLLIN}, 1, until, &inside);
    }
  }
  release_signals(&before);
  return result;
}

int child_kill(child *c) {
  if (!c->ended) c->status = kill_group(c->pid);
  c->ended = 1;
  close_fd(&c->in);
  close_fd(&c->out);
  return c->status;
}

int child_close(child *c) {
  sigset_t inside, before;
  double until = util_now() + CLOSE_PATIENCE;
  close_fd(&c->in);
  hold_signals(&inside, &before);
  for (;;) {
    child_look(c);
    buf_clear(&c->text);
    if (c->ended || util_now() >= until) break;
    doze(&(struct pollfd){.fd = c->out, .events = POLLIN}, 1, until, &inside);
  }
  release_signals(&before);
  return child_kill(c);
}

void child_free(child *c) {
  child_kill(c);
  buf_free(&c->text);
  free(c);
}
