/* host_tmpl.c -- templates as Lua objects: loading, rendering, errors at the template's line.
 *
 * The engine (one per Lua state) owns the scanner, the buffers of renders and the names of all
 * templates; a template object owns its slices and has the loaded chunk as a user value.  All
 * memory hangs on these userdata, so an error thrown anywhere leaks nothing.  A message handler
 * puts the template's position in front of every error while the stack still shows it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "tmpl.h"
#include "util.h"

#define ENGINE "loom.engine"
#define TEMPLATE "loom.template"

enum {
  MAX_OUTPUT = 64 << 20, /* an endless loop in a directive ends here */
  MAX_LINES = 2 << 20,
  MAX_NAME = 59, /* what Lua keeps of a chunk's name */
};

/* Where a line of output came from. */
typedef struct origin {
  uint32_t line, name;
} origin;

/* One render that is going on, or was; `deeper` is the one that starts while it runs. */
typedef struct render {
  buf out, map; /* map: an array of origin */
  struct render *outer, *deeper;
} render;

typedef struct engine {
  tmpl_scanner *scanner;
  render *first, *active;
  buf names; /* an array of char *, the names of all templates so far */
} engine;

typedef struct object {
  engine *e;
  uint32_t name; /* index into e->names */
  tmpl t;
} object;

/* An object's user values. */
enum { UV_CHUNK = 1, UV_TEXT };

/* ---- the engine ---- */

static const char *name_of(const engine *e, uint32_t i) {
  return ((char **)(void *)e->names.data)[i];
}

static int engine_gc(lua_State *L) {
  engine *e = lua_touserdata(L, 1);
  tmpl_scanner_free(e->scanner);
  for (render *r = e->first, *next; r; r = next) {
    next = r->deeper;
    buf_free(&r->out);
    buf_free(&r->map);
    free(r);
  }
  for (size_t i = 0; i < e->names.len / sizeof(char *); i++)
    free(((char **)(void *)e->names.data)[i]);
  buf_free(&e->names);
  *e = (engine){0};
  return 0;
}

/* The state's engine, made when it is first needed.  [-0, +0] */
static engine *get_engine(lua_State *L) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, ENGINE) == LUA_TNIL) {
    engine *fresh = lua_newuserdatauv(L, sizeof *fresh, 0);
    *fresh = (engine){0};
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, engine_gc);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    fresh->scanner = tmpl_scanner_new();
    lua_setfield(L, LUA_REGISTRYINDEX, ENGINE);
    lua_pop(L, 1);
    lua_getfield(L, LUA_REGISTRYINDEX, ENGINE);
  }
  engine *e = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return e;
}

/* The index of a template's name.  Lua cuts a long name at its end, where the file stands; we
 * keep the end. */
static uint32_t intern_name(engine *e, const char *name) {
  char cut[MAX_NAME + 1];
  size_t len = strlen(name), n = e->names.len / sizeof(char *);
  if (len > MAX_NAME) {
    memcpy(cut, "...", 3);
    memcpy(cut + 3, name + len - (MAX_NAME - 3), MAX_NAME - 3 + 1);
    name = cut;
  }
  for (uint32_t i = 0; i < n; i++)
    if (strcmp(name_of(e, i), name) == 0) return i;
  char *copy = util_strdup(name);
  buf_add(&e->names, &copy, sizeof copy);
  return (uint32_t)n;
}

/* ---- errors ---- */

/* If text begins with "NAME:DIGITS: ", the length of that; *name gets NAME's length. */
static size_t position(const char *text, size_t *name) {
  size_t colon = strcspn(text, ":\n"), n = 0;
  if (text[colon] != ':' || colon == 0) return 0;
  n = strspn(text + colon + 1, "0123456789");
  if (n == 0 || strncmp(text + colon + 1 + n, ": ", 2) != 0) return 0;
  *name = colon;
  return colon + 1 + n + 2;
}

/* Throws "name:line: text", the name by its index. */
static _Noreturn void throw_in(lua_State *L, const engine *e, uint32_t name, long line,
                               const char *text) {
  lua_pushfstring(L, "%s:%I: %s", name_of(e, name), (LUAI_UACINT)line, text);
  lua_error(L);
  abort(); /* lua_error does not return */
}

/* Throws "name:line: text"; luaL_error would put the caller's position before it. */
static _Noreturn void throw_at(lua_State *L, const object *o, long line, const char *text) {
  throw_in(L, o->e, o->name, line, text);
}

/* Throws Lua's syntax error, the message on the top, the way a template's author wants it:
 *   - a block that is never closed stands where it begins, not at the end of the file;
 *   - a directive that breaks off stands at its own line, not at the text below it;
 *   - one that Lua's parser has no depth for stands at `last`, the line it had come to. */
static _Noreturn void throw_syntax(lua_State *L, const object *o, long last) {
  static const char close[] = " expected (to close ", at_line[] = " at line ", half[] = " near ';'";
  const char *text = lua_tostring(L, -1), *open = strstr(text, close);
  const char *at = open ? strstr(open, at_line) : NULL;
  size_t len = strlen(text), colon, skip = position(text, &colon);
  long line = skip ? strtol(text + colon + 1, NULL, 10) : 0;
  if (!skip) throw_at(L, o, last, text);
  if (at && strstr(at, " near <eof>")) {
    const char *what = open + strlen(close);
    lua_pushlstring(L, what, (size_t)(at - what));
    lua_pushlstring(L, text + skip, (size_t)(open - text) - skip);
    lua_pushfstring(L, "%s has no %s", lua_tostring(L, -2), lua_tostring(L, -1));
    throw_at(L, o, strtol(at + strlen(at_line), NULL, 10), lua_tostring(L, -1));
  }
  if (line > 1 && len > strlen(half) && strcmp(text + len - strlen(half), half) == 0 &&
      !tmpl_is_directive(&o->t, line) && tmpl_is_directive(&o->t, line - 1)) {
    lua_pushlstring(L, text + skip, len - strlen(half) - skip);
    lua_pushfstring(L, "%s at the end of the directive", lua_tostring(L, -1));
    throw_at(L, o, line - 1, lua_tostring(L, -1));
  }
  lua_error(L);
  abort(); /* lua_error does not return */
}

/* Is this frame a template's code?  Our chunks are named "=name", files "@name". */
static int is_template(const lua_Debug *ar) { return ar->source[0] == '=' && *ar->what != 'C'; }

/* Finds the next frame of a template from *level on; pushes "name:line: ".  [-0, +(0|1)] */
static int find_frame(lua_State *L, int *level, lua_Debug *ar) {
  for (; lua_getstack(L, *level, ar); ++*level) {
    lua_getinfo(L, "Sl", ar);
    if (!is_template(ar)) continue;
    lua_pushfstring(L, "%s:%d: ", ar->short_src, ar->currentline);
    return 1;
  }
  return 0;
}

/* If the message begins with the position of a function above `level`, a helper in a Lua file:
 * the length of that position; *index is then set if that function is an __index.  [-0, +0] */
static size_t helper_position(lua_State *L, const char *text, int level, int *index) {
  lua_Debug ar;
  size_t len = 0;
  for (int i = 0; i < level && !len && lua_getstack(L, i, &ar); i++) {
    lua_getinfo(L, "Sln", &ar);
    lua_pushfstring(L, "%s:%d: ", ar.short_src, ar.currentline);
    const char *here = lua_tostring(L, -1);
    if (strncmp(text, here, strlen(here)) == 0) len = strlen(here);
    *index = strcmp(ar.namewhat, "metamethod") == 0;
    lua_pop(L, 1);
  }
  return len;
}

/* Pushes the message with the template's position in front.
 *   - Raised by C, or without a position: gets the template's.
 *   - Raised in the __index of the environment: its place means nothing to the template's
 *     author and is replaced.  Raised elsewhere in a helper: both are shown.
 *   - Has another position (this template, a file that did not compile): is left alone.
 * A line in a macro also tells who called it, for the fault is as often there.  [-0, +1] */
static void push_placed(lua_State *L, const char *text) {
  lua_Debug ar, caller;
  size_t colon, helper, skip = position(text, &colon);
  int level = 0, index = 0, top = lua_gettop(L);
  if (!find_frame(L, &level, &ar)) {
    lua_pushstring(L, text);
    return;
  }
  const char *here = lua_tostring(L, -1);
  helper = helper_position(L, text, level, &index);
  int ours = skip && strncmp(text, here, strlen(here)) == 0;
  if (skip && !helper && !ours) {
    lua_pushstring(L, text);
  } else {
    lua_pushfstring(L, "%s%s", ours ? "" : here, text + (helper && index ? helper : 0));
    level++;
    if (find_frame(L, &level, &caller)) {
      int same = strcmp(caller.short_src, ar.short_src) == 0;
      lua_pop(L, 1);
      lua_pushfstring(L, " (called from %s%s%d)", same ? "line " : caller.short_src,
                      same ? "" : ":", caller.currentline);
      lua_concat(L, 2);
    }
  }
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
}

/* Message handler of a render: texts, and the text in a user's error {user = text}. [-1, +1] */
static int locate(lua_State *L) {
  if (lua_type(L, 1) == LUA_TSTRING) {
    push_placed(L, lua_tostring(L, 1));
  } else if (lua_istable(L, 1) && lua_getfield(L, 1, "user") == LUA_TSTRING) {
    push_placed(L, lua_tostring(L, -1));
    lua_setfield(L, 1, "user");
    lua_settop(L, 1);
  }
  return 1;
}

/* ---- rendering ---- */

static void add_origin(lua_State *L, render *r, uint32_t line, uint32_t name) {
  origin o = {line, name};
  if (r->map.len / sizeof o >= MAX_LINES) luaL_error(L, "more than %d lines of output", MAX_LINES);
  buf_add(&r->map, &o, sizeof o);
}

static void add_integer(buf *b, lua_Integer n) {
  char digits[24], *p = digits + sizeof digits;
  lua_Unsigned u = n < 0 ? 0u - (lua_Unsigned)n : (lua_Unsigned)n;
  do *--p = (char)('0' + u % 10);
  while ((u /= 10) != 0);
  if (n < 0) *--p = '-';
  buf_add(b, p, (size_t)(digits + sizeof digits - p));
}

static void check_room(lua_State *L, const render *r, size_t more) {
  if (r->out.len + more > MAX_OUTPUT) luaL_error(L, "more than %d MiB of output", MAX_OUTPUT >> 20);
}

/* Throws what is wrong with the value at arg: nil or a float must never become text. */
static int refuse_value(lua_State *L, const object *o, const tmpl_seg *s, int arg) {
  lua_pushlstring(L, o->t.text.data + s->val, s->val_len);
  const char *src = lua_tostring(L, -1);
  if (lua_isnoneornil(L, arg)) return luaL_error(L, "'%s' is nil", src);
  if (lua_type(L, arg) == LUA_TNUMBER)
    return luaL_error(L, "'%s' is a float, %s", src, luaL_tolstring(L, arg, NULL));
  return luaL_error(L, "'%s' is a %s", src, luaL_typename(L, arg));
}

/* Appends the value at arg.  A string goes in as it is; its line ends come from this line. */
static void add_value(lua_State *L, const object *o, render *r, const tmpl_seg *s, int arg,
                      uint32_t line) {
  if (lua_isinteger(L, arg)) {
    add_integer(&r->out, lua_tointeger(L, arg));
  } else if (lua_type(L, arg) == LUA_TSTRING) {
    size_t len;
    const char *text = lua_tolstring(L, arg, &len), *end = text + len;
    check_room(L, r, len);
    buf_add(&r->out, text, len);
    while ((text = memchr(text, '\n', (size_t)(end - text))) != NULL) {
      add_origin(L, r, line, o->name);
      text++;
    }
  } else {
    refuse_value(L, o, s, arg);
  }
}

/* __text(k, values...): appends record k.  The closure's upvalue is its template.  [-n, +0] */
static int text(lua_State *L) {
  const object *o = lua_touserdata(L, lua_upvalueindex(1));
  const tmpl *t = &o->t;
  lua_Integer k = luaL_checkinteger(L, 1);
  render *r = o->e->active;
  if (!r) return luaL_error(L, "text outside of a render");
  if (k < 0 || (size_t)k >= t->recs.len / sizeof(tmpl_rec)) return luaL_error(L, "no such text");
  const tmpl_rec *c = (const tmpl_rec *)(const void *)t->recs.data + k;
  const tmpl_seg *s = (const tmpl_seg *)(const void *)t->segs.data + c->seg, *end = s + c->nseg;
  uint32_t line = c->line;
  for (int arg = 2; s < end; s++) {
    buf_add(&r->out, t->text.data + s->lit, s->lit_len);
    for (uint32_t i = 0; i < s->lit_lines; i++) add_origin(L, r, line++, o->name);
    if (s->val_len) add_value(L, o, r, s, arg++, line);
  }
  check_room(L, r, 0);
  return 0;
}

/* Pushes the chunk and its two arguments; the environment is at index 2.  [-0, +3] */
static void push_call(lua_State *L) {
  lua_getiuservalue(L, 1, UV_CHUNK);
  lua_pushvalue(L, 2);
  lua_getiuservalue(L, 1, UV_TEXT);
}

/* Starts a render inside the present one, if any. */
static render *enter(engine *e) {
  render **slot = e->active ? &e->active->deeper : &e->first;
  if (!*slot) {
    *slot = util_malloc(sizeof **slot);
    **slot = (render){.outer = e->active};
  }
  buf_clear(&(*slot)->out);
  buf_clear(&(*slot)->map);
  return e->active = *slot;
}

/* Pushes map and, if a line came from elsewhere than template `name`, files.  [-0, +2] */
static void push_map(lua_State *L, const engine *e, const render *r, uint32_t name) {
  const origin *o = (const origin *)(const void *)r->map.data;
  size_t n = r->map.len / sizeof *o, foreign = 0;
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushinteger(L, o[i].line);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
    foreign += o[i].name != name;
  }
  if (!foreign) {
    lua_pushnil(L);
    return;
  }
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushstring(L, name_of(e, o[i].name));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* Throws that memory ran out.  Lua asks no handler then and its stack is gone, but the last line
 * that was written is near. */
static _Noreturn void throw_memory(lua_State *L, const object *o, const render *r) {
  size_t n = r->map.len / sizeof(origin);
  origin last = n ? ((const origin *)(const void *)r->map.data)[n - 1] : (origin){1, o->name};
  throw_in(L, o->e, last.name, last.line,
           n ? "behind this line: not enough memory" : "not enough memory");
}

/* t:render(env) -> text, map, files */
static int template_render(lua_State *L) {
  object *o = luaL_checkudata(L, 1, TEMPLATE);
  engine *e = o->e;
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  lua_pushcfunction(L, locate);
  push_call(L);
  render *r = enter(e);
  int rc = lua_pcall(L, 2, 0, 3);
  e->active = r->outer;
  if (rc == LUA_ERRMEM) throw_memory(L, o, r);
  if (rc != LUA_OK) return lua_error(L);
  lua_pushlstring(L, r->out.data ? r->out.data : "", r->out.len);
  push_map(L, e, r, o->name);
  return 3;
}

/* t:run(env): into the render that is going on; its errors are that render's */
static int template_run(lua_State *L) {
  object *o = luaL_checkudata(L, 1, TEMPLATE);
  luaL_checktype(L, 2, LUA_TTABLE);
  if (!o->e->active) return luaL_error(L, "run outside of a render");
  lua_settop(L, 2);
  push_call(L);
  lua_call(L, 2, 0);
  return 0;
}

/* t:lua() -> the Lua that the template became, line for line */
static int template_lua(lua_State *L) {
  const object *o = luaL_checkudata(L, 1, TEMPLATE);
  lua_pushlstring(L, o->t.chunk.data, o->t.chunk.len);
  return 1;
}

/* ---- the object ---- */

static int template_gc(lua_State *L) {
  tmpl_free(&((object *)lua_touserdata(L, 1))->t);
  return 0;
}

static const luaL_Reg methods[] = {
    {"render", template_render}, {"run", template_run}, {"lua", template_lua},
    {"__gc", template_gc},       {NULL, NULL},
};

/* An empty template that Lua owns.  [-0, +1] */
static object *new_object(lua_State *L, engine *e, const char *name) {
  object *o = lua_newuserdatauv(L, sizeof *o, 2);
  *o = (object){.e = e};
  if (luaL_newmetatable(L, TEMPLATE)) {
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
  o->name = intern_name(e, name);
  return o;
}

/* Gives Lua the source line by line, so that the line is known where Lua's message has none. */
typedef struct lines {
  const char *at, *end;
  long line;
} lines;

static const char *next_line(lua_State *L, void *ud, size_t *len) {
  lines *s = ud;
  const char *line = s->at, *stop = memchr(line, '\n', (size_t)(s->end - line));
  (void)L;
  s->at = stop ? stop + 1 : s->end;
  *len = (size_t)(s->at - line);
  s->line += *len > 0; /* the end is no line */
  return line;
}

int host_template(lua_State *L) {
  size_t len;
  const char *name = luaL_checkstring(L, 1), *source = luaL_checklstring(L, 2, &len);
  lua_settop(L, 2);
  engine *e = get_engine(L);
  object *o = new_object(L, e, name);
  buf *why = host_scratch(L);
  long line = tmpl_compile(e->scanner, &o->t, source, len, why);
  if (line) throw_at(L, o, line, why->data);
  lua_pushfstring(L, "=%s", name_of(e, o->name));
  lines s = {o->t.chunk.data, o->t.chunk.data + o->t.chunk.len, 0};
  if (lua_load(L, next_line, &s, lua_tostring(L, -1), "t") != LUA_OK) throw_syntax(L, o, s.line);
  lua_setiuservalue(L, 3, UV_CHUNK);
  lua_pushvalue(L, 3);
  lua_pushcclosure(L, text, 1);
  lua_setiuservalue(L, 3, UV_TEXT);
  lua_settop(L, 3);
  return 1;
}
