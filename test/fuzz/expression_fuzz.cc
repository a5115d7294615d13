// Any bytes as an expression: carried out at once and as steps of a recipe, which agree where both can; also
// as tables of frames, of two kinds, and their search table.
#include "../probe/expression_engines.h"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const samples::TypesUnit types;
  std::vector<std::byte> copy(std::as_bytes(std::span(data, size)).begin(),
                              std::as_bytes(std::span(data, size)).end());
  samples::EnginesResult result = samples::run_both(types, copy);
  if (!result.difference.empty()) {
    std::fprintf(stderr, "%s\n", result.difference.c_str());
    std::abort();
  }
  dwarf::FrameTables tables;
  tables.eh_frame = tables.debug_frame = copy;
  for (uint64_t address : {0u, 0x1000u, 0x401000u}) dwarf::cfa_rule_at(tables, address);
  tables.eh_frame_hdr = copy;
  tables.eh_frame_hdr_address = 0x1000;
  dwarf::cfa_rule_at(tables, 0x1000);
  return 0;
}
