/* Starts programs one after the other, all with the same process id: spawn PID PROGRAM MILLISECONDS … (clone3 with
   set_tid; needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN). */
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  pid_t wanted = atoi(argv[1]);
  for (int i = 2; i + 1 < argc; i += 2) {
    struct clone_args how = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&wanted, .set_tid_size = 1};
    long pid = syscall(SYS_clone3, &how, sizeof how);
    if (pid < 0) return perror("clone3"), 2;
    if (pid == 0) {
      execl(argv[i], argv[i], argv[i + 1], (char*)0);
      _exit(127);
    }
    waitpid((pid_t)pid, 0, 0);
  }
  return 0;
}
