// handoff REQUESTS: a thread accepts requests, numbered from 1, and puts each into a slot, from where another thread takes and answers it.
#include <pthread.h>
#include <stdlib.h>

struct request {
  long number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct request *slot;
static long requests;

#define SEEN __attribute__((noinline, noipa))
SEEN void accept_request(long number) { __asm__ volatile("" ::"r"(number)); }
SEEN void put(struct request *r) { __asm__ volatile("" ::"r"(r)); }
SEEN void take(struct request *r) { __asm__ volatile("" ::"r"(r)); }
SEEN void answer(struct request *r, long number) { __asm__ volatile("" ::"r"(r), "r"(number)); }

static void *answer_all(void *unused) {
  for (long n = 0; n < requests; n++) {
    pthread_mutex_lock(&lock);
    while (!slot) pthread_cond_wait(&changed, &lock);
    struct request *r = slot;
    slot = NULL;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    take(r);
    answer(r, r->number);
    free(r);
  }
  return unused;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  requests = atol(arguments[1]);
  pthread_t other;
  if (pthread_create(&other, NULL, answer_all, NULL)) return 1;
  for (long n = 1; n <= requests; n++) {
    struct request *r = malloc(sizeof *r);
    if (!r) return 1;
    r->number = n;
    accept_request(n);
    put(r);
    pthread_mutex_lock(&lock);
    while (slot) pthread_cond_wait(&changed, &lock);
    slot = r;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  return pthread_join(other, NULL);
}
