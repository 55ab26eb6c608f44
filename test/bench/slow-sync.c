// Preloaded into a server. Delays each fsync call by 10 ms in the calling thread, as a slow disk does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int delayed(const char *name, int fd) {
  const struct timespec delay = {0, 10 * 1000 * 1000};
  nanosleep(&delay, NULL);
  int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return sync(fd);
}

int fsync(int fd) { return delayed("fsync", fd); }
int fdatasync(int fd) { return delayed("fdatasync", fd); }
