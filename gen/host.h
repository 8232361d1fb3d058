/* host.h -- the `host` table: everything that Lua cannot do by itself, and the only place where
 * C and Lua meet.
 *
 * host.c registers the table and holds the small functions; host_file.c files and folders;
 * host_proc.c processes; tmpl.c and db.c bring their own objects.  Each part offers its
 * functions as one luaL_Reg list.
 */
#ifndef LOOM_HOST_H
#define LOOM_HOST_H

#include <lua.h>
#include <lauxlib.h>

#include "buf.h"

#define LOOM_VERSION "0.1.0"

/* Lua's heap, counted: the allocator's user data.  limit 0 = none. */
typedef struct heap {
  size_t used, limit;
} heap;

/* Makes the global `host`; root is the project's folder.  [-0, +0] */
void host_open(lua_State *L, const char *root);

/* A text buffer that Lua frees, also when an error is thrown.  [-0, +1] */
buf *host_scratch(lua_State *L);

/* Pushes nil and "cannot <what> '<path>': <errno's text>", returns 2.  [-0, +2] */
int host_fail(lua_State *L, const char *what, const char *path, int err);

/* host.template(name, text) -> template, or throws "name:LINE: message".
 *   t:render(env) -> text, map, files   map[i] is the template line that made output line i;
 *                                       files[i] its file, and nil when all are this template
 *   t:run(env)                          the same into the render that is going on
 *   t:lua() -> text                     the Lua that the template became, line for line  */
int host_template(lua_State *L);

/* host.log(path) -> log | nil, "locked" | nil, error: a file to append to, locked by this process.
 *   l:add(text) -> true | nil, error     it is on the disk then
 *   l:cut(size) -> true | nil, error     drops what stands behind
 *   l:close()  */
int host_log(lua_State *L);

/* host.gzip(text) -> bytes, the same for the same text; host.gunzip(bytes, max) -> text | nil, why */
int host_gzip(lua_State *L);
int host_gunzip(lua_State *L);

extern const luaL_Reg host_file_functions[];
extern const luaL_Reg host_proc_functions[];

#endif
