#define GOOD 1
struct good { int a; };
