// Any bytes as a batch of an agent, and as the content of one whose head and compression are right.
#include "fleet/batch.h"
#include "fleet/rows.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const base::ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  if (auto head = fleet::read_head(bytes); head.ok()) (void)fleet::unpack(*head).ok();
  auto content = fleet::read_content(bytes);
  if (!content.ok()) return 0;
  fleet::Names names;
  fleet::RowWriter rows;
  const fleet::BatchRows batch = fleet::rows_of("host", 1, 2, 1000, std::move(*content));
  names.add(batch);
  fleet::add_samples(rows, batch, 15), fleet::add_series(rows, batch, 112);
  return 0;
}
