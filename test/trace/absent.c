// Pages of a file that are mapped, but not yet there: texts and data that nobody has touched. absent FILE PROGRAM
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static char *page(int fd, const char *text) {
  static off_t at;
  char bytes[4096] = "";
  strcpy(bytes, text);
  if (pwrite(fd, bytes, sizeof bytes, at) != sizeof bytes) _exit(9);
  char *mapped = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, at);
  at += 4096;
  return mapped;
}
int main(int argc, char **argv) {
  int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600), null = open("/dev/null", O_WRONLY);
  char *path = page(fd, "/etc/hostname"), *data = page(fd, "nobody has touched this"), *missing = page(fd, "/nonexistent"), *program = page(fd, argv[2]);
  char *words[] = {"x", 0};
  access(path, R_OK);
  write(null, data, 23);
  access((char *)8, R_OK);
  write(null, (char *)16, 40);
  access("", R_OK);
  execve(missing, words, 0);
  usleep(300000);
  execve(program, words, 0);
  return 1;
}
