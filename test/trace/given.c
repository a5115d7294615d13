/* Calls whose arguments are changed by the kernel, or mean something only with what was before; ends by a signal to itself. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  int ends[2], pair[2];
  char bytes[4];
  if (pipe2(ends, O_CLOEXEC) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 1;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  bind(listening, (struct sockaddr *)&address, size);
  listen(listening, 1);
  getsockname(listening, (struct sockaddr *)&address, &size);
  const int to = socket(AF_INET, SOCK_STREAM, 0);
  connect(to, (struct sockaddr *)&address, size);
  const int from = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
  struct pollfd poll_one = {.fd = ends[0], .events = POLLIN};
  ppoll(&poll_one, 1, &(struct timespec){0, 5000000}, NULL);
  if (write(ends[1], "x", 1) != 1 || read(ends[0], bytes, 1) != 1 || write(to, "hi", 2) != 2 || read(from, bytes, 2) != 2 || write(pair[0], "y", 1) != 1 ||
      read(pair[1], bytes, 1) != 1)
    return 1;
  close(ends[0]);
  const int again = socket(AF_NETLINK, SOCK_RAW, 0); /* gets the number of what was closed */
  close(again);
  const int file = open("given.tmp", O_RDWR | O_CREAT, 0600);
  fcntl(file, F_SETLEASE, F_WRLCK);
  fcntl(file, F_SETLEASE, F_UNLCK);
  fcntl(file, F_SETSIG, SIGUSR1);
  fcntl(file, F_NOTIFY, DN_MODIFY | DN_MULTISHOT);
  shmctl(shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), IPC_RMID, NULL);
  msgctl(msgget(IPC_PRIVATE, IPC_CREAT | IPC_EXCL | 0640), IPC_RMID, NULL);
  semget(0x7ffffffe, 2, 0600);
  unlink("given.tmp");
  kill(getpid(), SIGTERM);
}
