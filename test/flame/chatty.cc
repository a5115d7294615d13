// Many small events: chatty EVENTS [SECONDS]. It writes to /dev/null from two functions, three times as many bytes in `talk` as in
// `whisper`, and touches new pages; it prints the bytes of all writes, and the page faults that the kernel counted meanwhile. With
// SECONDS it writes for so long at least.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static char text[4096];
static unsigned long written;

static void put(int file, size_t size) {
  const ssize_t n = write(file, text, size);
  if (n > 0) written += n;
}

__attribute__((noipa)) static void talk(int file, int size) {
  for (int i = 0; i < 3; i++) put(file, size);
  asm volatile("");
}

__attribute__((noipa)) static void whisper(int file, int size) {
  put(file, size);
  asm volatile("");
}

__attribute__((noipa)) static void touch(int pages) {
  const size_t size = static_cast<size_t>(pages) << 12;
  char* memory = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  madvise(memory, size, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < size; at += 4096) memory[at] = 1;
  munmap(memory, size);
}

static long faults() {
  rusage use = {};
  getrusage(RUSAGE_SELF, &use);
  return use.ru_minflt + use.ru_majflt;
}

int main(int count, char** words) {
  const int events = atoi(words[1]), file = open("/dev/null", O_WRONLY);
  const time_t until = time(nullptr) + (count > 2 ? atoi(words[2]) : 0);
  for (int i = 0; i < events / 4 || (i & 1023) || time(nullptr) < until; i++) {
    const int size = 1 + rand() % static_cast<int>(sizeof text);
    talk(file, size);
    whisper(file, size);
  }
  const long before = faults();
  touch(events / 4);
  printf("%lu %ld\n", written, faults() - before);
}
