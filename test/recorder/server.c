// Programs to record. spikes SECONDS: requests under a lock, which another thread holds for 50 ms of CPU time now and then; a request that it made wait for 30 ms
// or more calls slow_request(). calls N: system calls. often SECONDS: slow_request() 1,000 times a second. requests SECONDS PERIOD [ROUNDS]: two servers, each with
// a client that waits for every answer; the lock is held for 50 ms every PERIOD seconds, an answer is calculated in so many rounds of about 1 ns; prints the requests a second. owners: waits for mutexes of three kinds, which
// the thread "owner" has, for a condition variable that is followed by that thread's number, and for the end of a thread; calls slow_request() then and stays.
// crash, behind these: abort(3).
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static volatile uint64_t done, slow, holds; // holds: that are over; under the lock
static uint64_t period_ns = 700000000;

static uint64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now(void) { return clock_ns(CLOCK_MONOTONIC); }

static void pause_for(uint64_t ns) {
  struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  nanosleep(&t, NULL);
}

__attribute__((noinline)) void slow_request(uint64_t us) {
  slow++;
  __asm__ volatile("" ::"r"(us));
}

// CPU time: on a busy host it takes longer, and samples see it all the same.
__attribute__((noinline)) static void hold_lock_long(void) {
  pthread_mutex_lock(&lock);
  const uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 50000000;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
    for (volatile int i = 0; i < 100000; i++) {} // the clock is a system call
  holds++;
  pthread_mutex_unlock(&lock);
}

static void *hold(void *unused) {
  pthread_setname_np(pthread_self(), "holder");
  while (!stop) {
    pause_for(period_ns);
    if (!stop) hold_lock_long();
  }
  return unused;
}

static void *serve(void *unused) {
  pthread_setname_np(pthread_self(), "server");
  while (!stop) {
    const uint64_t before = holds, begin = now();
    pthread_mutex_lock(&lock);
    const int was_held = holds != before;
    done++;
    pthread_mutex_unlock(&lock);
    const uint64_t took = now() - begin;
    if (was_held && took >= 30000000) slow_request(took / 1000);
    pause_for(1000000);
  }
  return unused;
}

static volatile uint64_t sum;
static uint64_t rounds = 20000;

static void work(const char *request) {
  uint64_t n = (uint64_t)request[0];
  for (uint64_t i = 0; i < rounds; i++) n = n * 6364136223846793005u + 1442695040888963407u;
  pthread_mutex_lock(&lock);
  sum += n;
  done++;
  pthread_mutex_unlock(&lock);
}

static void *answer(void *socket) {
  const int fd = (int)(intptr_t)socket;
  char request[64];
  pthread_setname_np(pthread_self(), "server");
  while (read(fd, request, sizeof request) == sizeof request) {
    const uint64_t before = holds, begin = now();
    work(request);
    const uint64_t took = now() - begin;
    if (holds != before && took >= 30000000) slow_request(took / 1000);
    if (write(fd, request, sizeof request) != sizeof request) break;
  }
  return NULL;
}

static void *ask(void *socket) {
  const int fd = (int)(intptr_t)socket;
  char request[64] = "request";
  pthread_setname_np(pthread_self(), "client");
  while (!stop && write(fd, request, sizeof request) == sizeof request && read(fd, request, sizeof request) == sizeof request) {}
  shutdown(fd, SHUT_RDWR);
  return NULL;
}

static int requests(uint64_t seconds) {
  enum { pairs = 2 };
  pthread_t threads[2 * pairs], holder;
  for (int i = 0; i < pairs; i++) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return perror("socketpair"), 1;
    pthread_create(&threads[2 * i], NULL, answer, (void *)(intptr_t)ends[0]);
    pthread_create(&threads[2 * i + 1], NULL, ask, (void *)(intptr_t)ends[1]);
  }
  pthread_create(&holder, NULL, hold, NULL);
  const uint64_t begin = now(), first = done;
  pause_for(seconds * 1000000000u);
  const double rate = (double)(done - first) / ((double)(now() - begin) / 1e9);
  stop = 1;
  for (int i = 0; i < 2 * pairs; i++) pthread_join(threads[i], NULL);
  printf("%.0f\n", rate);
  return 0; // the holder may sleep for long
}

static pthread_mutex_t owned_locks[3]; // plain, robust, with inheritance of priorities
static volatile int owned, owner_tid;   // owned: how many the owner has or has had
static struct {
  pthread_cond_t condition;
  int behind[8];
} followed = {PTHREAD_COND_INITIALIZER, {0}};

// Whether the first thread waits for this futex: the number of its system call and the first argument, in proc(5).
static int first_waits_for(const void *futex) {
  unsigned long call = 0, at = 0;
  FILE *file = fopen("/proc/self/syscall", "r");
  const int found = file && fscanf(file, "%lu %lx", &call, &at) == 2 && call == SYS_futex && at == (unsigned long)futex;
  if (file) fclose(file);
  return found;
}

static void *own(void *unused) {
  pthread_setname_np(pthread_self(), "owner");
  owner_tid = (int)syscall(SYS_gettid);
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&owned_locks[i]);
    owned = i + 1;
    while (!first_waits_for(&owned_locks[i])) pause_for(1000000);
    pthread_mutex_unlock(&owned_locks[i]);
  }
  for (;;) pause();
  return unused;
}

static void *end_soon(void *unused) {
  pause_for(50000000);
  return unused;
}

static void wait_for_owner(void) {
  pthread_t owner, short_lived;
  for (int i = 0; i < 3; i++) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    if (i == 1) pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    if (i == 2) pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&owned_locks[i], &kind);
  }
  pthread_create(&owner, NULL, own, NULL);
  for (int i = 0; i < 3; i++) {
    while (owned <= i) pause_for(1000000);
    pthread_mutex_lock(&owned_locks[i]);
    pthread_mutex_unlock(&owned_locks[i]);
  }
  for (int i = 0; i < 8; i++) followed.behind[i] = owner_tid;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  pthread_mutex_lock(&owned_locks[0]);
  pthread_cond_timedwait(&followed.condition, &owned_locks[0], &until);
  pthread_mutex_unlock(&owned_locks[0]);
  pthread_create(&short_lived, NULL, end_soon, NULL);
  pthread_join(short_lived, NULL);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  const uint64_t number = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
  if (!strcmp(mode, "calls")) {
    for (uint64_t i = 0; i < number; i++) syscall(SYS_getppid);
    if (argc > 3) abort();
  } else if (!strcmp(mode, "often")) {
    for (uint64_t i = 0; i < number * 1000; i++) slow_request(i), pause_for(900000);
  } else if (!strcmp(mode, "owners")) {
    alarm(600); // whatever becomes of the test
    wait_for_owner();
    slow_request(1);
    for (;;) pause();
  } else if (!strcmp(mode, "requests")) {
    if (argc > 3) period_ns = strtoull(argv[3], NULL, 10) * 1000000000u;
    if (argc > 4) rounds = strtoull(argv[4], NULL, 10);
    return requests(number);
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
