/* db.c -- the binding to SQLite: four verbs over prepared statements.
 *
 * WAL and a busy timeout, because several loom processes share a store.  Every commit is on the disk
 * before it returns: a kernel may take the machine down, and the row that says so has to be there.  A
 * statement hangs on a userdata while Lua values are made, so that an error cannot leave it open.
 */
#include "db.h"

#include <lauxlib.h>
#include <sqlite3.h>
#include <string.h>

#define DB "loom.db"
#define STATEMENT "loom.statement"

enum { BUSY_MS = 10000, WAIT_MS = 10 };
enum { WRITE, READ, STILL }; /* as in modes[] */

typedef struct db {
  sqlite3 *handle;
} db;

/* Throws the connection's last error; the path is the object's user value. */
static int fail(lua_State *L, int self, const char *text) {
  lua_getiuservalue(L, self, 1);
  return luaL_error(L, "db '%s': %s", lua_tostring(L, -1), text);
}

static db *check_db(lua_State *L) {
  db *d = luaL_checkudata(L, 1, DB);
  if (!d->handle) fail(L, 1, "is closed");
  return d;
}

static int statement_gc(lua_State *L) {
  sqlite3_stmt **s = lua_touserdata(L, 1);
  sqlite3_finalize(*s);
  *s = NULL;
  return 0;
}

/* A slot for a statement, closed by Lua in the worst case.  [-0, +1] */
static sqlite3_stmt **new_statement(lua_State *L) {
  sqlite3_stmt **s = lua_newuserdatauv(L, sizeof *s, 0);
  *s = NULL;
  if (luaL_newmetatable(L, STATEMENT)) {
    lua_pushcfunction(L, statement_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return s;
}

/* Finalizes first, then throws. */
static int fail_statement(lua_State *L, sqlite3_stmt **s, const char *text) {
  lua_pushstring(L, text); /* finalizing may change the text */
  sqlite3_finalize(*s);
  *s = NULL;
  return fail(L, 1, lua_tostring(L, -1));
}

/* Binds the Lua value on the top to parameter i; SQLite's code, or -1 for a wrong type. */
static int bind_value(lua_State *L, sqlite3_stmt *s, int i) {
  size_t len;
  const char *text;
  switch (lua_type(L, -1)) {
  case LUA_TNIL:
    return sqlite3_bind_null(s, i);
  case LUA_TBOOLEAN:
    return sqlite3_bind_int(s, i, lua_toboolean(L, -1));
  case LUA_TSTRING:
    text = lua_tolstring(L, -1, &len);
    return sqlite3_bind_text64(s, i, text, len, SQLITE_TRANSIENT, SQLITE_UTF8);
  case LUA_TNUMBER:
    if (lua_isinteger(L, -1)) return sqlite3_bind_int64(s, i, lua_tointeger(L, -1));
    return sqlite3_bind_double(s, i, lua_tonumber(L, -1));
  default:
    return -1;
  }
}

/* Prepares the one statement at index 2 and binds the array at 3.  [-0, +1] */
static sqlite3_stmt **prepare(lua_State *L, const db *d) {
  size_t len;
  const char *sql = luaL_checklstring(L, 2, &len), *tail = NULL;
  if (!lua_isnoneornil(L, 3)) luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  sqlite3_stmt **s = new_statement(L);
  if (sqlite3_prepare_v2(d->handle, sql, (int)len, s, &tail) != SQLITE_OK)
    fail_statement(L, s, sqlite3_errmsg(d->handle));
  if (!*s) fail_statement(L, s, "no statement");
  if (tail) {
    while (*tail == ' ' || *tail == '\n' || *tail == '\t' || *tail == ';') tail++;
    if (*tail) fail_statement(L, s, "more than one statement");
  }
  int n = sqlite3_bind_parameter_count(*s);
  int given = lua_istable(L, 3) ? (int)lua_rawlen(L, 3) : 0;
  if (given > n) fail_statement(L, s, lua_pushfstring(L, "%d values for %d places", given, n));
  for (int i = 1; i <= n && lua_istable(L, 3); i++) {
    lua_rawgeti(L, 3, i);
    int rc = bind_value(L, *s, i);
    if (rc < 0)
      fail_statement(L, s, lua_pushfstring(L, "value %d is a %s", i, luaL_typename(L, -1)));
    if (rc != SQLITE_OK) fail_statement(L, s, sqlite3_errmsg(d->handle));
    lua_pop(L, 1);
  }
  return s;
}

/* exec(sql) */
static int db_exec(lua_State *L) {
  db *d = check_db(L);
  char *text = NULL;
  int rc = sqlite3_exec(d->handle, luaL_checkstring(L, 2), NULL, NULL, &text);
  lua_pushstring(L, rc == SQLITE_OK ? "" : text ? text : sqlite3_errmsg(d->handle));
  sqlite3_free(text);
  return rc == SQLITE_OK ? 0 : fail(L, 1, lua_tostring(L, -1));
}

/* run(sql, values) -> changes */
static int db_run(lua_State *L) {
  db *d = check_db(L);
  sqlite3_stmt **s = prepare(L, d);
  int rc;
  while ((rc = sqlite3_step(*s)) == SQLITE_ROW) continue;
  if (rc != SQLITE_DONE) return fail_statement(L, s, sqlite3_errmsg(d->handle));
  lua_pushinteger(L, sqlite3_stmt_readonly(*s) ? 0 : sqlite3_changes(d->handle));
  sqlite3_finalize(*s);
  *s = NULL;
  return 1;
}

/* Pushes column i of the present row.  [-0, +1] */
static void push_column(lua_State *L, sqlite3_stmt *s, int i) {
  switch (sqlite3_column_type(s, i)) {
  case SQLITE_INTEGER:
    lua_pushinteger(L, sqlite3_column_int64(s, i));
    break;
  case SQLITE_FLOAT:
    lua_pushnumber(L, sqlite3_column_double(s, i));
    break;
  case SQLITE_NULL:
    lua_pushnil(L);
    break;
  default: {
    const char *data = sqlite3_column_blob(s, i); /* first the data, then its size */
    lua_pushlstring(L, data ? data : "", (size_t)sqlite3_column_bytes(s, i));
  }
  }
}

/* The present row as {column = value}.  [-0, +1] */
static void push_row(lua_State *L, sqlite3_stmt *s) {
  int n = sqlite3_column_count(s);
  lua_createtable(L, 0, n);
  for (int i = 0; i < n; i++) {
    push_column(L, s, i);
    lua_setfield(L, -2, sqlite3_column_name(s, i));
  }
}

/* rows(sql, values) -> array of {column = value} */
static int db_rows(lua_State *L) {
  db *d = check_db(L);
  sqlite3_stmt **s = prepare(L, d);
  int rc;
  lua_newtable(L);
  for (lua_Integer row = 1; (rc = sqlite3_step(*s)) == SQLITE_ROW; row++) {
    push_row(L, *s);
    lua_rawseti(L, -2, row);
  }
  if (rc != SQLITE_DONE) return fail_statement(L, s, sqlite3_errmsg(d->handle));
  sqlite3_finalize(*s);
  *s = NULL;
  return 1;
}

/* The iterator of each(); its upvalues are the db and the statement. */
static int next_row(lua_State *L) {
  lua_settop(L, 0);
  lua_pushvalue(L, lua_upvalueindex(1));
  db *d = check_db(L);
  sqlite3_stmt **s = lua_touserdata(L, lua_upvalueindex(2));
  if (!*s) return 0;
  int rc = sqlite3_step(*s);
  if (rc == SQLITE_ROW) {
    push_row(L, *s);
    return 1;
  }
  if (rc != SQLITE_DONE) return fail_statement(L, s, sqlite3_errmsg(d->handle));
  sqlite3_finalize(*s);
  *s = NULL;
  return 0;
}

/* each(sql, values) -> iterator over {column = value} */
static int db_each(lua_State *L) {
  db *d = check_db(L);
  prepare(L, d);
  lua_pushvalue(L, 1);
  lua_insert(L, -2);
  lua_pushcclosure(L, next_row, 2);
  return 1;
}

/* close(); also when collected.  Twice is fine. */
static int db_close(lua_State *L) {
  db *d = luaL_checkudata(L, 1, DB);
  sqlite3_close_v2(d->handle);
  d->handle = NULL;
  return 0;
}

static const luaL_Reg methods[] = {
    {"exec", db_exec},   {"run", db_run},    {"rows", db_rows},     {"each", db_each},
    {"close", db_close}, {"__gc", db_close}, {"__close", db_close}, {NULL, NULL},
};

/* "file:PATH?immutable=1", SQLite's name for a file that nobody writes to.  [-0, +1] */
static const char *push_still(lua_State *L, const char *path) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addstring(&b, "file:");
  for (const char *c = path; *c; c++) {
    if (strchr("%?#", *c)) {
      lua_pushfstring(L, *c == '%' ? "%%25" : *c == '?' ? "%%3F" : "%%23");
      luaL_addvalue(&b);
    } else
      luaL_addchar(&b, *c);
  }
  luaL_addstring(&b, "?immutable=1");
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* SQLite does not wait by itself while another process turns a new file into one with a log. */
static int set_wal(const db *d) {
  static const char sql[] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL";
  int rc = sqlite3_exec(d->handle, sql, NULL, NULL, NULL);
  for (int ms = 0; rc == SQLITE_BUSY && ms < BUSY_MS; ms += WAIT_MS) {
    sqlite3_sleep(WAIT_MS);
    rc = sqlite3_exec(d->handle, sql, NULL, NULL, NULL);
  }
  return rc;
}

/* Opens as mode says, the userdata is at 2; SQLite's code. */
static int open_mode(lua_State *L, db *d, const char *path, int mode) {
  if (mode == STILL)
    return sqlite3_open_v2(push_still(L, path), &d->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                           NULL);
  int create = mode == WRITE ? SQLITE_OPEN_CREATE : 0;
  int rc = sqlite3_open_v2(path, &d->handle, SQLITE_OPEN_READWRITE | create, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_busy_timeout(d->handle, BUSY_MS);
  if (rc != SQLITE_OK || mode != WRITE) return rc;
  if (sqlite3_db_readonly(d->handle, "main") == 1) fail(L, 2, "it is read-only");
  return set_wal(d);
}

int db_open(lua_State *L) {
  static const char *const modes[] = {"write", "read", "still", NULL};
  const char *path = luaL_checkstring(L, 1);
  int mode = luaL_checkoption(L, 2, "write", modes);
  lua_settop(L, 1);
  db *d = lua_newuserdatauv(L, sizeof *d, 1);
  d->handle = NULL;
  if (luaL_newmetatable(L, DB)) {
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, 2, 1);
  int rc = open_mode(L, d, path, mode);
  if (rc != SQLITE_OK) return fail(L, 2, sqlite3_errmsg(d->handle));
  lua_settop(L, 2);
  return 1;
}
