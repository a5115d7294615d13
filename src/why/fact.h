// What measurements yield: rows with named slots. The kinds of facts are a table (fact_kinds.h), from which rules get their templates and
// documents their list.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace why {

enum class SlotType : uint8_t { number, integer, text };

struct SlotKind {
  std::string_view name; // "share"
  SlotType type = SlotType::number;
  std::string_view unit; // "1", "ns", "1/s", "bytes"; of texts empty
  std::string_view doc;
};

struct FactKind {
  std::string_view name; // "hot-function"
  std::string_view doc;  // one sentence
  std::span<const SlotKind> slots;
};

using Value = std::variant<double, int64_t, std::string>;

// Slots that are not given are 0 or empty: whoever makes a fact gives all that it knows, and omits the fact if it knows nothing.
struct Fact {
  const FactKind* kind = nullptr;
  std::vector<std::pair<std::string_view, Value>> slots; // by name
  std::string_view measurement;                          // that yielded it; empty: it was asked for (the request itself)
};

std::span<const FactKind> fact_kinds();
const FactKind* find_fact_kind(std::string_view name);

} // namespace why
