// Exceptions, a cancelled thread, and what returns instead of another function: thrown [ROUNDS] counts what happens itself,
// and prints it. With a second argument it waits for a line before it begins.
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

#define OUT_OF_LINE __attribute__((noinline, noclone))
#define FENCE asm volatile("" ::: "memory")

static long returned, thrown, cleaned, followed, direct;

struct Cleaner {
  ~Cleaner() { cleaned++; }
};

OUT_OF_LINE long source(long n) {
  if (n % 3 == 0) throw std::runtime_error("a third");
  FENCE;
  return n + 1;
}

// An exception passes through; with two returns.
OUT_OF_LINE long passes(long n) {
  if (n % 2) return source(n) * 2 + returned % 2 * 0;
  long value = source(n);
  FENCE;
  return value;
}

// It has something to do while one passes.
OUT_OF_LINE long cleans(long n) {
  Cleaner cleaner;
  long value = passes(n);
  FENCE;
  return value;
}

// Returns by a jump, to what others call too.
OUT_OF_LINE long last(long n) {
  long value = source(n);
  FENCE;
  return value + 5;
}
OUT_OF_LINE long middle(long n) {
  FENCE;
  return last(n + 3);
}
OUT_OF_LINE long jumps(long n) {
  FENCE;
  return middle(n + 3);
}

// Goes down, and an exception comes up all the way.
OUT_OF_LINE long deep(long n, long from) {
  if (n) {
    long value = deep(n - 1, from);
    FENCE;
    return value + 1;
  }
  long value = source(from);
  FENCE;
  return value;
}

using Function = long (*)(long);
OUT_OF_LINE long by_pointer(Function f, long n) {
  FENCE;
  return f(n);
}

static void one_round(long n) {
  try {
    cleans(n);
    returned++;
  } catch (const std::exception&) {
    thrown++;
  }
  try {
    jumps(n);
    followed++;
  } catch (const std::exception&) {
  }
  try {
    last(n);
    direct++;
  } catch (const std::exception&) {
  }
  try {
    deep(20, n);
  } catch (const std::exception&) {
  }
  try {
    by_pointer(source, n);
  } catch (const std::exception&) {
  }
}

OUT_OF_LINE long waits(long) {
  for (;;) pause();
}
OUT_OF_LINE long cancelled(long n) {
  Cleaner cleaner;
  long value = waits(n);
  FENCE;
  return value;
}
OUT_OF_LINE long leaves(long n) {
  if (n) pthread_exit(nullptr);
  FENCE;
  return n;
}
static void* body(void* what) {
  Cleaner cleaner;
  if (what)
    leaves(1);
  else
    cancelled(0);
  return nullptr;
}

int main(int count, char** words) {
  const long rounds = count > 1 ? std::atol(words[1]) : 9;
  if (count > 2) std::puts("ready"), std::fflush(stdout), std::getchar();
  for (long n = 1; n <= rounds; n++) one_round(n);
  const long of_exceptions = cleaned;
  for (bool leaves : {false, true}) {
    pthread_t thread;
    pthread_create(&thread, nullptr, body, leaves ? words : nullptr);
    if (!leaves) usleep(20000), pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  std::printf("returned %ld thrown %ld cleaned %ld cancelled %ld followed %ld direct %ld\n", returned, thrown, of_exceptions,
              cleaned - of_exceptions, followed, direct);
}
