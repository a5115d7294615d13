/* Calls the function of each library in its turn, between dlopen and dlclose: loader LIBRARY FUNCTION … . Each is gone
   when the next one comes, so that it may lie at the same addresses. All of it as often as $TIMES says. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static long call(long (*function)(long)) {
  long result = function(0);
  __asm__ volatile("" : "+r"(result));
  return result;
}

extern long own_outer(long);

int main(int argc, char** argv) {
  call(own_outer); /* the first stack comes before any library */
  int times = getenv("TIMES") ? atoi(getenv("TIMES")) : 1;
  for (int i = 1; i + 1 < argc; i = i + 3 < argc || --times <= 0 ? i + 2 : 1) {
    void* library = dlopen(argv[i], RTLD_NOW);
    long (*function)(long) = library ? (long (*)(long))dlsym(library, argv[i + 1]) : 0;
    if (!function) return fprintf(stderr, "%s\n", dlerror()), 1;
    call(function);
    dlclose(library);
  }
  return 0;
}
