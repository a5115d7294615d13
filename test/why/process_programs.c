// Programs with one thing to find each: process_programs MODE [PATH or PORT]. Each prints "ready" and goes on until it is killed.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static int file;
static volatile unsigned long sum;

static void check(int is_right) {
  if (!is_right) {
    perror("process_programs");
    exit(1);
  }
}

static void pause_ms(long ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

APART static void compute(long n) {
  for (long i = 0; i < n; i++) sum += (unsigned long)i;
}

APART static void commit_row(void) {
  char row[200] = "row";
  check(write(file, row, sizeof row) == sizeof row);
  check(fsync(file) == 0); // commits
}

APART static void add_row(void) {
  char row[200] = "row";
  check(pwrite(file, row, sizeof row, 0) == sizeof row);
}

APART static void log_failure(int i) {
  char line[100];
  int n = snprintf(line, sizeof line, "request %d failed: no such user\n", i);
  check(write(file, line, (size_t)n) == n);
}

static void sync_all(const char* path) {
  check((file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600)) >= 0);
  for (;;) commit_row();
}
// Synchronous by the way in which it is opened.
static void sync_writes(const char* path) {
  check((file = open(path, O_CREAT | O_RDWR | O_TRUNC | O_DSYNC, 0600)) >= 0);
  for (;;) add_row();
}
static void sync_seldom(const char* path) {
  check((file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600)) >= 0);
  for (int i = 0;; i++) {
    add_row();
    compute(20000);
    if (i % 20000 == 19999) check(fsync(file) == 0);
  }
}
static void log_all(const char* path) {
  check((file = open(path, O_CREAT | O_WRONLY | O_APPEND | O_TRUNC, 0600)) >= 0);
  for (int i = 0;; i++) {
    log_failure(i);
    if (i % 100000 == 0) check(ftruncate(file, 0) == 0);
  }
}

static struct sockaddr_in address_of(const char* port) {
  struct sockaddr_in out = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port)), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return out;
}
static void ask(const char* port) {
  struct sockaddr_in to = address_of(port);
  int s = socket(AF_INET, SOCK_STREAM, 0);
  check(connect(s, (struct sockaddr*)&to, sizeof to) == 0);
  for (char answer[16];;) {
    check(send(s, "question", 8, 0) == 8);
    check(recv(s, answer, sizeof answer, 0) > 0);
    compute(100000);
  }
}
static void connect_again(const char* port) {
  struct sockaddr_in to = address_of(port);
  for (;;) {
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(s, (struct sockaddr*)&to, sizeof to) == 0) check(send(s, "q", 1, 0) == 1);
    close(s);
    pause_ms(5);
  }
}
// A listener that accepts nothing.
static void listen_only(const char* port) {
  struct sockaddr_in at = address_of(port);
  int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  check(bind(s, (struct sockaddr*)&at, sizeof at) == 0 && listen(s, 4) == 0);
  for (;;) pause();
}

pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER, journal = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int is_ordered;

APART static void transfer(void) {
  pthread_mutex_lock(&accounts);
  if (!is_ordered) pthread_barrier_wait(&both);
  pthread_mutex_lock(&journal); // transfer waits
  pause_ms(1);
  pthread_mutex_unlock(&journal);
  pthread_mutex_unlock(&accounts);
}
APART static void rotate_journal(void) {
  pthread_mutex_t *first = is_ordered ? &accounts : &journal, *second = is_ordered ? &journal : &accounts;
  pthread_mutex_lock(first);
  if (!is_ordered) pthread_barrier_wait(&both);
  pthread_mutex_lock(second); // rotate_journal waits
  pause_ms(1);
  pthread_mutex_unlock(second);
  pthread_mutex_unlock(first);
}
static void* transfers(void* none) {
  for (;;) transfer();
  return none;
}
static void* rotations(void* none) {
  for (;;) rotate_journal();
  return none;
}
static void lock_both(int ordered) {
  is_ordered = ordered;
  pthread_barrier_init(&both, NULL, 2);
  pthread_t a, b;
  pthread_create(&a, NULL, transfers, NULL);
  pthread_create(&b, NULL, rotations, NULL);
  pthread_join(a, NULL);
}

APART static void lock_again(void) {
  pthread_mutex_lock(&journal);
  pthread_mutex_lock(&journal);
}

// Until the child execs or ends, its parent is in an uninterruptible sleep.
APART static void start_child(void) {
  if (vfork() == 0) {
    sleep(60);
    _exit(0);
  }
}

APART static void look_for_work(void) {
  struct timespec t = {0, 20000};
  nanosleep(&t, NULL); // looks
}
static void look(int finds) {
  prctl(PR_SET_TIMERSLACK, 1);
  for (;;) {
    look_for_work();
    if (finds) compute(100000);
  }
}

enum { BUFFER = 4 << 20 };
APART static void fill_buffer(char* buffer) {
  for (int i = 0; i < BUFFER; i += 4096) buffer[i] = (char)i; // fills
}
static void use_buffers(int keeps) {
  char* buffer = NULL;
  for (;;) {
    if (!buffer) check((buffer = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED);
    check(madvise(buffer, BUFFER, MADV_NOHUGEPAGE) == 0 || keeps);
    fill_buffer(buffer);
    if (keeps) continue;
    munmap(buffer, BUFFER);
    buffer = NULL;
  }
}

static char* volatile no_user;
APART static void handle_request(void) {
  pause_ms(100);
  *no_user = 'x'; // crashes
}
// A supervisor and its worker.
static void supervise(int crashes) {
  for (;;) {
    pid_t child = fork();
    check(child >= 0);
    if (child == 0) {
      if (crashes) handle_request();
      pause_ms(100);
      _exit(0);
    }
    check(waitpid(child, NULL, 0) == child);
  }
}

// Requests that are slow for three reasons: two locks whose owners sleep, and what they compute.
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER, journal_lock = PTHREAD_MUTEX_INITIALIZER;
APART static void look_up_row(void) {
  pthread_mutex_lock(&table_lock);
  compute(1000);
  pthread_mutex_unlock(&table_lock);
}
APART static void store_row(void) {
  pthread_mutex_lock(&journal_lock);
  compute(1000);
  pthread_mutex_unlock(&journal_lock);
}
APART static void check_row(void) { compute(3000000); }
static void* requests(void* none) {
  for (;;) {
    look_up_row();
    store_row();
    check_row();
  }
  return none;
}
static void* hold(void* lock) {
  for (;;) {
    pthread_mutex_lock(lock);
    pause_ms(5); // under the lock
    pthread_mutex_unlock(lock);
    pause_ms(1);
  }
  return NULL;
}
static void serve(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, requests, NULL);
  pthread_create(&thread, NULL, hold, &journal_lock);
  hold(&table_lock);
}

int main(int argc, char** argv) {
  const char *mode = argv[1], *what = argc > 2 ? argv[2] : "";
  puts("ready");
  fflush(stdout);
  if (!strcmp(mode, "sync")) sync_all(what);
  if (!strcmp(mode, "sync-writes")) sync_writes(what);
  if (!strcmp(mode, "sync-seldom")) sync_seldom(what);
  if (!strcmp(mode, "log")) log_all(what);
  if (!strcmp(mode, "ask")) ask(what);
  if (!strcmp(mode, "wait")) pause_ms(60000);
  if (!strcmp(mode, "compute")) compute(LONG_MAX);
  if (!strcmp(mode, "connect")) connect_again(what);
  if (!strcmp(mode, "listen")) listen_only(what);
  if (!strcmp(mode, "deadlock")) lock_both(0);
  if (!strcmp(mode, "ordered")) lock_both(1);
  if (!strcmp(mode, "relock")) lock_again();
  if (!strcmp(mode, "vfork")) start_child();
  if (!strcmp(mode, "look")) look(0);
  if (!strcmp(mode, "look-and-find")) look(1);
  if (!strcmp(mode, "buffers")) use_buffers(0);
  if (!strcmp(mode, "buffer")) use_buffers(1);
  if (!strcmp(mode, "crash")) supervise(1);
  if (!strcmp(mode, "end")) supervise(0);
  if (!strcmp(mode, "serve")) serve();
  return 1;
}
