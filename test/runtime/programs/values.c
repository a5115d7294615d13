// A program whose values scripts read by name: run with a number of rounds, default 1.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

enum color { RED, GREEN = 5, BLUE = -1 };
typedef struct {
  size_t len;
  unsigned char *data;
} text_t;
struct address {
  char street[16];
  short number;
};
struct request {
  int id;
  unsigned kind : 3, is_large : 1;
  signed delta : 4;
  enum color color;
  text_t uri;
  struct address where;
  struct request *next;
  struct {
    int x, y;
  } at;
  long sizes[3];
  const char *method;
};
struct small {
  int a;
  char b;
};
struct pair {
  long first, second;
};
struct large {
  long words[5];
};

int counter = 41;
static long hidden = -7;
const char *title = "a title";
struct request *last;
__thread int per_thread = 3;
unsigned short table[4] = {10, 20, 30, 40};
volatile int sink;

NOINLINE int handle(struct request *r, int depth, enum color c, _Bool flag, signed char small) {
  int local = r->id * 2 + depth;
  sink = local;
  last = r;
  counter++;
  return local + (flag ? small : c);
}
NOINLINE struct pair by_value(struct small s, struct pair p, struct large l) {
  struct pair out = {p.first + s.a, p.second + l.words[4] + s.b};
  sink = 1;
  return out;
}
NOINLINE struct large make_large(long n) {
  struct large out = {{n, n + 1, n + 2, n + 3, n + 4}};
  sink = 2;
  return out;
}
NOINLINE long many(long a, long b, long c, long d, long e, long f, long g, short h) {
  sink = 3;
  return a + b + c + d + e + f + g + h;
}
NOINLINE int factorial(int n) {
  sink = n;
  if (n <= 1) return 1;
  int below = factorial(n - 1);
  sink = below;
  return n * below;
}
NOINLINE enum color next_color(enum color c) {
  sink = 4;
  return c == RED ? GREEN : BLUE;
}
NOINLINE struct request *find(struct request *r, int id) {
  while (r && r->id != id) r = r->next;
  return r;
}
NOINLINE void nothing(const char *why) { sink = why[0]; }
NOINLINE signed char narrow(signed char c) {
  sink = 5;
  return (signed char)-c;
}
NOINLINE double floating(double d) {
  sink = 6;
  return d * 2;
}

// Its calls become part of their callers; it also has code of its own.
__attribute__((always_inline)) inline int inlined(struct request *r, int n) {
  sink = n;
  counter += 0;
  sink = r->id * 10 + n;
  return r->id;
}
extern inline int inlined(struct request *r, int n);
int (*volatile by_pointer)(struct request *, int) = inlined;
NOINLINE int caller(struct request *r) { return inlined(r, sink) + inlined(r->next, sink + 1); }

// Pages that nobody touched yet can't be read by a probe.
static void touch(const struct request *r) {
  for (; r; r = r->next) sink += r->uri.data[0] + r->method[0];
  sink += title[0];
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1;
  per_thread = 17;
  for (int i = 0; i < rounds; i++) {
    struct request second = {.id = 8, .uri = {3, (unsigned char *)"/b?more"}, .method = "PUT"};
    struct request r = {.id = 7,
                        .kind = 5,
                        .is_large = 1,
                        .delta = -3,
                        .color = GREEN,
                        .uri = {6, (unsigned char *)"/index HTTP/1.1"},
                        .where = {"Main St", 12},
                        .next = &second,
                        .at = {-1, 2},
                        .sizes = {100, 200, 300},
                        .method = "GET"};
    touch(&r);
    handle(&r, 3, BLUE, 1, -5);
    by_value((struct small){1, 2}, (struct pair){10, 20}, (struct large){{0, 0, 0, 0, 50}});
    make_large(1000);
    many(1, 2, 3, 4, 5, 6, 70, -8);
    factorial(5);
    next_color(RED);
    next_color(GREEN);
    find(&r, 8);
    find(&r, 9);
    nothing("because");
    narrow(100);
    floating(1.5);
    sink = 30;
    caller(&r);
    by_pointer(&second, 99);
    hidden++;
  }
  printf("%d %ld %s %d\n", counter, hidden, title, table[1]);
  return 0;
}
