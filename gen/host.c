/* host.c -- the `host` table: registration, and the functions that are a few lines each.
 *
 * Everything that a Lua error could leak lives in a userdata with __gc: an error thrown by Lua
 * jumps over C frames.
 */
#include "host.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "db.h"
#include "proc.h"
#include "stat.h"
#include "util.h"

/* ---- what the other parts of host use ---- */

static int scratch_gc(lua_State *L) {
  buf_free(lua_touserdata(L, 1));
  return 0;
}

buf *host_scratch(lua_State *L) {
  buf *b = lua_newuserdatauv(L, sizeof *b, 0);
  *b = (buf){0};
  if (luaL_newmetatable(L, "loom.scratch")) {
    lua_pushcfunction(L, scratch_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return b;
}

int host_fail(lua_State *L, const char *what, const char *path, int err) {
  lua_pushnil(L);
  lua_pushfstring(L, "cannot %s '%s': %s", what, path, strerror(err));
  return 2;
}

/* ---- small functions; each is host.<name>(arguments) -> results ---- */

/* sha256(text) -> 64 hex digits */
static int sha256(lua_State *L) {
  size_t len;
  const char *text = luaL_checklstring(L, 1, &len);
  char hex[SHA256_DIGEST_STRING_LENGTH];
  SHA256Data((const uint8_t *)text, len, hex);
  lua_pushstring(L, hex);
  return 1;
}

/* isatty(fd) -> bool */
static int is_tty(lua_State *L) {
  lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
  return 1;
}

/* columns() -> width of the terminal on stderr, else COLUMNS, else 80 */
static int columns(lua_State *L) {
  struct winsize w;
  const char *env = getenv("COLUMNS");
  int n = 0;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0) n = w.ws_col;
  if (n <= 0 && env) n = atoi(env);
  lua_pushinteger(L, n > 0 ? n : 80);
  return 1;
}

/* now() -> seconds, monotonic */
static int now(lua_State *L) {
  lua_pushnumber(L, util_now());
  return 1;
}

/* time() -> seconds since 1970, for stored rows */
static int unix_time(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)time(NULL));
  return 1;
}

/* cpus() -> how many this process may use */
static int cpus(lua_State *L) {
  cpu_set_t set;
  int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  if (n < 1) n = (int)sysconf(_SC_NPROCESSORS_ONLN);
  lua_pushinteger(L, n > 0 ? n : 1);
  return 1;
}

/* getenv(name) -> value | nil */
static int get_env(lua_State *L) {
  lua_pushstring(L, getenv(luaL_checkstring(L, 1)));
  return 1;
}

/* interrupted() -> bool: there was a SIGINT, SIGTERM or SIGHUP */
static int was_interrupted(lua_State *L) {
  lua_pushboolean(L, proc_interrupted());
  return 1;
}

/* cpu() -> seconds that this thread has worked; other processes do not count */
static int cpu(lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  lua_pushnumber(L, (lua_Number)t.tv_sec + 1e-9 * (lua_Number)t.tv_nsec);
  return 1;
}

/* memory(bytes|0): from now on the Lua heap may grow by that much at most */
static int memory(lua_State *L) {
  lua_Integer bytes = luaL_checkinteger(L, 1);
  luaL_argcheck(L, bytes >= 0, 1, "a number of bytes, or 0 for no limit");
  void *ud;
  lua_getallocf(L, &ud);
  heap *h = ud;
  h->limit = bytes ? h->used + (size_t)bytes : 0;
  return 0;
}

/* out(text): to stdout.  A reader that went away ends the program without a word, as for
 * `loom space | head`; lua_close lets pools and children kill what they started. */
static int out(lua_State *L) {
  size_t len;
  const char *text = luaL_checklstring(L, 1, &len);
  if (util_write(STDOUT_FILENO, text, len) == 0) return 0;
  if (errno != EPIPE) return luaL_error(L, "cannot write to stdout: %s", strerror(errno));
  lua_close(L);
  exit(1);
}

/* err(text): to stderr; there is nobody to tell when that fails */
static int err(lua_State *L) {
  size_t len;
  const char *text = luaL_checklstring(L, 1, &len);
  (void)util_write(STDERR_FILENO, text, len);
  return 0;
}

/* line() -> the next line of stdin without its end | nil at the end of it */
static int line(lua_State *L) {
  buf *b = host_scratch(L);
  int c;
  while ((c = getc(stdin)) != EOF && c != '\n') buf_add(b, &(char){(char)c}, 1);
  if (c == EOF && b->len == 0) return 0;
  lua_pushlstring(L, b->data ? b->data : "", b->len);
  return 1;
}

/* The number at t[i], which must be one and finite; 'arg' is the table's place among the arguments. */
static double number_at(lua_State *L, int arg, lua_Integer i) {
  lua_geti(L, arg, i);
  double v = lua_tonumber(L, -1);
  luaL_argcheck(L, lua_type(L, -1) == LUA_TNUMBER && isfinite(v), arg,
                "not all are finite numbers");
  lua_pop(L, 1);
  return v;
}

/* bootstrap(values, sizes, level) -> mid, lo, hi: the median of the values and its interval of a
 * level (0.5 to 0.999), resampled over groups, then within them: the first sizes[1] values are one
 * group, the next sizes[2] another.  The same values give the same interval. */
static int bootstrap(lua_State *L) {
  double v[STAT_MAX];
  int size[STAT_GROUPS], sum = 0;
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_Integer n = luaL_len(L, 1), groups = luaL_len(L, 2);
  double level = luaL_checknumber(L, 3);
  luaL_argcheck(L, n >= 1 && n <= STAT_MAX, 1, "1 to 4096 values");
  luaL_argcheck(L, groups >= 1 && groups <= STAT_GROUPS, 2, "1 to 64 groups");
  luaL_argcheck(L, level >= 0.5 && level <= 0.999, 3, "a level from 0.5 to 0.999");
  for (int i = 0; i < n; i++) v[i] = number_at(L, 1, i + 1);
  for (int g = 0; g < groups; g++) {
    double s = number_at(L, 2, g + 1);
    luaL_argcheck(L, s >= 1 && s <= STAT_MAX && s == (int)s, 2, "a group's size is no count");
    size[g] = (int)s;
    sum += size[g]; /* at most 64 * 4096 */
  }
  luaL_argcheck(L, sum == n, 2, "the sizes do not add up to the number of values");
  struct stat_interval s = stat_bootstrap_groups(v, size, (int)groups, level);
  lua_pushnumber(L, s.mid);
  lua_pushnumber(L, s.lo);
  lua_pushnumber(L, s.hi);
  return 3;
}

/* verdict(lo, hi) -> "FASTER", "SLOWER", "SAME" or "UNDECIDED": what an interval of ln(base / ours) says */
static int verdict(lua_State *L) {
  struct stat_interval s = {.lo = luaL_checknumber(L, 1), .hi = luaL_checknumber(L, 2)};
  lua_pushstring(L, stat_word(stat_judge(s)));
  return 1;
}

static const luaL_Reg functions[] = {
    {"sha256", sha256},
    {"isatty", is_tty},
    {"columns", columns},
    {"now", now},
    {"cpu", cpu},
    {"time", unix_time},
    {"cpus", cpus},
    {"getenv", get_env},
    {"memory", memory},
    {"interrupted", was_interrupted},
    {"out", out},
    {"err", err},
    {"template", host_template},
    {"log", host_log},
    {"db", db_open},
    {"gzip", host_gzip},
    {"gunzip", host_gunzip},
    {"bootstrap", bootstrap},
    {"verdict", verdict},
    {"line", line},
    {NULL, NULL},
};

void host_open(lua_State *L, const char *root) {
  lua_newtable(L);
  luaL_setfuncs(L, functions, 0);
  luaL_setfuncs(L, host_file_functions, 0);
  luaL_setfuncs(L, host_proc_functions, 0);
  char exe[PATH_MAX];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);
  lua_pushlstring(L, exe, n > 0 ? (size_t)n : 0);
  lua_setfield(L, -2, "exe");
  lua_pushstring(L, root);
  lua_setfield(L, -2, "root");
  lua_pushliteral(L, LOOM_VERSION);
  lua_setfield(L, -2, "version");
  lua_setglobal(L, "host");
}
