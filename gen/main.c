/* main.c -- the loom program: finds the project, opens Lua, runs lua/main.lua.
 *
 * All policy is Lua; what C offers to it is the table `host` (host.h).  The state gets only the
 * libraries that are needed: no io, no os.  An error that arrives here is a fault of loom itself
 * (lua/main.lua prints those of users), so it is shown with its traceback.
 *
 * `loom --script FILE args...` runs another Lua file instead of lua/main.lua; for tests.
 */
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lualib.h>

#include "host.h"
#include "proc.h"
#include "util.h"

/* Lua's allocator: counts, and refuses to grow beyond the limit.  Lua then collects garbage,
 * asks again, and throws "not enough memory". */
static void *allocate(void *ud, void *ptr, size_t osize, size_t nsize) {
  heap *h = ud;
  size_t old = ptr ? osize : 0; /* else osize tells the kind of object */
  if (nsize == 0) {
    free(ptr);
    h->used -= old;
    return NULL;
  }
  if (nsize > old && h->limit && h->used + (nsize - old) > h->limit) return NULL;
  void *p = realloc(ptr, nsize);
  if (p) h->used = h->used - old + nsize;
  return p;
}

static void open_libraries(lua_State *L) {
  static const luaL_Reg libraries[] = {
      {LUA_GNAME, luaopen_base},          {LUA_LOADLIBNAME, luaopen_package},
      {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
      {LUA_STRLIBNAME, luaopen_string},   {LUA_MATHLIBNAME, luaopen_math},
      {LUA_UTF8LIBNAME, luaopen_utf8},    {LUA_DBLIBNAME, luaopen_debug},
  };
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
    lua_pop(L, 1);
  }
}

/* `require` looks into <root>/lua and nowhere else, so that nothing installed gets in. */
static void set_paths(lua_State *L, const char *root) {
  lua_getglobal(L, LUA_LOADLIBNAME);
  lua_pushfstring(L, "%s/lua/?.lua", root);
  lua_setfield(L, -2, "path");
  lua_pushliteral(L, "");
  lua_setfield(L, -2, "cpath");
  lua_pop(L, 1);
}

/* Cuts path to the nearest folder at or above it that holds lua/main.lua; true if there is. */
static int walk_up(char *path) {
  char probe[PATH_MAX + 16];
  for (;;) {
    snprintf(probe, sizeof probe, "%s/lua/main.lua", path);
    if (access(probe, R_OK) == 0) return 1;
    char *slash = strrchr(path, '/');
    if (!slash) return 0;
    *slash = 0;
  }
}

/* The project that the user stands in, else the one the program was built in: a loom from elsewhere
 * (LOOM=path) must not work on another checkout. */
static int find_root(char *root) {
  if (getcwd(root, PATH_MAX) && walk_up(root)) return 1;
  ssize_t n = readlink("/proc/self/exe", root, PATH_MAX - 1);
  if (n <= 0) return 0;
  root[n] = 0;
  return walk_up(root);
}

/* Message handler: adds where it happened, unless it is a user's error (a table). [-1, +1] */
static int add_traceback(lua_State *L) {
  if (lua_istable(L, 1)) {
    if (lua_getfield(L, 1, "user") == LUA_TSTRING) return 1;
    lua_pop(L, 1);
  }
  const char *text = luaL_tolstring(L, 1, NULL);
  lua_pushfstring(L, "internal error: %s", text);
  luaL_traceback(L, L, lua_tostring(L, -1), 1);
  return 1;
}

typedef struct start {
  const char *root, *script;
  int argc;
  char **argv;
} start;

/* Runs the script with its arguments; leaves its exit code on the stack.  [-1, +1] */
static int run(lua_State *L) {
  const start *s = lua_touserdata(L, 1);
  open_libraries(L);
  set_paths(L, s->root);
  host_open(L, s->root);
  lua_pushcfunction(L, add_traceback);
  if (s->script)
    lua_pushstring(L, s->script);
  else
    lua_pushfstring(L, "%s/lua/main.lua", s->root);
  int bad = luaL_loadfilex(L, lua_tostring(L, -1), "t");
  luaL_checkstack(L, s->argc, "too many arguments");
  for (int i = 0; !bad && i < s->argc; i++) lua_pushstring(L, s->argv[i]);
  if (!bad) bad = lua_pcall(L, s->argc, 1, 2);
  if (bad) {
    fprintf(stderr, "loom: %s\n", lua_tostring(L, -1));
    lua_pushinteger(L, 1);
  }
  return 1;
}

int main(int argc, char **argv) {
  static char root[PATH_MAX];
  int script = argc > 2 && strcmp(argv[1], "--script") == 0, skip = script ? 3 : 1;
  start s = {root, script ? argv[2] : NULL, argc - skip, argv + skip};
  if (argc < 1) return 2;
  setlocale(LC_ALL, "C");
  proc_init();
  if (!find_root(root)) {
    if (!script) util_die("cannot find the project: no 'lua/main.lua' above loom or here");
    if (!getcwd(root, sizeof root)) util_die("cannot tell the current folder");
  }
  heap h = {0, 0};
  lua_State *L = lua_newstate(allocate, &h);
  if (!L) util_die("no memory for Lua");
  lua_pushcfunction(L, run);
  lua_pushlightuserdata(L, &s);
  int code = lua_pcall(L, 1, 1, 0) == LUA_OK ? (int)lua_tointeger(L, -1) : 1;
  if (lua_type(L, -1) == LUA_TSTRING) fprintf(stderr, "loom: %s\n", lua_tostring(L, -1));
  h.limit = 0; /* finalizers shall not lack memory */
  lua_close(L);
  return code;
}
