// Calls as text: any number, any registers, any bytes behind the arguments (trace/values.h).
#include "trace/values.h"

#include <algorithm>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::ByteSpan rest = std::as_bytes(std::span(data, size));
  auto take = [&](size_t n) {
    const base::ByteSpan out = rest.first(std::min(n, rest.size()));
    rest = rest.subspan(out.size());
    return out;
  };
  auto number = [&] {
    uint64_t out = 0;
    const base::ByteSpan bytes = take(sizeof out);
    if (!bytes.empty()) std::memcpy(&out, bytes.data(), bytes.size());
    return out;
  };
  trace::Call call;
  constexpr uint64_t numbers = 512; // more than there are calls
  const uint64_t which = number();
  call.number = static_cast<int>(which % numbers) + (which >> 63 ? trace::Call::first_of_32 : 0);
  call.result = static_cast<int64_t>(number());
  call.duration_ns = 1;
  for (uint64_t& a : call.arguments) a = number();
  const uint64_t lengths = number();
  for (size_t i = 0; i < call.copied.size(); i++) call.copied[i] = take(lengths >> 8 * i & 0xff);
  for (size_t i = 0; i < 8; i++) call.inner.push_back(take(lengths >> 3 * i & 0x3f));
  for (size_t i = 0; i < 7; i++) call.sets.push_back(take(lengths >> 5 * i & 0x1f));
  call.left = call.copied[4];
  (void)trace::call_text(call, {.data = 64, .entries = (which >> 62 & 1) != 0});
  (void)trace::signal_text(call.arguments[0] % 65, static_cast<int>(call.result), call.copied[0]);
  return 0;
}
