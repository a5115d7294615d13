// What a thread of a process publishes of the request that it works on: trace and span, by OpenTelemetry's convention "Thread Context" (OTEP 4947, schema
// tls_v1, the text of 2026). A thread-local variable points to a record, or to nothing while there is no request.
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

inline constexpr std::string_view thread_context_variable = "otel_thread_ctx_v1";

// The record begins with these; attributes follow, which acu does not read.
struct ThreadContextRecord {
  uint8_t trace_id[16]; // in the order of W3C's Trace Context; all 0: none
  uint8_t span_id[8];
  uint8_t valid; // 1: it is complete; all else: it is not to be used
  uint8_t trace_flags;
  uint16_t attributes_size;
};
static_assert(sizeof(ThreadContextRecord) == 28);

} // namespace spec
