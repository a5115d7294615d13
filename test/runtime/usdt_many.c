// A mark with as many arguments as the macros allow.
#include <sys/sdt.h>

int main(void) {
  volatile long v[12];
  for (int i = 0; i < 12; i++) v[i] = 100 + i;
  DTRACE_PROBE12(app, many, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11]);
  return 0;
}
