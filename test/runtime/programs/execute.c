// execute ARCHIVE LIBRARY: maps the library's function from where its bytes stand in the archive, and calls
// it as often as it says.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static char* whole(const char* path, size_t* size) {
  int fd = open(path, O_RDONLY);
  struct stat about;
  if (fd < 0 || fstat(fd, &about) != 0) return NULL;
  *size = (size_t)about.st_size;
  return mmap(NULL, *size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
}

int main(int argc, char** argv) {
  size_t size, library_size;
  char* archive = whole(argv[1], &size);
  char* library = whole(argv[2], &library_size);
  if (argc < 3 || !archive || !library) return 1;
  char* start = memmem(archive, size, library, library_size);
  char* code = start ? memmem(start, library_size, "\xb8\x04\x00\x00\x00\xc3", 6) : NULL; // mov $4,%eax; ret
  if (!code) return 2;
  if (!memcmp(code - 4, "\xf3\x0f\x1e\xfa", 4)) code -= 4;
  int (*four)(void) = (int (*)(void))code;
  for (int i = 0; i < 3; i++)
    if (four() != 4) return 3;
  return four() != 4;
}
