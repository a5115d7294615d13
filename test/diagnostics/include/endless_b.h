#include "endless_a.h"
