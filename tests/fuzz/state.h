/* state.h -- a Lua state as loom makes it, for the fuzz targets that run Lua.
 *
 * It is gen/main.c's own state, limits included.  Each target is a Lua file beside this one: a
 * function of the input, which raises an error for what must not happen.  libFuzzer sees only C
 * code; what the Lua code of the project did is told to it by a hook, one counter a line.
 */
#ifndef LOOM_FUZZ_STATE_H
#define LOOM_FUZZ_STATE_H

#define main loom_main
#include "../../gen/main.c"
#undef main

enum { COUNTERS = 1 << 14 };

__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t counters[COUNTERS];

/* Not looked at itself: it would be most of what libFuzzer sees. */
__attribute__((no_sanitize("address", "undefined", "coverage"))) static void
on_event(lua_State *L, lua_Debug *ar) {
  if (ar->event == LUA_HOOKCOUNT) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, L) == LUA_TFUNCTION)
      lua_call(L, 0, 0);
    else
      lua_pop(L, 1);
    return;
  }
  lua_getinfo(L, "S", ar);
  if (ar->source[0] != '@') return; /* the input's own lines */
  uint8_t *c = &counters[((uintptr_t)ar->source / 16 * 31 + (uintptr_t)ar->currentline) % COUNTERS];
  if (*c < 255) ++*c;
}

/* debug.sethook([thread,] hook, "", count): as Lua's, and the lines are still counted.  The thread's
 * address is the registry's key of its hook. */
static int set_hook(lua_State *L) {
  lua_State *to = L;
  if (lua_isthread(L, 1)) {
    to = lua_tothread(L, 1);
    lua_remove(L, 1);
  }
  int count = (int)luaL_optinteger(L, 3, 0);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, to);
  lua_sethook(to, on_event, LUA_MASKLINE | (count > 0 ? LUA_MASKCOUNT : 0), count);
  return 0;
}

/* Pushes the function that the Lua file returns.  [-0, +1] */
static void load_driver(lua_State *L, const char *root, const char *path) {
  open_libraries(L);
  set_paths(L, root);
  host_open(L, root);
  lua_getglobal(L, "debug");
  lua_pushcfunction(L, set_hook);
  lua_setfield(L, -2, "sethook");
  lua_pop(L, 1);
  lua_sethook(L, on_event, LUA_MASKLINE, 0);
  lua_pushfstring(L, "%s/%s", root, path);
  if (luaL_loadfilex(L, lua_tostring(L, -1), "t") != LUA_OK || lua_pcall(L, 0, 1, 0) != LUA_OK)
    util_die("%s", lua_tostring(L, -1));
}

/* Gives the input to the driver; ends the program when that raises an error.  ROOT is the folder of
 * the project, from the command line of the compiler. */
static void drive(const char *path, const uint8_t *data, size_t size) {
  static lua_State *L;
  static heap h;
  if (!L) {
    L = lua_newstate(allocate, &h);
    load_driver(L, ROOT, path);
  }
  lua_pushcfunction(L, add_traceback);
  lua_pushvalue(L, -2);
  lua_pushlstring(L, (const char *)data, size);
  if (lua_pcall(L, 1, 0, -3) != LUA_OK) {
    fprintf(stderr, "FINDING: %s\n", lua_tostring(L, -1));
    abort();
  }
  lua_pop(L, 1);
}

#endif
