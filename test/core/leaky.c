// A heap for tests: 4 threads allocate and free, 600,000 chunks in all; 100 of them are forgotten. It ends by abort(), while the
// threads wait.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct item { struct item *next; unsigned long number; char more[]; };
static struct item *kept[4];
static pthread_barrier_t done;
__attribute__((noinline)) static void lose(int n) {
  for (int i = 0; i < n; i++) {
    struct item *volatile p = malloc(1000 + i);
    p->number = 0x1ea4;
    p = 0;
  }
}
__attribute__((noinline)) static void clear_stack(void) { volatile char room[8192]; for (unsigned i = 0; i < sizeof room; i++) room[i] = 0; }
static void *work(void *argument) {
  long me = (long)argument;
  unsigned random = (unsigned)me + 1;
  void *freed[1000];
  for (int i = 0; i < 150000; i++) {
    random = random * 1664525 + 1013904223;
    struct item *p = malloc(sizeof *p + random % 100);
    p->next = kept[me];
    p->number = random;
    kept[me] = p;
  }
  lose(25);
  for (int i = 0; i < 1000; i++) freed[i] = malloc(16 + i % 700);
  for (int i = 0; i < 1000; i++) free(freed[i]), freed[i] = 0;
  clear_stack();
  pthread_barrier_wait(&done);
  for (;;) pause();
  return 0;
}
int main(void) {
  pthread_barrier_init(&done, 0, 5);
  pthread_t t;
  for (long i = 0; i < 4; i++) pthread_create(&t, 0, work, (void *)i);
  pthread_barrier_wait(&done);
  usleep(100000);
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
