#define SIBLING 40
