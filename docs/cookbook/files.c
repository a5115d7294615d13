// A server that leaves its log open when there is nothing to write.
#include <fcntl.h>
#include <unistd.h>

__attribute__((noinline)) int write_log(const char *text, int size) {
  int file = open("service.log", O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0) return -1;
  if (size == 0) return 0;
  write(file, text, size);
  close(file);
  return size;
}

__attribute__((noinline)) void handle_request(int n) { write_log("request\n", n % 8 ? 8 : 0); }

int main(void) {
  for (int n = 0;; n++) {
    handle_request(n);
    usleep(1000);
  }
}
