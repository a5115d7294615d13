#include "nested/inner.h"
#define OUTER (INNER + 1)
