// A load whose system calls and function calls are known: opens, reads, writes and seeks of known numbers and sizes.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) long weigh(long a, long b)
{
  __asm__ volatile("");
  return a * 2 + b;
}

__attribute__((noinline)) int named(const char *name)
{
  __asm__ volatile("");
  return (int)strlen(name);
}

int main(void)
{
  char buffer[4096];
  int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
  for (int i = 0; i < 100; i++)
    if (read(zero, buffer, 1 << i % 10) < 0)
      return 1;
  for (int i = 0; i < 50; i++)
    if (write(null, buffer, 100 * (i % 5)) < 0)
      return 1;
  for (int i = 0; i < 20; i++)
    lseek(zero, i, SEEK_SET);
  for (int i = 0; i < 3; i++) {
    int fd = open(i ? "/etc/hostname" : "/nothing/there", O_RDONLY);
    if (fd >= 0)
      close(fd);
  }
  long sum = 0;
  for (long i = 0; i < 30; i++)
    sum += weigh(i, -1);
  sum += named("first") + named("second") + named("first");
  fprintf(stderr, "%ld\n", sum);
  return 0;
}
