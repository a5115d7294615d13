#include "none_at_all.h"
