// A server that forgets: leaky REQUESTS. Each request takes memory in every way there is and gives it back; each fourth
// keeps 1,000 bytes in remember_session(). It says `ready`, begins at a line of its input, says `done`, and waits.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static void* volatile sink;

__attribute__((noipa)) static void remember_session(size_t size) {
  sink = malloc(size);
  memset(sink, 1, size);
}

// Grown, shrunk, refused and given up by realloc.
__attribute__((noipa)) static void resize() {
  char* text = static_cast<char*>(malloc(100));
  text = static_cast<char*>(realloc(text, 20000));
  volatile size_t too_much = size_t{1} << 62;
  sink = realloc(text, too_much);
  sink = reallocarray(text, too_much, 8);
  text = static_cast<char*>(reallocarray(text, 300, 2));
  volatile size_t none = 0;
  sink = realloc(text, none);
  free(sink); // what other allocators than the C library's give back
}

__attribute__((noipa)) static void take_aligned() {
  void* page = nullptr;
  if (posix_memalign(&page, 4096, 300) == 0) free(page);
  sink = aligned_alloc(64, 640);
  free(sink);
  sink = memalign(128, 1000);
  free(sink);
  struct alignas(64) Line {
    char bytes[64];
  };
  Line* line = new Line();
  sink = line;
  delete line;
}

__attribute__((noipa)) static void answer(int number) {
  std::vector<std::string>* words = new std::vector<std::string>(20, std::string(50, 'w'));
  sink = calloc(10, 100);
  free(sink);
  resize();
  take_aligned();
  if (number % 4 == 0) remember_session(1000);
  delete words;
}

// The child gives back what its parent keeps.
__attribute__((noipa)) static void* keep_across_fork() {
  void* kept = malloc(777);
  sink = kept;
  const pid_t child = fork();
  if (child == 0) {
    free(kept);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return kept;
}

int main(int, char** words) {
  const int requests = atoi(words[1]);
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  for (int i = 0; i < requests; i++) {
    answer(i);
    usleep(500);
  }
  sink = keep_across_fork();
  puts("done");
  fflush(stdout);
  return getchar() == EOF;
}
