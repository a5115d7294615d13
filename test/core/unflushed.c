// Writes what stays in the buffers of its streams.
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv) {
  FILE *log = fopen(argv[1], "w");
  fprintf(log, "one\n\"two\"");
  puts("ready");
  fflush(stdout);
  printf("processing %d", 4711);
  for (;;) pause();
  return argc;
}
