// A server with a locked cache. A second thread holds the lock for 60 ms, twice a second, while it writes a copy to disk.
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) int look_up(int key) {
  pthread_mutex_lock(&cache_lock);
  int value = key * 3;
  pthread_mutex_unlock(&cache_lock);
  return value;
}

__attribute__((noinline)) int handle_request(int key) {
  usleep(200);
  return look_up(key);
}

__attribute__((noinline)) void write_copy(void) {
  pthread_mutex_lock(&cache_lock);
  usleep(60000);
  pthread_mutex_unlock(&cache_lock);
}

static void *keep_copies(void *unused) {
  for (;; usleep(440000)) write_copy();
  return unused;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, keep_copies, NULL);
  for (int n = 0;; n++) handle_request(n);
}
