// For bench/cores.py: a list of 200,000 nodes, and a hash of 65,536 buckets with 200,000 entries. Dies of SIGABRT; with
// an argument it tells that it is ready, and lives on.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct node {
  struct node *next;
  long value;
  char payload[16];
};
struct entry {
  struct entry *next;
  unsigned key;
  int value;
};

struct node *list;
struct entry *buckets[65536];
long expected;

int main(int argc, char **argv) {
  (void)argv;
  unsigned random = 1;
  for (int i = 0; i < 200000; i++) {
    struct node *n = malloc(sizeof *n);
    n->value = i % 1000;
    n->next = list;
    list = n;
    random = random * 1664525 + 1013904223;
    struct entry *e = malloc(sizeof *e);
    e->key = random;
    e->value = i % 77;
    e->next = buckets[random >> 16];
    buckets[random >> 16] = e;
    expected += n->value + e->value;
  }
  if (argc > 1) {
    puts("ready");
    fflush(stdout);
    pause();
  }
  abort();
}
