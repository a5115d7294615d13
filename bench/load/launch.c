// Measures one start: launch STAMP-FILE COMMAND [ARG…]. Runs the command and prints
//   <ns from exec to the time in STAMP-FILE> <ns from exec to the end> <us of CPU time> <KB of peak memory> <status>
// The command (or a child that it starts once it is attached, see stamp.c) writes CLOCK_MONOTONIC ns to STAMP-FILE.
// A program of its own, since peak memory is inherited over fork: a small parent keeps the number honest.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  unlink(argv[1]);
  long long* started = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t child = fork();
  if (child == 0) {
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0), dup2(null, 1), dup2(null, 2);
    *started = now();
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status = 0;
  struct rusage used;
  wait4(child, &status, 0, &used);
  long long end = now(), stamp = 0;
  FILE* f = fopen(argv[1], "r");
  if (f) {
    if (fscanf(f, "%lld", &stamp) != 1) stamp = 0;
    fclose(f);
  }
  long long cpu = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
  printf("%lld %lld %lld %ld %d\n", stamp ? stamp - *started : -1, end - *started, cpu, used.ru_maxrss,
         WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return 0;
}
