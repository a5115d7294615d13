// A server that compiles the same pattern again for each request.
#include <regex.h>
#include <stddef.h>

static int is_allowed(const char *path) {
  regex_t rule;
  regcomp(&rule, "^/(static|images|api/v[0-9]+)/[a-z0-9_/.-]*$", REG_EXTENDED | REG_NOSUB);
  int result = regexec(&rule, path, 0, NULL, 0);
  regfree(&rule);
  return result == 0;
}

__attribute__((noinline)) int handle_request(const char *path) { return is_allowed(path) ? 200 : 403; }

int main(void) {
  for (int n = 0;; n++) handle_request(n % 2 ? "/images/logo.png" : "/etc/passwd");
}
