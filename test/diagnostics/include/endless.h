#include "endless.h"
