// keys THREADS CALLS KEYS: threads that all begin at the same moment make CALLS system calls lseek(-1, i % KEYS, 7) each, i counting
// from 0. So that they run on all CPUs, each is bound to one.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_barrier_t begin;
static long calls, keys;
static cpu_set_t allowed;

static void bind_to(long wanted) {
  long n = wanted % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &allowed) || n-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

static void *make_calls(void *number) {
  bind_to((long)number);
  pthread_barrier_wait(&begin);
  for (long i = 0; i < calls; i++) syscall(SYS_lseek, -1, i % keys, 7);
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  long threads = atol(arguments[1]);
  calls = atol(arguments[2]);
  keys = atol(arguments[3]);
  pthread_t *ids = calloc(threads, sizeof *ids);
  if (!ids || prctl(PR_SET_NAME, "acu_keys") || sched_getaffinity(0, sizeof allowed, &allowed)) return 1;
  pthread_barrier_init(&begin, NULL, threads);
  for (long i = 0; i < threads; i++)
    if (pthread_create(&ids[i], NULL, make_calls, (void *)i)) return 1;
  for (long i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  return 0;
}
