#define A 1
/* never closed
