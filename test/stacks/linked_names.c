/* What acu finds in a file's data: two threads that wait for a lock with a name, and a marked probe that is passed over while
 * its counter is 0. Ends after a second; the argument is how often the probe is passed. */
#define _SDT_HAS_SEMAPHORES 1
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include <unistd.h>

__extension__ unsigned short linked_mark_semaphore __attribute__((used, section(".probes")));
static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;

static void *take(void *turns) {
  for (long i = *(long *)turns; i--;) {
    pthread_mutex_lock(&contended);
    usleep(2000);
    pthread_mutex_unlock(&contended);
  }
  return 0;
}

int main(int count, char **words) {
  long turns = 200, passes = count > 1 ? atol(words[1]) : 0, taken = 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, take, &turns);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  for (long i = 0; i < passes; i++) {
    if (!linked_mark_semaphore) continue;
    taken++;
    STAP_PROBE1(linked, mark, i);
  }
  printf("taken %ld\n", taken);
}
