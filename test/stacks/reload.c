/* Calls through one library after the other, each at the address that the one before had: reload LIBRARY... Their code calls back
 * from the same place with frames of different sizes (reloaded.c). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) static void leaf(void) {
  (void)getpgid(0);
  __asm__ volatile("");
}

int main(int count, char **names) {
  unsigned long first = 0;
  for (int n = 1; n < count; n++) {
    void *library = dlopen(names[n], RTLD_NOW);
    if (!library) return 1;
    void (*call_back)(void (*)(void));
    *(void **)&call_back = dlsym(library, "call_back");
    if (!first) first = (unsigned long)call_back;
    if ((unsigned long)call_back != first) return 2;
    for (int i = 0; i < 400; i++) {
      call_back(leaf);
      usleep(1000);
    }
    dlclose(library);
  }
  return 0;
}
