/* Threads that work on spans, publish which one, and print how much they did in each:
 *
 *   publisher calls THREADS SPANS [LIBRARY]   calls getpgid() in each span, and without one
 *   publisher hostile                         the same with records that lead nowhere, or are not complete
 *   publisher spin MS [LIBRARY]               two threads take MS of CPU time in each of three spans, and one without
 *
 * LIBRARY has publish(), and is loaded by dlopen() in the middle; without it publish() is linked.
 * A line of output: trace (32 digits), span (16 digits), number of calls or CPU time in us; `- -` without a span. With `calls` it begins when a line comes on
 * standard input. */
#define _GNU_SOURCE
#include "context.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static void (*set)(const struct record*);
static unsigned spans = 1;
static unsigned long spin_us;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

#ifdef LINKED
static void load(const char* library) { set = library ? NULL : publish; }
#else
static void load(const char* library) {
  void* handle = library ? dlopen(library, RTLD_NOW | RTLD_LOCAL) : NULL;
  set = handle ? (void (*)(const struct record*))dlsym(handle, "publish") : NULL;
  if (!set) fprintf(stderr, "%s\n", dlerror()), exit(1);
}
#endif

static struct record record_of(unsigned thread, unsigned span) {
  struct record r = {.valid = 1};
  for (unsigned i = 0; i < 16; i++) r.trace_id[i] = (uint8_t)(thread * 37 + i * 29 + 5);
  for (unsigned i = 0; i < 8; i++) r.span_id[i] = (uint8_t)(span * 91 + thread * 17 + i * 53 + 1);
  return r;
}

static void tell(const struct record* r, unsigned long number) {
  pthread_mutex_lock(&output);
  for (unsigned i = 0; r && i < 16; i++) printf("%02x", r->trace_id[i]);
  printf(r ? " " : "- ");
  for (unsigned i = 0; r && i < 8; i++) printf("%02x", r->span_id[i]);
  printf("%s %lu\n", r ? "" : "-", number);
  fflush(stdout);
  pthread_mutex_unlock(&output);
}

static unsigned long cpu_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (unsigned long)t.tv_sec * 1000000 + (unsigned long)t.tv_nsec / 1000;
}

/* In the library's place, so that no call is counted that is not meant. */
__attribute__((noinline)) static unsigned long spin(void) {
  const unsigned long begin = cpu_us();
  volatile unsigned x = 0;
  while (cpu_us() - begin < spin_us)
    for (int i = 0; i < 10000; i++) x++;
  return cpu_us() - begin;
}

static unsigned long work(unsigned thread, unsigned span) {
  if (spin_us) return spin();
  const unsigned calls = (thread + 1) * 10 + span;
  for (unsigned i = 0; i < calls; i++) getpgid(0);
  return calls;
}

static void* run(void* which) {
  const unsigned thread = (unsigned)(uintptr_t)which;
  struct record own; /* some writers keep one record, and clear `valid` while they change it */
  memset(&own, 0, sizeof own);
  for (unsigned span = 0; span < spans; span++) {
    struct record* r = malloc(sizeof *r);
    *r = record_of(thread, span);
    if (span % 2) {
      own.valid = 0;
      set(&own);
      tell(NULL, work(thread, span));
      own = *r;
    } else {
      set(r);
    }
    tell(r, work(thread, span));
    set(NULL);
    tell(NULL, work(thread, span));
    free(r);
  }
  return NULL;
}

static void with(const void* record) {
  set(record);
  for (int i = 0; i < 10; i++) getpgid(0);
  tell(NULL, 10);
}

static void hostile(void) {
  const long page = sysconf(_SC_PAGESIZE);
  char* pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + page, (size_t)page);
  struct record r = record_of(0, 0), good = r;
  with((const void*)1);
  with((const void*)-1L);
  with((const void*)0xffff888000000000);
  with((const void*)0x8000000000000000);
  with(pages + page);
  memcpy(pages + page - 24, &r, 24);
  with(pages + page - 24); /* ends before `valid` */
  r.valid = 2;
  with(&r);
  r.valid = 255;
  with(&r);
  memset(&r, 0, sizeof r);
  r.valid = 1;
  with(&r); /* no trace */
  set(&good);
  for (int i = 0; i < 7; i++) getpgid(0);
  tell(&good, 7);
  set(NULL);
}

int main(int count, char** words) {
  if (count < 2) return 2;
  const int is_calls = !strcmp(words[1], "calls"), is_spin = !strcmp(words[1], "spin");
  const unsigned threads = is_calls ? (unsigned)atoi(words[2]) : 2;
  spans = is_calls ? (unsigned)atoi(words[3]) : 3;
  spin_us = is_spin ? strtoul(words[2], NULL, 10) * 1000 : 0;
  if (!is_spin) getchar();
  load(count > (is_calls ? 4 : 3) ? words[is_calls ? 4 : 3] : NULL);
  usleep(is_spin ? 0 : 400000); /* acu may take a while to learn of a process, or of a library */
  if (!is_calls && !is_spin) return hostile(), 0;
  pthread_t all[64];
  for (unsigned i = 0; i < threads && i < 64; i++) pthread_create(&all[i], NULL, run, (void*)(uintptr_t)i);
  for (unsigned i = 0; i < threads && i < 64; i++) pthread_join(all[i], NULL);
  return 0;
}
