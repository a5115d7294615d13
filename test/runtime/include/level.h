// No guard: it may be read again with another name.
#ifndef LEVEL_A
#define LEVEL_A 1
#else
#define LEVEL_B 2
#endif
