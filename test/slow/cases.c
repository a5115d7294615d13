/* What can be slow, each by a name: cases NAME [CPU]. Prints how long the calls took that it measured, in ms. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sum;

static double ms_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double now(void) { return ms_of(CLOCK_MONOTONIC); }

__attribute__((noipa)) void spin(double ms) { for (double end = now() + ms; now() < end;) sum++; }
__attribute__((noipa)) void nap(int ms) { usleep((useconds_t)ms * 1000); sum++; }
__attribute__((noipa)) void compute(double ms) { spin(ms); sum++; }

/* Fast, waits, fast, computes, fast, waits often and shortly. */
__attribute__((noipa)) void handle(int n) {
  if (n == 1) nap(60);
  if (n == 3) compute(60);
  if (n == 5) for (int i = 0; i < 40; i++) usleep(1500);
  if (n == 100) for (int i = 0; i < 300; i++) usleep(500);
  sum++;
}

__attribute__((noipa)) void take(int fd) {
  char c;
  if (read(fd, &c, 1) != 1) abort();
  sum++;
}

static void *give(void *fd) {
  usleep(60000);
  if (write(*(int *)fd, "x", 1) != 1) abort();
  return NULL;
}

__attribute__((noipa)) void busy(void) { spin(80); sum++; }

/* The outermost call is the one that counts. */
__attribute__((noipa)) void nested(int depth) {
  if (depth) nested(depth - 1);
  else usleep(40000);
  sum++;
}

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noipa)) void look_up(void) {
  pthread_mutex_lock(&table_lock);
  sum++;
  pthread_mutex_unlock(&table_lock);
}

__attribute__((noipa)) void write_table(void) {
  pthread_mutex_lock(&table_lock);
  nap(60);
  pthread_mutex_unlock(&table_lock);
  sum++;
}

static void *writes(void *unused) {
  for (;; usleep(60000)) write_table();
  return unused;
}

static jmp_buf out;
__attribute__((noipa)) void leaves(int n) {
  sum++;
  if (n == 0) longjmp(out, 1);
}

static void measured(int n) {
  const double start = now();
  handle(n);
  printf("%.3f\n", now() - start);
}

static void queue(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
  pid_t competitors[3];
  for (int n = 0; n < 3; n++)
    if ((competitors[n] = fork()) == 0) {
      pthread_setname_np(pthread_self(), "competitor");
      spin(60000);
      _exit(0);
    }
  usleep(20000);
  busy();
  for (int n = 0; n < 3; n++) kill(competitors[n], SIGKILL);
  while (wait(NULL) > 0) {
  }
}

// Anyone who wants the CPU gets it before this thread does, which has nothing left to do then.
__attribute__((noipa)) void give_way(int bell, volatile int *is_over) {
  if (write(bell, "", 1) != 1) exit(1);
  while (!*is_over) {
  }
  sum++;
}

/* In ns: how long this thread was runnable until now. */
static long run_delay(void) {
  long on_cpu, delay;
  FILE *file = fopen("/proc/thread-self/schedstat", "r");
  if (!file || fscanf(file, "%ld %ld", &on_cpu, &delay) != 2) exit(1);
  fclose(file);
  return delay;
}

/* Needs 4 ms of a CPU, whoever else has it. Gives how long it was runnable meanwhile, in ns. */
__attribute__((noipa)) long work(void) {
  const long before = run_delay();
  for (const double end = ms_of(CLOCK_THREAD_CPUTIME_ID) + 4; ms_of(CLOCK_THREAD_CPUTIME_ID) < end;)
    for (int n = 0; n < 10000; n++) sum++;
  return run_delay() - before;
}

/* 50 calls beside two others on the same CPU; prints of each how long it was runnable. */
static void crowded(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
  pid_t hogs[2];
  for (int n = 0; n < 2; n++)
    if ((hogs[n] = fork()) == 0) {
      pthread_setname_np(pthread_self(), "hog");
      spin(600000);
      _exit(0);
    }
  usleep(20000);
  for (int n = 0; n < 50; n++) printf("%ld\n", work());
  for (int n = 0; n < 2; n++) kill(hogs[n], SIGKILL);
  while (wait(NULL) > 0) {
  }
}

static void preempted(int cpu) {
  int bell[2];
  volatile int *is_over = mmap(NULL, sizeof *is_over, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (pipe(bell) != 0 || is_over == MAP_FAILED || sched_setaffinity(0, sizeof one, &one) != 0) exit(1);
  if (fork() == 0) {
    char byte;
    pthread_setname_np(pthread_self(), "competitor");
    if (read(bell[0], &byte, 1) != 1) _exit(1);
    spin(100);
    *is_over = 1;
    _exit(0);
  }
  usleep(20000);
  const struct sched_param none = {0};
  if (sched_setscheduler(0, SCHED_IDLE, &none) != 0) exit(1);
  give_way(bell[1], is_over);
  wait(NULL);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (!strcmp(name, "calls")) {
    for (int n = 0; n < 7; n++) measured(n);
  } else if (!strcmp(name, "waits")) {
    handle(100);
  } else if (!strcmp(name, "pipe")) {
    int fds[2];
    pthread_t giver;
    if (pipe(fds)) return 1;
    pthread_create(&giver, NULL, give, &fds[1]);
    pthread_setname_np(giver, "giver");
    take(fds[0]);
    pthread_join(giver, NULL);
    const char *slowness = getenv("ACU_TEST_SLOWNESS");
    usleep(200000 * (slowness ? (useconds_t)atoi(slowness) : 1)); /* what its descriptors are can be asked */
  } else if (!strcmp(name, "preempted")) {
    preempted(atoi(argv[2]));
  } else if (!strcmp(name, "crowded")) {
    crowded(atoi(argv[2]));
  } else if (!strcmp(name, "queue")) {
    queue(atoi(argv[2]));
  } else if (!strcmp(name, "nested")) {
    nested(5);
  } else if (!strcmp(name, "leaves")) {
    if (!setjmp(out)) leaves(0);
    usleep(60000);
    leaves(1);
  } else if (!strcmp(name, "locks")) {
    pthread_t writer;
    pthread_create(&writer, NULL, writes, NULL);
    pthread_setname_np(writer, "writer");
    for (const double end = now() + 20000; now() < end; usleep(1000)) look_up();
  } else if (!strcmp(name, "forever")) {
    nap(1000000);
  } else if (!strcmp(name, "often")) {
    for (int n = 0; n < 300000; n++) handle(n == 200000 ? 1 : 0);
  }
  return 0;
}
