// A library with a marked probe.
#include <sys/sdt.h>

void in_library(int n) { DTRACE_PROBE1(lib, inside, n); }
