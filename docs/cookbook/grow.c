// A server that leaks the session of every fourth request.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct session {
  char user[40];
  char *page;
};

__attribute__((noinline)) struct session *open_session(int n) {
  struct session *s = malloc(sizeof *s);
  s->page = malloc(2000);
  memset(s->page, n, 2000);
  strcpy(s->user, "ada");
  return s;
}

__attribute__((noinline)) void close_session(struct session *s) {
  free(s->page);
  free(s);
}

__attribute__((noinline)) void handle_request(int n) {
  struct session *s = open_session(n);
  if (n % 4) close_session(s);
}

int main(void) {
  for (int n = 0;; n++) {
    handle_request(n);
    usleep(700);
  }
}
