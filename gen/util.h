/* util.h -- what every file of gen/ needs: dying with a message, memory that cannot fail, time.
 *
 * A function here never returns an error: it does its work or ends the program with one line
 * on stderr.  Errors that a user can cause and Lua can catch are Lua errors and not found here.
 */
#ifndef LOOM_UTIL_H
#define LOOM_UTIL_H

#include <stddef.h>

/* Prints "loom: <message>" on stderr and exits with 1. */
_Noreturn void util_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* malloc, realloc and strdup that die when there is no memory. */
void *util_malloc(size_t size);
void *util_realloc(void *p, size_t size);
char *util_strdup(const char *s);

/* Seconds on a clock that only goes forward. */
double util_now(void);

/* Writes all of it to a blocking or non-blocking descriptor; 0, or -1 with errno. */
int util_write(int fd, const char *data, size_t len);

#endif
