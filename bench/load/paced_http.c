// HTTP requests at a steady rate: paced_http PORT REQUESTS_PER_SECOND SECONDS [CONNECTIONS]. Asks 127.0.0.1 for /page.html, one request after the
// other, over connections that stay open, in turns. Each request has a time at which it is due; those that are late are made up for. Prints requests
// answered with 200, requests in all, seconds taken, and the median and 99th percentile of the time from due to answered, in us.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_CONNECTIONS 1000

static const char request[] = "GET /page.html HTTP/1.1\r\nHost: localhost\r\n\r\n";

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void wait_until(double due) {
  struct timespec t = {(time_t)due, (long)((due - (double)(time_t)due) * 1e9)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
  }
}

static int connect_to(int port) {
  const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  const int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  if (fd < 0 || connect(fd, (const struct sockaddr*)&address, sizeof address)) {
    perror("connect");
    exit(1);
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

// Whether it was answered with 200; `*closes`: the server ends the connection after it, as nginx does after keepalive_requests.
static int ask(int fd, int* closes) {
  char answer[8192];
  size_t length = 0, whole = 0;
  *closes = 1;
  if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != sizeof request - 1) return 0;
  while (!whole || length < whole) {
    const ssize_t bytes = recv(fd, answer + length, sizeof answer - 1 - length, 0);
    if (bytes <= 0) return 0;
    length += (size_t)bytes;
    answer[length] = 0;
    const char *end = strstr(answer, "\r\n\r\n"), *size = strstr(answer, "Content-Length: ");
    if (!whole && end && size && size < end) whole = (size_t)(end + 4 - answer) + strtoul(size + 16, NULL, 10);
    if (whole >= sizeof answer || (end && !whole)) return 0;
  }
  *closes = strstr(answer, "Connection: close") != NULL;
  return !strncmp(answer, "HTTP/1.1 200 ", 13);
}

static int compare(const void* a, const void* b) { return (*(const float*)a > *(const float*)b) - (*(const float*)a < *(const float*)b); }

int main(int argc, char** argv) {
  const int port = argc > 3 ? atoi(argv[1]) : 0, connections = argc > 4 ? atoi(argv[4]) : 16;
  const double rate = port ? atof(argv[2]) : 0, seconds = port ? atof(argv[3]) : 0;
  const long requests = (long)(rate * seconds);
  if (requests < 1 || connections < 1 || connections > MAX_CONNECTIONS) return 2;
  prctl(PR_SET_TIMERSLACK, 1UL);
  int fds[MAX_CONNECTIONS];
  for (int i = 0; i < connections; i++) fds[i] = connect_to(port);
  float* took = calloc((size_t)requests, sizeof *took);
  const double begin = now();
  long good = 0, made = 0;
  // Twice the time at most, where the rate cannot be reached.
  for (; made < requests && now() < begin + 2 * seconds; made++) {
    const double due = begin + (double)made / rate;
    int closes, *fd = &fds[made % connections];
    wait_until(due);
    good += ask(*fd, &closes);
    took[made] = (float)((now() - due) * 1e6);
    if (closes) {
      close(*fd);
      *fd = connect_to(port);
    }
  }
  const double end = now();
  qsort(took, (size_t)made, sizeof *took, compare);
  printf("%ld %ld %.3f %.1f %.1f\n", good, made, end - begin, (double)took[made / 2], (double)took[made * 99 / 100]);
  return 0;
}
