// A parser that does not handle a request without a path.
#include <stdio.h>
#include <string.h>

struct request {
  char text[64];
  const char *path;
  int number;
};

__attribute__((noinline)) int is_image(struct request *r) { return strcmp(strrchr(r->path, '.'), ".png") == 0; }

__attribute__((noinline)) int handle_request(struct request *r) {
  r->path = strchr(r->text, '/');
  return is_image(r);
}

int main(void) {
  const char *said[] = {"GET /a.png", "GET /b.txt", "GET"};
  for (int n = 0; n < 3; n++) {
    struct request r = {"", NULL, n};
    strcpy(r.text, said[n]);
    printf("request %d: %d\n", n, handle_request(&r));
  }
}
