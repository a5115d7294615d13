#pragma once
#ifdef WAS_READ
#define READ_TWICE 1
#endif
#define WAS_READ 1
