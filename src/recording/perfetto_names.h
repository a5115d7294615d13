// Names in Perfetto's trace: each is written before the first packet that refers to it, and is a number from then on.
#pragma once

#include "base/protobuf.h"
#include "recording/events.h"

#include <span>
#include <string>
#include <vector>

namespace recording {

class PerfettoNames {
public:
  PerfettoNames(const Names& names, std::span<const EventKind> kinds);

  // The numbers of these things in the trace.
  uint64_t category(uint32_t kind);
  uint64_t event_name(uint32_t text);      // of a text
  uint64_t event_name_of_kind(uint32_t kind);
  uint64_t field_name(uint32_t kind, size_t field);
  uint64_t callstack(uint64_t stack);      // 0: the empty one

  // InternedData with what is new since the last time; empty: nothing is.
  std::string take_new();

private:
  // True for the first time.
  static bool is_new(std::vector<bool>& seen, size_t i);
  void text(uint32_t list, uint64_t number, std::string_view text);
  uint64_t frame(uint32_t number);

  const Names& names_;
  std::span<const EventKind> kinds_;
  std::vector<bool> categories_, texts_, kind_names_, fields_, functions_, modules_, frames_, stacks_;
  base::ProtoWriter new_;
};

} // namespace recording
