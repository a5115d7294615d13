// A heap with known holders, losses and damage: what is done to it at last is the program's argument.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <unistd.h>
struct Session { virtual ~Session() = default; Session *next = nullptr; char body[100] = {}; };
struct Order : Session { Order *circle = nullptr; };
static Session *sessions;
static thread_local char *buffer;
static void clear_stack() { volatile char room[16384]; for (unsigned i = 0; i < sizeof room; i++) room[i] = 0; }
__attribute__((noinline)) static void keep() { for (int i = 0; i < 50; i++) { Session *s = new Session; s->next = sessions; sessions = s; } }
__attribute__((noinline)) static void lose() {
  // Three lists of four that nothing leads to, and a circle of two; behind each loss a free chunk, which malloc's own lists lead to.
  for (int i = 0; i < 3; i++) {
    Session *list = nullptr;
    for (int k = 0; k < 4; k++) { Session *s = new Session; s->next = list; list = s; }
    void *gap = malloc(3000);
    memset(malloc(24), 1, 24);
    free(gap);
  }
  Order *one = new Order, *two = new Order;
  one->circle = two, two->circle = one;
}
__attribute__((noinline)) static void wait_with(char *given) { puts("ready"); fflush(stdout); for (;;) { pause(); asm volatile("" : : "r"(given) : "memory"); } }
static void *work(void *) { buffer = (char *)malloc(5000); memset(buffer, 2, 5000); for (;;) pause(); }
int main(int argc, char **argv) {
  setvbuf(stdout, nullptr, _IONBF, 0); // nothing is allocated after the damage
  keep();
  lose();
  buffer = (char *)malloc(7000);
  memset(buffer, 3, 7000);
  pthread_t t;
  pthread_create(&t, nullptr, work, nullptr);
  usleep(100000);
  char *name = (char *)malloc(40), *next = (char *)malloc(2000), *last = (char *)malloc(3000);
  memset(next, 4, 2000), memset(last, 5, 3000);
  clear_stack();
  if (argc > 1 && !strcmp(argv[1], "overflow")) strcpy(name, "a name that is much longer than the forty bytes for it");
  if (argc > 1 && !strcmp(argv[1], "late")) { free(next); memset(next, 'x', 64); }
  wait_with(name);
}
