#define GOOD 1
#endif
