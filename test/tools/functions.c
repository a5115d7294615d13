// A program whose calls are known: functions COUNT SLOW_US. Each of COUNT rounds allocates 1000 bytes and works 2 ms; the
// last round works SLOW_US instead.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

volatile int total;

__attribute__((noinline)) int work(int round, int us) {
  usleep((useconds_t)us);
  return total += round;
}
__attribute__((noinline)) int work_more(int round) { return total -= round; }

// Calls itself: the outer calls hold the inner ones.
__attribute__((noinline)) int deeper(int depth) {
  usleep(1000);
  return depth ? deeper(depth - 1) + total : 0;
}

__attribute__((noinline)) void* take(size_t bytes) {
  char* p = malloc(bytes);
  if (p) p[0] = 1;
  return p;
}

void* in_thread(void* p) { return p; }

int main(int count, char** words) {
  int rounds = count > 1 ? atoi(words[1]) : 1, slow = count > 2 ? atoi(words[2]) : 2000;
  for (int i = 1; i <= rounds; i++) {
    free(take(1000));
    work(i, i == rounds ? slow : 2000);
    work_more(i);
  }
  deeper(3);
  pthread_t thread;
  if (pthread_create(&thread, 0, in_thread, 0) == 0) pthread_join(thread, 0);
  return 0;
}
