/* host_log.c -- host.log: a file that one process appends to.
 *
 * Every added text is on the disk when add returns, and never mixed with another's: the file is
 * locked (flock) as long as the object lives.  The kernel drops the lock with the process, also
 * after a kill -9, and children that are executed do not inherit it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "host.h"
#include "util.h"

#define LOG "loom.log"

/* The descriptor, -1 when closed. */
static int *check_log(lua_State *L) {
  int *fd = luaL_checkudata(L, 1, LOG);
  luaL_argcheck(L, *fd >= 0, 1, "the log is closed");
  return fd;
}

static int result(lua_State *L, int rc, const char *what) {
  if (rc >= 0) {
    lua_pushboolean(L, 1);
    return 1;
  }
  int err = errno;
  lua_getiuservalue(L, 1, 1);
  return host_fail(L, what, lua_tostring(L, -1), err);
}

/* log:add(text) -> true | nil, error; appended and on the disk */
static int add(lua_State *L) {
  int *fd = check_log(L);
  size_t len;
  const char *text = luaL_checklstring(L, 2, &len);
  return result(L, util_write(*fd, text, len) < 0 ? -1 : fdatasync(*fd), "append to");
}

/* log:cut(size) -> true | nil, error; drops what stands behind the first size bytes */
static int cut(lua_State *L) {
  int *fd = check_log(L);
  lua_Integer size = luaL_checkinteger(L, 2);
  luaL_argcheck(L, size >= 0, 2, "a negative size");
  return result(L, ftruncate(*fd, (off_t)size) < 0 ? -1 : fdatasync(*fd), "cut");
}

static int close_log(lua_State *L) {
  int *fd = luaL_checkudata(L, 1, LOG);
  if (*fd >= 0) close(*fd); /* nothing is buffered: add has told of every error */
  *fd = -1;
  return 0;
}

static const luaL_Reg methods[] = {
    {"add", add},           {"cut", cut},        {"close", close_log},
    {"__close", close_log}, {"__gc", close_log}, {NULL, NULL},
};

int host_log(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  int *fd = lua_newuserdatauv(L, sizeof *fd, 1);
  *fd = -1;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  if (luaL_newmetatable(L, LOG)) {
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
  *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (*fd < 0) return host_fail(L, "open", path, errno);
  if (flock(*fd, LOCK_EX | LOCK_NB) == 0) return 1;
  if (errno != EWOULDBLOCK) return host_fail(L, "lock", path, errno);
  lua_pushnil(L);
  lua_pushliteral(L, "locked");
  return 2;
}
