// Programs to record. spikes SECONDS: requests under a lock, which another thread holds for 50 ms now and then; a request that took 30 ms or more calls
// slow_request(). calls N: system calls. often SECONDS: slow_request() 1,000 times a second. crash: abort(3).
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static volatile uint64_t done, slow;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pause_for(uint64_t ns) {
  struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  nanosleep(&t, NULL);
}

__attribute__((noinline)) void slow_request(uint64_t us) {
  slow++;
  __asm__ volatile("" ::"r"(us));
}

__attribute__((noinline)) static void hold_lock_long(void) {
  const uint64_t until = now() + 50000000;
  pthread_mutex_lock(&lock);
  while (now() < until) {}
  pthread_mutex_unlock(&lock);
}

static void *hold(void *unused) {
  pthread_setname_np(pthread_self(), "holder");
  while (!stop) {
    pause_for(700000000);
    hold_lock_long();
  }
  return unused;
}

static void *serve(void *unused) {
  pthread_setname_np(pthread_self(), "server");
  while (!stop) {
    const uint64_t begin = now();
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
    const uint64_t took = now() - begin;
    if (took >= 30000000) slow_request(took / 1000);
    pause_for(1000000);
  }
  return unused;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  const uint64_t number = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  if (!strcmp(mode, "calls")) {
    for (uint64_t i = 0; i < number; i++) syscall(SYS_getppid);
    if (argc > 3) abort();
  } else if (!strcmp(mode, "often")) {
    for (uint64_t i = 0; i < number * 1000; i++) slow_request(i), pause_for(900000);
  } else if (!strcmp(mode, "spikes")) {
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, hold, NULL);
    for (int i = 1; i < 3; i++) pthread_create(&threads[i], NULL, serve, NULL);
    pause_for(number * 1000000000u);
    stop = 1;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("%lu %lu\n", (unsigned long)done, (unsigned long)slow);
  }
  return 0;
}
