// Calls step() 200 times, or with an argument for as long as it runs.
#include <unistd.h>

__attribute__((noinline)) int step(int n) { return getppid() + n; }

int main(int count, char** words) {
  (void)words;
  int sum = 0;
  for (int i = 0; i < 200 || count > 1; i++) {
    sum += step(i);
    usleep(200);
  }
  return sum == 7;
}
