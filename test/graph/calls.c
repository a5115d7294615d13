// Calls that are known: what runs, how deep, how long. The program measures itself and prints it: "NAME ns", or
// "NAME thread ns" for threads.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noipa))

struct pair { int left, right; };
enum color { red, green };

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

NOINLINE void doze(int ms) {
  struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&t, NULL);
}
NOINLINE void spin(long ns) {
  for (long end = now() + ns; now() < end;) {}
}
NOINLINE int leaf(int n, const char* text) { return n + (int)strlen(text); }
NOINLINE long middle(long ns) {
  spin(ns);
  leaf(3, "three");
  doze(20);
  return -5;
}
NOINLINE void outer(void) {
  long begin = now();
  middle(3000000);
  spin(2000000);
  printf("outer %ld\n", now() - begin);
}

NOINLINE int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

NOINLINE int typed(struct pair* p, enum color c, double d, const char* none, unsigned char b, long big) {
  return (int)(p->left + (int)d + (none != NULL) + b + big + c);
}

static jmp_buf back;
NOINLINE void jumper(int n) {
  if (n == 0) longjmp(back, 1);
  jumper(n - 1);
}
NOINLINE int lands(void) {
  if (setjmp(back) == 0) jumper(2);
  return leaf(1, "x");
}

NOINLINE int work(int n) {
  doze(n);
  return n;
}
NOINLINE void request(int n) {
  work(n);
  work(n + 1);
}
static void* thread(void* number) {
  const int n = (int)(long)number;
  char name[16];
  snprintf(name, sizeof name, "worker%d", n);
  pthread_setname_np(pthread_self(), name);
  for (int i = 0; i < 5; i++) {
    long begin = now();
    request(n);
    printf("request %s %ld\n", name, now() - begin);
  }
  return NULL;
}

NOINLINE void runs_another(char** words) { execv(words[0], words); }
NOINLINE void ends(int status) { exit(status); }
NOINLINE void serve(void) { work(2); }

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  if (!strcmp(what, "nested")) outer();
  if (!strcmp(what, "recursion")) factorial(5);
  if (!strcmp(what, "typed")) typed(&(struct pair){1, 2}, green, 1.5, NULL, 'a', -7);
  if (!strcmp(what, "jump")) lands(), lands(), leaf(9, "");
  if (!strcmp(what, "end")) ends(3);
  if (!strcmp(what, "exec")) runs_another(words + 2);
  if (!strcmp(what, "many")) for (int i = 0; i < atoi(words[2]); i++) leaf(i, "y");
  if (!strcmp(what, "threads")) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], NULL, thread, (void*)(i + 2));
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  }
  if (!strcmp(what, "serve")) {
    puts("ready"), fflush(stdout);
    for (;;) serve(), doze(1);
  }
  return 0;
}
