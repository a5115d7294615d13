// Any bytes as a rule file, which then meets a fact of each kind.
#include "why/inference.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  why::Inference inference;
  inference.load_own();
  if (!inference.load({reinterpret_cast<const char*>(data), size}, "fuzz.clp").ok()) return 0;
  for (const why::FactKind& kind : why::fact_kinds()) inference.add({&kind, {}, "processes"});
  (void)inference.run(1000);
  return 0;
}
