#include "endless_b.h"
