// Two threads that wait for each other's lock, a third that waits for one of them, and one that only sleeps.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER, journal = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void pay(void) {
  pthread_mutex_lock(&accounts);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&journal);
}
static void audit(void) {
  pthread_mutex_lock(&journal);
  pthread_barrier_wait(&both);
  pthread_mutex_lock(&accounts);
}
static void *payer(void *p) { pay(); return p; }
static void *auditor(void *p) { audit(); return p; }
static void *reader(void *p) { pthread_mutex_lock(&accounts); return p; }
int main(void) {
  pthread_t t[3];
  pthread_barrier_init(&both, 0, 3);
  pthread_create(&t[0], 0, payer, 0);
  pthread_create(&t[1], 0, auditor, 0);
  pthread_barrier_wait(&both);
  pthread_create(&t[2], 0, reader, 0);
  puts("ready");
  fflush(stdout);
  for (;;) pause();
}
