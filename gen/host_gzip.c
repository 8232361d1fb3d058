/* host_gzip.c -- host's gzip and gunzip, of whole texts in memory.
 *
 * The header holds neither a time nor a name nor a system, so equal texts give equal bytes with one
 * zlib; another zlib may pack otherwise, which whoever compares files has to know.
 */
#include <string.h>
#include <zlib.h>

#include "host.h"
#include "util.h"

enum { STEP = 65536, LEVEL = 9, MEMORY = 8, GZIP = 15 + 16, UNKNOWN_OS = 255 };

/* Points z at the next part of the input: zlib counts in 32 bits. */
static void feed(z_stream *z, const char **at, size_t *left) {
  size_t n = *left < STEP ? *left : STEP;
  if (z->avail_in > 0 || n == 0) return;
  memcpy(&z->next_in, at, sizeof *at); /* zlib's pointer lacks a const */
  z->avail_in = (uInt)n;
  *at += n;
  *left -= n;
}

/* Calls zlib once with room at the end of b; its code. */
static int step(z_stream *z, buf *b, int (*f)(z_stream *, int), int flush) {
  buf_reserve(b, STEP);
  z->next_out = (Bytef *)b->data + b->len;
  z->avail_out = STEP;
  int rc = f(z, flush);
  b->len += STEP - z->avail_out;
  return rc;
}

/* gzip(text) -> bytes */
int host_gzip(lua_State *L) {
  size_t left;
  const char *at = luaL_checklstring(L, 1, &left);
  buf *b = host_scratch(L);
  z_stream z = {0};
  gz_header head = {.os = UNKNOWN_OS};
  if (deflateInit2(&z, LEVEL, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
    util_die("no memory for zlib");
  deflateSetHeader(&z, &head);
  int rc = Z_OK;
  while (rc == Z_OK || rc == Z_BUF_ERROR) {
    feed(&z, &at, &left);
    rc = step(&z, b, deflate, left == 0 ? Z_FINISH : Z_NO_FLUSH);
  }
  deflateEnd(&z);
  if (rc != Z_STREAM_END) return luaL_error(L, "gzip: zlib gives %d", rc);
  lua_pushlstring(L, b->data, b->len);
  buf_free(b);
  return 1;
}

/* Unpacks every member of the input; NULL, or why not. */
static const char *unpack(z_stream *z, const char *at, size_t left, buf *b, size_t max) {
  for (;;) {
    feed(z, &at, &left);
    int rc = step(z, b, inflate, Z_NO_FLUSH);
    if (b->len > max) return "it unpacks to too much";
    if (rc == Z_STREAM_END && left == 0 && z->avail_in == 0) return NULL;
    if (rc == Z_STREAM_END)
      inflateReset(z);
    else if (rc == Z_BUF_ERROR && left == 0 && z->avail_in == 0)
      return "it is cut off";
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
      return z->msg ? z->msg : "it is damaged";
  }
}

/* gunzip(bytes, max) -> text | nil, why; max: bytes that the text may have */
int host_gunzip(lua_State *L) {
  size_t left;
  const char *at = luaL_checklstring(L, 1, &left), *why;
  lua_Integer max = luaL_checkinteger(L, 2);
  luaL_argcheck(L, max > 0, 2, "a number of bytes");
  buf *b = host_scratch(L);
  z_stream z = {0};
  if (inflateInit2(&z, GZIP) != Z_OK) util_die("no memory for zlib");
  why = unpack(&z, at, left, b, (size_t)max);
  lua_pushnil(L);
  lua_pushstring(L, why); /* z.msg lies in zlib itself */
  inflateEnd(&z);
  if (why) return 2;
  lua_pushlstring(L, b->data, b->len);
  buf_free(b);
  return 1;
}
