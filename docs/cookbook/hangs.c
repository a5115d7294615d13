// Two threads that take two locks in opposite order, until they deadlock.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct transfer {
  int from, to, amount;
};

pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER, journal = PTHREAD_MUTEX_INITIALIZER;
int balance[3] = {10, 20, 30};

__attribute__((noinline)) void pay(struct transfer *t) {
  pthread_mutex_lock(&accounts);
  balance[t->from] -= t->amount;
  balance[t->to] += t->amount;
  usleep(100000);
  pthread_mutex_lock(&journal);
  pthread_mutex_unlock(&journal);
  pthread_mutex_unlock(&accounts);
}

__attribute__((noinline)) void audit(void) {
  pthread_mutex_lock(&journal);
  usleep(100000);
  pthread_mutex_lock(&accounts);
  pthread_mutex_unlock(&accounts);
  pthread_mutex_unlock(&journal);
}

static void *auditor(void *unused) {
  for (;;) audit();
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, auditor, NULL);
  struct transfer t = {0, 2, 5};
  for (;;) pay(&t);
}
