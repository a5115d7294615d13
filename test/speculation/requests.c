// requests CALLS EVERY: CALLS requests, each of three system calls lseek(-1, number of the request, step) with steps 1, 2 and 3;
// the last step of every EVERY-th request is 4 instead: it was slow.
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3 || prctl(PR_SET_NAME, "acu_requests")) return 2;
  const long calls = atol(arguments[1]), every = atol(arguments[2]);
  for (long n = 0; n < calls; n++) {
    syscall(SYS_lseek, -1, n, 1);
    syscall(SYS_lseek, -1, n, 2);
    syscall(SYS_lseek, -1, n, n % every ? 3 : 4);
  }
  return 0;
}
