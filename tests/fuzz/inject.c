// A disk that fails: loaded before the C library (LD_PRELOAD), it counts the calls that change files below one folder,
// and injects a fault at the n-th of them.
//
//   cc -shared -fPIC -O1 -o inject.so inject.c -ldl
//
// Calls are counted from pychunk_inject_arm() on, in all threads, only in this process and in those that it forks.
// Writes through a memory map and by C's own streams are not seen. pychunk does neither; pychunk_inject_unseen()
// reports uses of fopen to write.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum fault { NONE, FULL, BROKEN, SHORT, KILL, INTERRUPT };  // FULL: no room from then on; others occur once
enum need {
  NEVER,
  ROOM,
  LATE
};  // whether a call fails on a full disk: never, always, or only if it is the first to notice

static char folder[PATH_MAX];
static size_t folder_length;
static atomic_long calls, unseen;
static long at;
static int fault, partial;
static atomic_int armed, out_of_room;

// Counts calls from now on; the fault comes at call `n`. With `half` a write first stores half of its bytes.
void pychunk_inject_arm(const char* where, long n, int what, int half) {
  armed = 0;
  if (!realpath(where, folder)) _exit(70);
  folder_length = strlen(folder);
  calls = unseen = out_of_room = 0;
  at = n, fault = what, partial = half;
  armed = 1;
}

// Frees the disk's room; nothing fails after this.
void pychunk_inject_disarm(void) { armed = 0; }

long pychunk_inject_calls(void) { return calls; }
long pychunk_inject_unseen(void) { return unseen; }

static int below(const char* path) {
  return strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == 0);
}

static int of_handle(int handle) {
  if (!armed) return 0;
  char name[64], path[PATH_MAX];
  snprintf(name, sizeof name, "/proc/self/fd/%d", handle);
  ssize_t length = readlink(name, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return below(path);
}

static int of_path(int base, const char* path) {
  if (!armed || !path) return 0;
  if (path[0] == '/') {  // the last name may be new, so that only the folder is resolved
    char parent[PATH_MAX], found[PATH_MAX];
    if (strlen(path) >= sizeof parent) return 0;
    strcpy(parent, path);
    char* end = strrchr(parent, '/');
    *(end == parent ? end + 1 : end) = 0;
    return realpath(parent, found) ? below(found) : below(path);
  }
  if (base != AT_FDCWD) return of_handle(base);
  char here[PATH_MAX];
  return getcwd(here, sizeof here) && below(here);
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

// Returns the action of this call: 0 normal, 1 write half of its bytes, 2 the same and die, -1 fail with errno set.
// `data` says that it writes bytes.
static int turn(int data, enum need room) {
  long mine = atomic_fetch_add(&calls, 1) + 1;
  if (out_of_room && room == ROOM) {
    errno = ENOSPC;
    return -1;
  }
  if (mine != at) return 0;
  switch (fault) {
    case FULL:
      out_of_room = 1;
      if (room == NEVER) return 0;
      if (data && partial) return 1;
      errno = ENOSPC;
      return -1;
    case BROKEN:
      errno = EIO;
      return -1;
    case SHORT:
      if (data) return 1;
      at++;  // the fault moves to the next call
      return 0;
    case KILL:
      if (data && partial) return 2;
      die();
      break;
    case INTERRUPT:
      kill(getpid(), SIGINT);
  }
  return 0;
}

#define REAL(name)               \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static size_t half(size_t count, int direct) { return direct ? count / 2 / 4096 * 4096 : count / 2; }

#define WRITING(call_all, call_half)                     \
  if (!of_handle(handle)) return call_all;               \
  int what = turn(1, ROOM);                              \
  if (what < 0) return -1;                               \
  if (what == 0) return call_all;                        \
  int direct = (fcntl(handle, F_GETFL) & O_DIRECT) != 0; \
  size_t some = half(count, direct);                     \
  ssize_t done = some ? call_half : 0;                   \
  if (what == 2) die();                                  \
  if (done > 0 || count == 0) return done;               \
  return call_all

ssize_t write(int handle, const void* data, size_t count) {
  REAL(write);
  WRITING(real(handle, data, count), real(handle, data, some));
}

ssize_t pwrite(int handle, const void* data, size_t count, off_t where) {
  REAL(pwrite);
  WRITING(real(handle, data, count, where), real(handle, data, some, where));
}

ssize_t pwrite64(int handle, const void* data, size_t count, off64_t where) {
  REAL(pwrite64);
  WRITING(real(handle, data, count, where), real(handle, data, some, where));
}

ssize_t writev(int handle, const struct iovec* parts, int number) {
  REAL(writev);
  size_t count = number > 0 ? parts[0].iov_len : 0;
  WRITING(real(handle, parts, number), write(handle, parts[0].iov_base, some));
}

ssize_t pwritev(int handle, const struct iovec* parts, int number, off_t where) {
  REAL(pwritev);
  size_t count = number > 0 ? parts[0].iov_len : 0;
  WRITING(real(handle, parts, number, where), pwrite(handle, parts[0].iov_base, some, where));
}

#define OTHER(seen, room, call)               \
  if ((seen) && turn(0, room) < 0) return -1; \
  return call

int fsync(int handle) {
  REAL(fsync);
  OTHER(of_handle(handle), LATE, real(handle));
}

int fdatasync(int handle) {
  REAL(fdatasync);
  OTHER(of_handle(handle), LATE, real(handle));
}

int ftruncate(int handle, off_t length) {
  REAL(ftruncate);
  OTHER(of_handle(handle), NEVER, real(handle, length));
}

int ftruncate64(int handle, off64_t length) {
  REAL(ftruncate64);
  OTHER(of_handle(handle), NEVER, real(handle, length));
}

int truncate(const char* path, off_t length) {
  REAL(truncate);
  OTHER(of_path(AT_FDCWD, path), NEVER, real(path, length));
}

int truncate64(const char* path, off64_t length) {
  REAL(truncate64);
  OTHER(of_path(AT_FDCWD, path), NEVER, real(path, length));
}

int fallocate(int handle, int mode, off_t where, off_t length) {
  REAL(fallocate);
  OTHER(of_handle(handle), ROOM, real(handle, mode, where, length));
}

int rename(const char* from, const char* to) {
  REAL(rename);
  OTHER(of_path(AT_FDCWD, to) || of_path(AT_FDCWD, from), LATE, real(from, to));
}

int renameat(int a, const char* from, int b, const char* to) {
  REAL(renameat);
  OTHER(of_path(b, to) || of_path(a, from), LATE, real(a, from, b, to));
}

int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  REAL(renameat2);
  OTHER(of_path(b, to) || of_path(a, from), LATE, real(a, from, b, to, flags));
}

int link(const char* from, const char* to) {
  REAL(link);
  OTHER(of_path(AT_FDCWD, to), ROOM, real(from, to));
}

int linkat(int a, const char* from, int b, const char* to, int flags) {
  REAL(linkat);
  OTHER(of_path(b, to), ROOM, real(a, from, b, to, flags));
}

int unlink(const char* path) {
  REAL(unlink);
  OTHER(of_path(AT_FDCWD, path), NEVER, real(path));
}

int unlinkat(int base, const char* path, int flags) {
  REAL(unlinkat);
  OTHER(of_path(base, path), NEVER, real(base, path, flags));
}

int rmdir(const char* path) {
  REAL(rmdir);
  OTHER(of_path(AT_FDCWD, path), NEVER, real(path));
}

int mkdir(const char* path, mode_t mode) {
  REAL(mkdir);
  OTHER(of_path(AT_FDCWD, path), ROOM, real(path, mode));
}

int mkdirat(int base, const char* path, mode_t mode) {
  REAL(mkdirat);
  OTHER(of_path(base, path), ROOM, real(base, path, mode));
}

#define OPENING(base, call)                 \
  mode_t mode = 0;                          \
  if (flags & (O_CREAT | O_TMPFILE)) {      \
    va_list rest;                           \
    va_start(rest, flags);                  \
    mode = va_arg(rest, mode_t);            \
    va_end(rest);                           \
  }                                         \
  if (flags & (O_CREAT | O_TRUNC)) {        \
    OTHER(of_path(base, path), ROOM, call); \
  }                                         \
  return call

int open(const char* path, int flags, ...) {
  REAL(open);
  OPENING(AT_FDCWD, real(path, flags, mode));
}

int open64(const char* path, int flags, ...) {
  REAL(open64);
  OPENING(AT_FDCWD, real(path, flags, mode));
}

int openat(int base, const char* path, int flags, ...) {
  REAL(openat);
  OPENING(base, real(base, path, flags, mode));
}

int openat64(int base, const char* path, int flags, ...) {
  REAL(openat64);
  OPENING(base, real(base, path, flags, mode));
}

#define STREAM                                                          \
  if (path && strpbrk(how, "wa+") && of_path(AT_FDCWD, path)) unseen++; \
  return real(path, how)

FILE* fopen(const char* path, const char* how) {
  REAL(fopen);
  STREAM;
}

FILE* fdopen(int handle, const char* how) {
  REAL(fdopen);
  if (strpbrk(how, "wa+") && of_handle(handle)) unseen++;
  return real(handle, how);
}

FILE* fopen64(const char* path, const char* how) {
  REAL(fopen64);
  STREAM;
}
