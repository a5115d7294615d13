// Any bytes as the packed rows of a slot: what is read is written again, and gives the same rows.
#include "store/packed.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::vector<store::SampleRow> samples = store::unpack_samples(bytes);
  store::add_up(samples);
  const std::vector<store::SampleRow> again = store::unpack_samples(store::pack(samples));
  if (again.size() != samples.size()) std::abort();
  for (size_t i = 0; i < samples.size(); i++)
    if (again[i].thread != samples[i].thread || again[i].stack != samples[i].stack || again[i].weight != samples[i].weight || again[i].count != samples[i].count) std::abort();
  const std::vector<store::PointRow> points = store::unpack_points(bytes);
  if (store::unpack_points(store::pack(points)).size() > points.size()) std::abort();
  return 0;
}
