// Functions to be probed; the first argument says which are called, the second how often.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION __attribute__((noinline, noclone))
#define KEEP(x) __asm__ volatile("" : "+r"(x) : : "memory")

struct point {
  int x;
  long y;
  const char* name;
};

FUNCTION int leaf(int x) {
  KEEP(x);
  return x * 2;
}
FUNCTION int middle(int x) {
  int r = leaf(x) + 1;
  KEEP(r);
  return r;
}
FUNCTION int outer(int x) {
  int r = middle(x) + 1;
  KEEP(r);
  return r;
}
FUNCTION long eight(long a, long b, long c, long d, long e, long f, long g, long h) {
  KEEP(a);
  return a + b + c + d + e + f + g + h;
}
FUNCTION size_t text(const char* s, const struct point* p) {
  KEEP(s);
  KEEP(p);
  return strlen(s) + (size_t)p->x;
}
FUNCTION unsigned factorial(unsigned n) {
  KEEP(n);
  if (n <= 1) return 1;
  unsigned r = n * factorial(n - 1);
  KEEP(r);
  return r;
}
FUNCTION signed char minus(void) {
  signed char r = -3;
  KEEP(r);
  return r;
}

static int times = 1;

static void* run_thread(void* unused) {
  for (int i = 0; i < times; i++) factorial(3);
  return unused;
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "chain";
  if (count > 2) times = atoi(arguments[2]);
  if (!strcmp(what, "threads")) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, run_thread, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 0;
  }
  char* word = strdup("hello, probe");
  struct point p = {5, 77, word};
  for (int i = 0; i < times; i++) {
    if (!strcmp(what, "chain")) outer(i);
    if (!strcmp(what, "eight")) eight(1, 2, 3, 4, 5, 6, 7, 8 + i);
    if (!strcmp(what, "text")) text(word, &p);
    if (!strcmp(what, "factorial")) factorial(5);
    if (!strcmp(what, "minus")) minus();
    if (!strcmp(what, "all")) outer(i), eight(1, 2, 3, 4, 5, 6, 7, 8), text(word, &p), minus();
  }
  free(word);
  return 0;
}
