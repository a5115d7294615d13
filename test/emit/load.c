// A load whose every event is known: 1000 calls of getppid, 64 writes of 1 to 64 bytes, 20 opens of which 10 fail, 100 calls of handle().
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct header {
  uint16_t kind;
  uint16_t flags;
};

struct request {
  char name[12];
  struct header head;
  uint32_t length;
  struct request *next;
  int64_t balance;
};

uint64_t handled;

__attribute__((noipa)) int handle(struct request *r, int round) {
  handled += r->length;
  return r->next ? round : -round;
}

int main(void) {
  prctl(PR_SET_NAME, "emit_load");
  for (int i = 0; i < 1000; i++) syscall(SYS_getppid);
  int null = open("/dev/null", O_WRONLY);
  char bytes[64] = {0};
  for (int i = 1; i <= 64; i++)
    if (write(null, bytes, i) != i) return 1;
  for (int i = 0; i < 10; i++) close(open("/dev/zero", O_RDONLY));
  for (int i = 0; i < 10; i++)
    if (open("/no/such/file", O_RDONLY) >= 0) return 1;
  struct request second = {.name = "second", .head = {2, 7}, .length = 40, .balance = -5};
  struct request first = {.name = "first", .head = {1, 3}, .length = 20, .next = &second, .balance = 1000000000000};
  for (int i = 0; i < 100; i++) handle(i % 4 ? &first : &second, i);
  return 0;
}
