// As many threads as its argument says wait in read(2) of one pipe, all at once; then each reads byte after byte, as
// fast as it can, until 20 for each are gone. Prints how many were read.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2];
static atomic_long waiting, bytes;

static void *take(void *unused) {
  char byte;
  atomic_fetch_add(&waiting, 1);
  while (read(ends[0], &byte, 1) == 1) atomic_fetch_add(&bytes, 1);
  return unused;
}

int main(int count, char **arguments) {
  int threads = count > 1 ? atoi(arguments[1]) : 100;
  pthread_t *ids = calloc(threads, sizeof *ids);
  char some[4096] = {0};
  pthread_attr_t small;
  if (!ids || pipe(ends) != 0 || pthread_attr_init(&small) || pthread_attr_setstacksize(&small, 65536)) return 1;
  for (int i = 0; i < threads; i++)
    if (pthread_create(&ids[i], &small, take, NULL) != 0) return 1;
  while (atomic_load(&waiting) < threads) usleep(1000);
  usleep(500000);
  for (long left = 20L * threads; left > 0;) {
    ssize_t put = write(ends[1], some, left < 4096 ? left : 4096);
    if (put <= 0) return 1;
    left -= put;
  }
  close(ends[1]);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  printf("%ld\n", atomic_load(&bytes));
  return 0;
}
