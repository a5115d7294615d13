/* The shared library of linked.cc and linked.rs. */
#pragma once

#ifdef __cplusplus
extern "C"
#endif
void call_back(void (*function)(void));
