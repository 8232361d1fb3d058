/* host_file.c -- host's files and folders.
 *
 * All of them return nil and one line of text when the system refuses.  A file is written
 * beside its place and renamed, so that nobody ever sees half of one, and it is left alone when
 * its text is the same already: times stay, make has nothing to do.  A file that is replaced hands
 * its mode on; one that a symbolic link leads to is replaced where it lies.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"
#include "util.h"

enum { LINKS_MAX = 40, READ_STEP = 65536 };

/* A path as a C string; refuses embedded zeros, which the system would silently cut at. */
static const char *check_path(lua_State *L, int arg) {
  size_t len;
  const char *path = luaL_checklstring(L, arg, &len);
  luaL_argcheck(L, strlen(path) == len, arg, "a path holds no zero bytes");
  luaL_argcheck(L, len > 0, arg, "an empty path");
  return path;
}

static int done(lua_State *L) {
  lua_pushboolean(L, 1);
  return 1;
}

/* Reads a regular file of at most max bytes; 0, or -1 with errno.  What is no regular file is not
 * even waited for: a pipe without a writer would hold the open, /dev/zero never ends. */
static int read_regular(buf *b, const char *path, size_t max) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
  struct stat st;
  if (fd < 0) return -1;
  if (fstat(fd, &st) < 0)
    err = errno;
  else if (!S_ISREG(st.st_mode))
    err = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
  while (!err) {
    buf_reserve(b, READ_STEP);
    ssize_t n = read(fd, b->data + b->len, READ_STEP);
    if (n < 0 && errno != EINTR) err = errno;
    if (n == 0) break;
    if (n > 0) b->len += (size_t)n;
    if (b->len > max) err = EFBIG;
  }
  close(fd);
  errno = err;
  return err ? -1 : 0;
}

/* read(path[, max]) -> text | nil, error; with max: a regular file of at most so many bytes */
static int file_read(lua_State *L) {
  const char *path = check_path(L, 1);
  lua_Integer max = luaL_optinteger(L, 2, 0);
  luaL_argcheck(L, max >= 0, 2, "a number of bytes");
  buf *b = host_scratch(L);
  if (max > 0 ? read_regular(b, path, (size_t)max) < 0 : buf_read_file(b, path) < 0)
    return host_fail(L, b->data ? "read" : "open", path, errno);
  lua_pushlstring(L, b->data, b->len);
  buf_free(b);
  return 1;
}

/* Makes the folders of path up to length len; 0, or -1 with errno. */
static int make_folders(char *path, size_t len) {
  for (size_t i = 1; i <= len; i++) {
    if (i < len && path[i] != '/') continue;
    char keep = path[i];
    path[i] = 0;
    int rc = mkdir(path, 0777);
    int err = errno;
    struct stat st;
    if (rc < 0 && stat(path, &st) == 0) err = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    path[i] = keep;
    if (rc < 0 && err) {
      errno = err;
      return -1;
    }
  }
  return 0;
}

/* mkdir(path) -> true | nil, error; parents too, an existing folder is fine */
static int file_mkdir(lua_State *L) {
  const char *path = check_path(L, 1);
  buf *b = host_scratch(L);
  buf_adds(b, path);
  int rc = make_folders(b->data, b->len), err = errno;
  return rc < 0 ? host_fail(L, "make folder", path, err) : done(L);
}

/* Follows symbolic links from path to where the file lies or would lie; 0, or -1 with errno. */
static int follow(const char *path, buf *real) {
  char to[PATH_MAX];
  ssize_t n;
  buf_adds(real, path);
  for (int i = 0; (n = readlink(real->data, to, sizeof to)) >= 0; i++) {
    if (i == LINKS_MAX || n == sizeof to) {
      errno = i == LINKS_MAX ? ELOOP : ENAMETOOLONG;
      return -1;
    }
    const char *slash = strrchr(real->data, '/');
    size_t keep = n > 0 && to[0] != '/' && slash ? (size_t)(slash - real->data) + 1 : 0;
    real->len = keep;
    buf_add(real, to, (size_t)n);
  }
  return 0; /* no link, or nothing there */
}

/* Writes a new file and makes sure that it is on the disk; 0, or -1 with errno.  The mode is that of
 * the file which it replaces; the owner too, where that may be. */
static int write_new(const char *path, const char *text, size_t len, const char *old) {
  struct stat st;
  unlink(path); /* left by a killed process of our pid */
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return -1;
  if (stat(old, &st) == 0) { /* best effort */
    if (st.st_uid != geteuid() && fchown(fd, st.st_uid, st.st_gid) < 0) errno = 0;
    (void)fchmod(fd, st.st_mode & 0777);
  }
  int err = util_write(fd, text, len) < 0 || fsync(fd) < 0 ? errno : 0;
  if (close(fd) < 0 && !err) err = errno;
  errno = err;
  return err ? -1 : 0;
}

/* True if the file holds exactly this text. */
static int holds(const char *path, const char *text, size_t len, buf *b) {
  struct stat st;
  if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size != len) return 0;
  return buf_read_file(b, path) == 0 && b->len == len && memcmp(b->data, text, len) == 0;
}

/* The rename must not put a file in the place of a device, a pipe or a folder (/dev/stdout, for
 * a program that runs as root); 0, or the errno to report. */
static int refuse_special(const char *path) {
  struct stat st;
  if (stat(path, &st) < 0 || S_ISREG(st.st_mode)) return 0;
  return S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
}

/* write(path, text) -> true if changed, false if it was so already | nil, error */
static int file_write(lua_State *L) {
  const char *path = check_path(L, 1);
  size_t len;
  const char *text = luaL_checklstring(L, 2, &len);
  buf *b = host_scratch(L), *real = host_scratch(L);
  int special = refuse_special(path);
  if (special) return host_fail(L, "write", path, special);
  if (holds(path, text, len, b)) {
    lua_pushboolean(L, 0);
    return 1;
  }
  buf_clear(b);
  if (follow(path, real) < 0) return host_fail(L, "write", path, errno);
  buf_addf(b, "%s.tmp%ld", real->data, (long)getpid());
  char *slash = strrchr(b->data, '/');
  if (slash && slash > b->data && make_folders(b->data, (size_t)(slash - b->data)) < 0)
    return host_fail(L, "write", path, errno);
  if (write_new(b->data, text, len, real->data) == 0 && rename(b->data, real->data) == 0)
    return done(L);
  int err = errno;
  unlink(b->data);
  return host_fail(L, "write", path, err);
}

/* stat(path) -> {size=, mtime=, dir=, file=} | nil; mtime in seconds, a float; file: a regular one */
static int file_stat(lua_State *L) {
  struct stat st;
  if (stat(check_path(L, 1), &st) < 0) return 0;
  lua_createtable(L, 0, 4);
  lua_pushinteger(L, (lua_Integer)st.st_size);
  lua_setfield(L, -2, "size");
  lua_pushnumber(L, (double)st.st_mtim.tv_sec + 1e-9 * (double)st.st_mtim.tv_nsec);
  lua_setfield(L, -2, "mtime");
  lua_pushboolean(L, S_ISDIR(st.st_mode));
  lua_setfield(L, -2, "dir");
  lua_pushboolean(L, S_ISREG(st.st_mode));
  lua_setfield(L, -2, "file");
  return 1;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Appends the names in a folder, each with its 0, to b; their number, or -1 with errno. */
static int read_folder(const char *path, buf *b) {
  DIR *d = opendir(path);
  int n = 0;
  if (!d) return -1;
  errno = 0;
  for (struct dirent *e; (e = readdir(d)) != NULL;) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    buf_add(b, e->d_name, strlen(e->d_name) + 1);
    n++;
  }
  int err = errno;
  closedir(d);
  errno = err;
  return err ? -1 : n;
}

/* list(dir) -> names in byte order, without . and .. | nil, error */
static int file_list(lua_State *L) {
  const char *path = check_path(L, 1);
  buf *names = host_scratch(L), *index = host_scratch(L);
  int n = read_folder(path, names);
  if (n < 0) return host_fail(L, "list", path, errno);
  char *at = names->data;
  for (int i = 0; i < n; i++, at += strlen(at) + 1) buf_add(index, &at, sizeof at);
  char **sorted = (char **)(void *)index->data;
  if (n) qsort(sorted, (size_t)n, sizeof *sorted, by_name);
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushstring(L, sorted[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* remove(path) -> true | nil, error; a file or an empty folder */
static int file_remove(lua_State *L) {
  const char *path = check_path(L, 1);
  return remove(path) < 0 ? host_fail(L, "remove", path, errno) : done(L);
}

/* rename(from, to) -> true | nil, error */
static int file_rename(lua_State *L) {
  const char *from = check_path(L, 1), *to = check_path(L, 2);
  return rename(from, to) < 0 ? host_fail(L, "rename", from, errno) : done(L);
}

const luaL_Reg host_file_functions[] = {
    {"read", file_read},   {"write", file_write},   {"stat", file_stat},     {"list", file_list},
    {"mkdir", file_mkdir}, {"remove", file_remove}, {"rename", file_rename}, {NULL, NULL},
};
