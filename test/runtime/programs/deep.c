// Many calls under way at once: `deep THREADS DEPTH`.
#include <pthread.h>
#include <stdlib.h>

static pthread_barrier_t all_are_deep;
volatile int sink;

__attribute__((noinline, noclone, noipa)) int deeper(int n) {
  sink = n;
  if (n == 0) return pthread_barrier_wait(&all_are_deep), 0;
  int below = deeper(n - 1);
  sink = below;
  return below + 1;
}
static void *run(void *depth) { return (void *)(long)deeper((int)(long)depth); }

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1, depth = argc > 2 ? atoi(argv[2]) : 10;
  pthread_t *all = calloc((size_t)threads, sizeof *all);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  pthread_barrier_init(&all_are_deep, 0, (unsigned)threads);
  for (int i = 0; i < threads; i++) pthread_create(&all[i], &small, run, (void *)(long)depth);
  for (int i = 0; i < threads; i++) pthread_join(all[i], 0);
  free(all);
}
