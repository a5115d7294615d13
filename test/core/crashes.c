// A program for core tests: threads, a list, thread-locals, and a crash with arguments and variables.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct node { struct node *next; int value; char name[12]; };
struct node *list, *circle, ring[3];
static int counter = 42;
__thread int own = 7;
struct tree { struct tree *left, *right; long key; };
struct tree *root;
static struct tree *grow(int depth, long key) {
  if (!depth) return 0;
  struct tree *t = malloc(sizeof *t);
  t->key = key; t->left = grow(depth - 1, key * 2); t->right = grow(depth - 1, key * 2 + 1);
  return t;
}
static pthread_barrier_t ready;
__attribute__((noinline)) static void wait_forever(int n) { own = 100 + n; pthread_barrier_wait(&ready); for (;;) pause(); }
static void *worker(void *p) { wait_forever((int)(long)p); return 0; }
__attribute__((noinline)) static int leaf(struct node *p, const char *why) { int twice = p ? p->value * 2 : 1; *(volatile int *)0x8 = twice; return twice + (int)strlen(why); }
__attribute__((noinline)) static int middle(int depth, const char *why) { int here = depth * 10; if (depth) { int r = middle(depth - 1, why); return r + here; } int r = leaf(list, why); return r + here; }
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 5;
  for (int i = 0; i < n; i++) { struct node *x = calloc(1, sizeof *x); x->value = i; snprintf(x->name, sizeof x->name, "n%d", i); x->next = list; list = x; }
  circle = ring;
  for (int i = 0; i < 3; i++) ring[i].next = &ring[(i + 1) % 3];
  root = grow(6, 1);
  pthread_barrier_init(&ready, 0, 4);
  pthread_t t[3];
  for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, (void *)i);
  pthread_barrier_wait(&ready);
  usleep(50000); // the others sleep by then, most likely
  puts("ready");
  fflush(stdout);
  if (argc > 2) for (;;) pause();
  return middle(3, "because");
}
