// Runs code that is in no ELF file: flat FILE OFFSET. The file is mapped, and the function at the offset is called three times.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char** argv) {
  int file = argc > 2 ? open(argv[1], O_RDONLY) : -1;
  char* code = file < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  if (code == MAP_FAILED) return 1;
  int (*function)(int) = (int (*)(int))(void*)(code + strtol(argv[2], NULL, 0));
  int sum = 0;
  for (int i = 1; i <= 3; i++) sum += function(i);
  printf("%d\n", sum);
  return 0;
}
