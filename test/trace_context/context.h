/* A record as spec/thread_context.h of acu describes it, written here anew, and the functions of the part of the program that publishes it. */
#pragma once

#include <stdint.h>

struct record {
  uint8_t trace_id[16];
  uint8_t span_id[8];
  uint8_t valid;
  uint8_t flags;
  uint16_t attributes_size;
} __attribute__((packed, aligned(2)));

void publish(const struct record* record); /* of the calling thread; NULL: none */
