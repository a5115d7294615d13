// Its own name, and a file that it looks for, have escape sequences in them. Runs for as long as it is let.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((noinline)) int step(int n) { return open("/nowhere/fi\033]0;owned\007le\302\233", O_RDONLY) + getppid() + n; }

int main(void) {
  prctl(PR_SET_NAME, "ev\033]0;x\007il");
  int sum = 0;
  for (int i = 0;; i++) {
    sum += step(i);
    for (volatile int j = 0; j < 100000; j++) {
    }
  }
  return sum;
}
