#define ITEM(name) colour_##name,
enum colours {
#include "list.h"
  colour_count
};
