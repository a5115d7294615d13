// stamp FILE: writes the time of its start (CLOCK_MONOTONIC, ns) to FILE and ends. Given to a tracer as `-c "stamp
// FILE"`: tracers let the command run once all probes are attached, so its start tells when that was.
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  char text[32];
  int n = snprintf(text, sizeof text, "%lld\n", t.tv_sec * 1000000000LL + t.tv_nsec);
  int fd = argc > 1 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644) : 1;
  return write(fd, text, (size_t)n) == n ? 0 : 1;
}
