/* db.h -- the binding to SQLite, for the store. */
#ifndef LOOM_DB_H
#define LOOM_DB_H

#include <lua.h>

/* host.db(path) -> db, or throws.  All methods throw "db 'path': message".
 *   db:exec(sql)                 any number of statements, no values
 *   db:run(sql, {v1, ...})       one statement -> number of changed rows
 *   db:rows(sql, {v1, ...})      one statement -> array of {column = value}; NULL is absent
 *   db:close()
 * Integers, floats, strings, booleans (0, 1) and nil (NULL) may be bound. */
int db_open(lua_State *L);

#endif
