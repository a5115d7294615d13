// A variable at 0x10000000: written five times and read as often by the first thread, then written three times by
// another. With an argument it then writes on, for a minute.
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define CELL ((volatile long *)0x10000000)
volatile long seen;

static void *work(void *unused) {
  for (int i = 0; i < 3; i++) *CELL = i;
  return unused;
}

int main(int count, char **arguments) {
  (void)arguments;
  if (mmap((void *)CELL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != CELL) return 1;
  for (int i = 0; i < 5; i++) {
    *CELL = i;
    seen = *CELL;
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  for (int i = 0; count > 1 && i < 60000; i++) {
    *CELL = i;
    usleep(1000);
  }
  return 0;
}
