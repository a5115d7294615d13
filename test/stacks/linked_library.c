/* A library between a program and its own function: calls back from a frame without frame pointer. */
#include "linked.h"

volatile unsigned long linked_calls;

__attribute__((noinline)) static void through(void (*function)(void)) {
  function();
  linked_calls++;
}

void call_back(void (*function)(void)) {
  through(function);
  linked_calls++;
}
