/* host_proc.c -- host's processes: the pool and the long-lived child of proc.h as Lua objects.
 *
 * A pool keeps the tags of its jobs in a table (its user value), by the job's id.  Both objects
 * kill what they started when they are collected or the state is closed.
 */
#include <string.h>
#include <sys/wait.h>

#include "host.h"
#include "proc.h"

#define POOL "loom.pool"
#define CHILD "loom.child"
#define SPEC "loom.spec"

/* ---- what to run, read from a table ---- */

static int spec_gc(lua_State *L) {
  proc_spec_free(lua_touserdata(L, 1));
  return 0;
}

/* Appends the strings of the array in field `name` of the table at `arg`; their number. */
static int read_strings(lua_State *L, int arg, const char *name, buf *b) {
  int n = 0;
  if (lua_getfield(L, arg, name) != LUA_TNIL) {
    if (!lua_istable(L, -1)) luaL_error(L, "'%s' is not an array of strings", name);
    for (; lua_rawgeti(L, -1, n + 1) != LUA_TNIL; n++) {
      size_t len;
      const char *s = lua_tolstring(L, -1, &len);
      if (!s || strlen(s) != len) luaL_error(L, "'%s[%d]' is not a string", name, n + 1);
      buf_add(b, s, len + 1);
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return n;
}

/* Refuses a field that is not in the list: a misspelt timeout would be no timeout. */
static void check_fields(lua_State *L, int arg, const char *const *known) {
  for (lua_pushnil(L); lua_next(L, arg) != 0; lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "?";
    int i = 0;
    while (known[i] && strcmp(known[i], key) != 0) i++;
    if (!known[i]) luaL_error(L, "unknown field '%s'", key);
  }
}

/* Reads argv, env and cwd of the table at arg into an object that Lua frees.  [-0, +1] */
static proc_spec *read_spec(lua_State *L, int arg) {
  proc_spec *s = lua_newuserdatauv(L, sizeof *s, 0);
  *s = (proc_spec){0};
  if (luaL_newmetatable(L, SPEC)) {
    lua_pushcfunction(L, spec_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  if (read_strings(L, arg, "argv", &s->argv) == 0) luaL_error(L, "'argv' is missing or empty");
  read_strings(L, arg, "env", &s->env);
  for (size_t i = 0; i < s->env.len; i += strlen(s->env.data + i) + 1)
    if (!strchr(s->env.data + i, '=')) luaL_error(L, "'env' wants NAME=value");
  if (lua_getfield(L, arg, "cwd") != LUA_TNIL) {
    buf path = {0};
    const char *cwd = lua_tostring(L, -1);
    if (!cwd) luaL_error(L, "'cwd' is not a string");
    buf_adds(&path, cwd);
    s->cwd = path.data;
  }
  lua_pop(L, 1);
  return s;
}

/* A number of seconds, or none: -1.  "for ever" must be asked for by leaving it out. */
static double check_seconds(lua_State *L, int arg) {
  if (lua_isnoneornil(L, arg)) return -1;
  double s = luaL_checknumber(L, arg);
  luaL_argcheck(L, s >= 0, arg, "seconds, 0 or more");
  return s;
}

/* Pushes code and signal of waitpid's status; one of them is nil.  [-0, +2] */
static void push_status(lua_State *L, int status) {
  if (WIFSIGNALED(status)) {
    lua_pushnil(L);
    lua_pushinteger(L, WTERMSIG(status));
  } else {
    lua_pushinteger(L, WEXITSTATUS(status));
    lua_pushnil(L);
  }
}

/* Makes a metatable with these methods once.  [-0, +1] */
static void push_class(lua_State *L, const char *name, const luaL_Reg *methods) {
  if (!luaL_newmetatable(L, name)) return;
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
}

/* ---- the pool ---- */

static pool *check_pool(lua_State *L) {
  pool **p = luaL_checkudata(L, 1, POOL);
  if (!*p) luaL_error(L, "the pool is closed");
  return *p;
}

/* p:submit{argv=, timeout=, tag=, cwd=, env=} */
static int submit(lua_State *L) {
  static const char *const fields[] = {"argv", "timeout", "tag", "cwd", "env", NULL};
  pool *p = check_pool(L);
  luaL_checktype(L, 2, LUA_TTABLE);
  check_fields(L, 2, fields);
  int isnum = 1;
  lua_Number timeout = 0;
  if (lua_getfield(L, 2, "timeout") != LUA_TNIL) timeout = lua_tonumberx(L, -1, &isnum);
  if (!isnum || !(timeout >= 0)) luaL_error(L, "'timeout' is not a number of seconds");
  proc_spec *s = read_spec(L, 2);
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, 2, "tag");
  lua_rawseti(L, -2, pool_submit(p, s, timeout));
  return 0;
}

/* A finished job waits here while its result is made, which may run out of memory. */
static int job_gc(lua_State *L) {
  job **j = lua_touserdata(L, 1);
  if (*j) job_free(*j);
  *j = NULL;
  return 0;
}

static const luaL_Reg job_methods[] = {{"__gc", job_gc}, {NULL, NULL}};

/* p:wait(seconds) -> {tag=, code=, signal=, timeout=, output=, seconds=} | nil */
static int wait_pool(lua_State *L) {
  pool *p = check_pool(L);
  double seconds = check_seconds(L, 2);
  job **slot = lua_newuserdatauv(L, sizeof *slot, 0);
  *slot = NULL;
  push_class(L, "loom.job", job_methods);
  lua_setmetatable(L, -2);
  job *j = *slot = pool_wait(p, seconds);
  if (!j) return 0;
  lua_createtable(L, 0, 6);
  lua_getiuservalue(L, 1, 1);
  lua_rawgeti(L, -1, j->id);
  lua_setfield(L, -3, "tag");
  lua_pushnil(L);
  lua_rawseti(L, -2, j->id);
  lua_pop(L, 1);
  push_status(L, j->status);
  lua_setfield(L, -3, "signal");
  lua_setfield(L, -2, "code");
  lua_pushboolean(L, j->timed_out);
  lua_setfield(L, -2, "timeout");
  lua_pushlstring(L, j->output.data ? j->output.data : "", j->output.len);
  lua_setfield(L, -2, "output");
  lua_pushnumber(L, j->seconds);
  lua_setfield(L, -2, "seconds");
  job_free(j);
  *slot = NULL;
  return 1;
}

/* p:pending() -> jobs whose result has not been handed out */
static int pending(lua_State *L) {
  lua_pushinteger(L, pool_pending(check_pool(L)));
  return 1;
}

/* p:kill(): kills and forgets all jobs; the pool may be used again */
static int kill_pool(lua_State *L) {
  pool_kill(check_pool(L));
  lua_newtable(L);
  lua_setiuservalue(L, 1, 1);
  return 0;
}

/* p:close(), also when collected */
static int close_pool(lua_State *L) {
  pool **p = luaL_checkudata(L, 1, POOL);
  if (*p) pool_free(*p);
  *p = NULL;
  return 0;
}

static const luaL_Reg pool_methods[] = {
    {"submit", submit},    {"wait", wait_pool},     {"pending", pending}, {"kill", kill_pool},
    {"close", close_pool}, {"__close", close_pool}, {"__gc", close_pool}, {NULL, NULL},
};

/* pool(jobs) */
static int new_pool(lua_State *L) {
  lua_Integer jobs = luaL_checkinteger(L, 1);
  luaL_argcheck(L, jobs >= 1 && jobs <= 4096, 1, "1 to 4096 jobs");
  pool **p = lua_newuserdatauv(L, sizeof *p, 1);
  *p = NULL;
  push_class(L, POOL, pool_methods);
  lua_setmetatable(L, -2);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  *p = pool_new((int)jobs);
  return 1;
}

/* ---- the child ---- */

static child *check_child(lua_State *L) { return *(child **)luaL_checkudata(L, 1, CHILD); }

/* Pushes nil and the word for a CHILD_* that is not OK.  [-0, +2] */
static int push_why(lua_State *L, int result) {
  static const char *const words[] = {
      [CHILD_TIMEOUT] = "timeout",
      [CHILD_EOF] = "eof",
      [CHILD_INTERRUPTED] = "interrupted",
  };
  lua_pushnil(L);
  lua_pushstring(L, words[result]);
  return 2;
}

/* c:send(line) -> true | nil, "timeout"|"eof"|"interrupted" */
static int send_line(lua_State *L) {
  child *c = check_child(L);
  size_t len;
  const char *line = luaL_checklstring(L, 2, &len);
  luaL_argcheck(L, !memchr(line, '\n', len), 2, "one line, without its end");
  buf *b = host_scratch(L);
  buf_add(b, line, len);
  buf_adds(b, "\n");
  int result = child_send(c, b->data, b->len);
  if (result != CHILD_OK) return push_why(L, result);
  lua_pushboolean(L, 1);
  return 1;
}

/* c:recv(seconds) -> line | nil, "timeout"|"eof"|"interrupted" */
static int recv_line(lua_State *L) {
  child *c = check_child(L);
  double seconds = check_seconds(L, 2);
  buf *line = host_scratch(L);
  int result = child_recv(c, seconds, line);
  if (result != CHILD_OK) return push_why(L, result);
  lua_pushlstring(L, line->data, line->len);
  return 1;
}

/* c:kill() -> code, signal: at once */
static int kill_child(lua_State *L) {
  push_status(L, child_kill(check_child(L)));
  return 2;
}

/* c:close() -> code, signal: closes its input, waits 2 s, then kills */
static int close_child(lua_State *L) {
  push_status(L, child_close(check_child(L)));
  return 2;
}

/* c:pid() */
static int pid(lua_State *L) {
  lua_pushinteger(L, child_pid(check_child(L)));
  return 1;
}

static int gc_child(lua_State *L) {
  child **c = luaL_checkudata(L, 1, CHILD);
  if (*c) child_free(*c);
  *c = NULL;
  return 0;
}

static const luaL_Reg child_methods[] = {
    {"send", send_line},     {"recv", recv_line}, {"kill", kill_child}, {"close", close_child},
    {"__close", kill_child}, {"pid", pid},        {"__gc", gc_child},   {NULL, NULL},
};

/* spawn{argv=, env=, cwd=, stderr=} -> child, or throws */
static int spawn(lua_State *L) {
  static const char *const fields[] = {"argv", "env", "cwd", "stderr", NULL};
  luaL_checktype(L, 1, LUA_TTABLE);
  check_fields(L, 1, fields);
  lua_settop(L, 1);
  if (lua_getfield(L, 1, "stderr") != LUA_TNIL && !lua_isstring(L, -1))
    luaL_error(L, "'stderr' is not a path");
  const char *err_path = lua_tostring(L, -1);
  child **c = lua_newuserdatauv(L, sizeof *c, 0);
  *c = NULL;
  push_class(L, CHILD, child_methods);
  lua_setmetatable(L, -2);
  proc_spec *s = read_spec(L, 1);
  buf *why = host_scratch(L);
  *c = child_start(s, err_path, why);
  if (!*c) return luaL_error(L, "%s", why->data);
  lua_pushvalue(L, 3);
  return 1;
}

const luaL_Reg host_proc_functions[] = {{"pool", new_pool}, {"spawn", spawn}, {NULL, NULL}};
