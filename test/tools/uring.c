/* One io_uring request after the other, without a library: 30 reads of /dev/zero, and 7 of a descriptor that is not open. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ring;
static unsigned *tail, *mask, *array, *head;
static struct io_uring_sqe *entries;

static void request(int operation, int file, void *data, unsigned size) {
  unsigned at = *tail & *mask;
  memset(&entries[at], 0, sizeof entries[at]);
  entries[at].opcode = operation;
  entries[at].fd = file;
  entries[at].addr = (unsigned long)data;
  entries[at].len = size;
  array[at] = at;
  __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
  syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0);
  __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
}

int main(void) {
  struct io_uring_params p = {0};
  if ((ring = syscall(SYS_io_uring_setup, 8, &p)) < 0) return errno;
  char *sq = mmap(0, 4096 * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
  entries = mmap(0, 8 * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
  tail = (unsigned *)(sq + p.sq_off.tail);
  mask = (unsigned *)(sq + p.sq_off.ring_mask);
  array = (unsigned *)(sq + p.sq_off.array);
  head = (unsigned *)(sq + p.cq_off.head);
  char data[512];
  int zero = open("/dev/zero", O_RDONLY);
  for (int i = 0; i < 30; i++) request(IORING_OP_READ, zero, data, sizeof data);
  for (int i = 0; i < 7; i++) request(IORING_OP_READ, 1000, data, sizeof data);
  return 0;
}
