// For the c_include and import cases.
#ifndef SIZES_H
#define SIZES_H
#define SIZE_SMALL 8
#define SIZE_LARGE (SIZE_SMALL * 16)
enum shapes { ROUND = 3, SQUARE, FLAT = 10 };
struct pair {
  int first;
  unsigned char second;
  long third;
};
typedef unsigned short small_t;
static inline int not_for_scripts(int a) { return a ? a * 2 : 'x'; }
extern int also_not(const char *text, ...) __attribute__((format(printf, 1, 2)));
#endif
