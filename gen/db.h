/* db.h -- the binding to SQLite, for the store. */
#ifndef LOOM_DB_H
#define LOOM_DB_H

#include <lua.h>

/* host.db(path[, mode]) -> db, or throws.  All methods throw "db 'path': message".  Modes:
 *   "write"  made where there is none, refused where nothing can be written (the default)
 *   "read"   none is made; a folder that takes no files of SQLite's shows with the first statement
 *   "still"  for such a folder: nobody writes to the file, and what lies in its log is not seen
 * Methods:
 *   db:exec(sql)                 any number of statements, no values
 *   db:run(sql, {v1, ...})       one statement -> number of changed rows
 *   db:rows(sql, {v1, ...})      one statement -> array of {column = value}; NULL is absent
 *   db:each(sql, {v1, ...})      the same rows one by one, for a loop
 *   db:close()
 * Integers, floats, strings, booleans (0, 1) and nil (NULL) may be bound. */
int db_open(lua_State *L);

#endif
