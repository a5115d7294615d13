/* Calls getpgid(MARK) from a chain of functions whose names are given when it is compiled, for a number of
   milliseconds, and as many times at least, however slow this machine is; then becomes another program if one is named:

     victim MILLISECONDS [PROGRAM [ARGUMENT…]]

   The system call stands in the function itself, so that the chain of frame pointers has no gap. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef NAME
#define NAME plain
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#ifndef PAD
#define PAD 1
#endif
#define STRING_(a) #a
#define STRING(a) STRING_(a)
#define SLOW __attribute__((noinline, noclone))

/* A function that calls another one has a frame; compilers leave it out of others, whatever they are told. */
SLOW void JOIN(NAME, _nothing)(void) { __asm__ volatile(""); }

SLOW long JOIN(NAME, _inner)(long id) {
  long result;
  __asm__ volatile(".skip " STRING(PAD) ", 0x90"); /* no two programs have the same addresses */
  JOIN(NAME, _nothing)();
  __asm__ volatile("syscall" : "=a"(result) : "0"(SYS_getpgid), "D"((long)MARK) : "rcx", "r11", "memory");
  return result + id + 1;
}

SLOW long JOIN(NAME, _outer)(long id) {
  long result = JOIN(NAME, _inner)(id);
  __asm__ volatile("" : "+r"(result));
  return result + 1;
}

#ifndef LIBRARY
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#ifdef THREAD /* another thread makes the calls */
#include <pthread.h>
static int run(int argc, char** argv);
static int count_;
static char** words_;
static void* start(void* nothing) { return run(count_, words_), nothing; }

int main(int argc, char** argv) {
  pthread_t thread;
  count_ = argc, words_ = argv;
  pthread_create(&thread, 0, start, 0);
  return pthread_join(thread, 0);
}
#else
#define run main
#endif

int run(int argc, char** argv) {
  double least = argc > 1 ? atof(argv[1]) : 0, end = now() + least;
  struct timespec pause = {0, 500000};
  int calls = 0;
  do {
    JOIN(NAME, _outer)(0);
    nanosleep(&pause, 0);
  } while (++calls < least || now() < end);
  if (argc > 2) execv(argv[2], argv + 2);
  return 0;
}
#endif
