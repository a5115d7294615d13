#include "sibling.h"
#define INNER (SIBLING + 1)
