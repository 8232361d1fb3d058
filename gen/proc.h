/* proc.h -- child processes: a pool of many with captured output, and one to talk to.
 *
 * Every child leads its own process group, which is killed as a whole: at the timeout, when the
 * pool or the child object is freed, and after the leader has exited (what it left behind).  The
 * kernel kills the leader should loom itself be killed.  All descriptors are close-on-exec.
 * Plain C; host_proc.c binds it to Lua.
 */
#ifndef LOOM_PROC_H
#define LOOM_PROC_H

#include <sys/types.h>

#include "buf.h"

/* Signals: ignores SIGPIPE, lets SIGCHLD and SIGINT interrupt a wait.  The first SIGINT sets a
 * flag, a second one kills.  Also makes sure that descriptors 0 to 2 exist. */
void proc_init(void);
int proc_interrupted(void);

/* What to run.  argv and env are strings each with its 0, one after the other; env holds
 * "NAME=value" to add.  cwd may be NULL. */
typedef struct proc_spec {
  buf argv, env;
  char *cwd;
} proc_spec;

void proc_spec_free(proc_spec *s);

/* One process of a pool; after the wait: how it ended (waitpid's status) and what it wrote. */
typedef struct job {
  long id;
  proc_spec spec;
  double timeout, began, seconds; /* timeout 0: none */
  pid_t pid;
  int fd, status, timed_out;
  size_t dropped; /* bytes of output beyond the limit */
  buf output;
  struct job *next;
} job;

typedef struct pool pool;

pool *pool_new(int jobs);
/* Queues a process and starts it when there is a free place.  Takes over what spec holds;
 * returns the id that the finished job will have. */
long pool_submit(pool *p, proc_spec *spec, double timeout);
/* Waits for a process to finish, at most so many seconds (below 0: for ever).  NULL: none did,
 * none is there, or SIGINT came.  The caller frees the job. */
job *pool_wait(pool *p, double seconds);
/* How many are queued, running, or finished but not yet handed out. */
int pool_pending(const pool *p);
/* Kills what runs and forgets everything. */
void pool_kill(pool *p);
void pool_free(pool *p);
void job_free(job *j);

/* A long-lived process; lines go in and come out. */
typedef struct child child;

enum { CHILD_OK, CHILD_TIMEOUT, CHILD_EOF, CHILD_INTERRUPTED };

/* Starts it; stderr is appended to the file err_path, or inherited.  NULL: the text in why. */
child *child_start(const proc_spec *s, const char *err_path, buf *why);
pid_t child_pid(const child *c);
/* Sends text as it is; one of CHILD_*.  A child that does not read for 10 s is a timeout. */
int child_send(child *c, const char *text, size_t len);
/* The next line without its newline into `line`; one of CHILD_*. */
int child_recv(child *c, double seconds, buf *line);
/* Ends it, politely (closes its input and waits 2 s) or at once; waitpid's status. */
int child_close(child *c);
int child_kill(child *c);
void child_free(child *c);

#endif
