// A lock in memory that is shared through a file, without a symbol: shared_lock FILE TURNS. The mutex is at 0x40 in the file. Two
// threads take turns at it, each sleeping for 2 ms while it has it.
#include <cstdlib>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

int main(int, char** words) {
  const int file = open(words[1], O_RDWR | O_CREAT, 0600), turns = atoi(words[2]);
  if (file < 0 || ftruncate(file, 4096) != 0) return 1;
  char* memory = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  auto* lock = reinterpret_cast<pthread_mutex_t*>(memory + 0x40);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(lock, &attributes);
  auto work = [&] {
    for (int i = 0; i < turns; i++) {
      pthread_mutex_lock(lock);
      usleep(2000);
      pthread_mutex_unlock(lock);
    }
  };
  std::thread other(work);
  work();
  other.join();
}
