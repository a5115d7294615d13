// Calls that are left by exceptions and by longjmp, in recursion, in threads and in forked processes. Each prints how long it
// lasted until it was left, "left NAME N ns": of an exception by what lies behind it in the caller's clean-up or handler.
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

static long now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void nap(long ms) {
  timespec t = {0, ms * 1000000};
  nanosleep(&t, nullptr);
}

static thread_local long begins[16];

namespace shop {
// Of the call of `inner`, as the thread comes by on its way up.
struct Tidy {
  int inner;
  ~Tidy() {
    printf("left sink %d %ld\n", inner, now() - begins[inner]);
    nap(8);
  }
};

[[gnu::noipa]] int sink(int n) {
  begins[n] = now();
  nap(10);
  if (n == 0) throw std::runtime_error("bottom");
  Tidy tidy{n - 1};
  return sink(n - 1) + 1;
}
[[gnu::noipa]] int leaf(int n) {
  nap(5);
  return n;
}
[[gnu::noipa]] int attempt(int n) {
  int out = 0;
  try {
    out = sink(n);
  } catch (const std::exception&) {
    printf("left sink %d %ld\n", n, now() - begins[n]);
    nap(12);
  }
  return out + leaf(3);
}
// The exception goes on from the handler.
[[gnu::noipa]] int again(int n) {
  try {
    return sink(n);
  } catch (...) {
    nap(5);
    throw;
  }
}
[[gnu::noipa]] int outermost(int n) {
  try {
    return again(n);
  } catch (const std::exception&) {
    nap(5);
    return leaf(n);
  }
}

static jmp_buf back;
[[gnu::noipa]] void dive(int n) {
  begins[n] = now();
  nap(10);
  if (n == 0) longjmp(back, 1);
  dive(n - 1);
  asm("");
}
// What it calls afterwards is deeper on the stack than what was left.
[[gnu::noipa]] int wide(int n) {
  volatile char room[8192] = {};
  room[n] = 1;
  return leaf(n) + room[n] - 1;
}
[[gnu::noipa]] int lands(int n) {
  if (!setjmp(back)) dive(n);
  printf("left dive %d %ld\n", n, now() - begins[n]);
  nap(5);
  return wide(4);
}

[[gnu::noipa]] int child() {
  leaf(1);
  return attempt(1);
}
[[gnu::noipa]] int split() {
  const pid_t pid = fork();
  if (!pid) return child();
  waitpid(pid, nullptr, 0);
  return leaf(2);
}
} // namespace shop

static void* thread(void* n) {
  for (int i = 0; i < 3; i++) shop::attempt(static_cast<int>(reinterpret_cast<long>(n)));
  return nullptr;
}

int main(int, char** words) {
  if (!strcmp(words[1], "throw")) shop::attempt(2);
  if (!strcmp(words[1], "again")) shop::outermost(1);
  if (!strcmp(words[1], "jump")) shop::lands(2);
  if (!strcmp(words[1], "often")) for (int i = 0; i < 5; i++) shop::attempt(1);
  if (!strcmp(words[1], "fork")) shop::split();
  if (!strcmp(words[1], "serve")) {
    puts("ready"), fflush(stdout);
    if (!freopen("/dev/null", "w", stdout)) return 1;
    for (;;) shop::attempt(1);
  }
  if (!strcmp(words[1], "threads")) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], nullptr, thread, reinterpret_cast<void*>(i));
    for (pthread_t one : t) pthread_join(one, nullptr);
  }
  fflush(stdout);
}
