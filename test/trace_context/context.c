/* The variable, and what sets it: linked into the program, or a library. */
#include "context.h"

#include <stddef.h>

/* Bytes of other variables around it: an offset that is not 0. */
__thread char before[100] __attribute__((used)) = {1};
__attribute__((visibility("default"))) __thread const struct record* volatile otel_thread_ctx_v1 = NULL;

__attribute__((visibility("default"), noinline)) void publish(const struct record* record) { otel_thread_ctx_v1 = record; }
