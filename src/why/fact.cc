// The table of facts, kept as one text and taken apart on first use: as data, its thousand pointers would have to be relocated at each start of acu,
// whichever command it runs.
#include "why/fact.h"

#include "why/fact_kinds.h"

#include <algorithm>
#include <array>

namespace why {

namespace {

constexpr size_t slot_count = [] {
  size_t n = 0;
  for (const FactKind& kind : all_fact_kinds) n += kind.slots.size();
  return n;
}();

// Each name, sentence and so on, ended by a 0; a kind ends with an empty name of a slot.
constexpr void write_table(auto put) {
  const auto put_text = [&](std::string_view text) {
    for (char c : text) put(c);
    put('\0');
  };
  for (const FactKind& kind : all_fact_kinds) {
    put_text(kind.name);
    put_text(kind.doc);
    for (const SlotKind& slot : kind.slots) {
      put_text(slot.name);
      put(static_cast<char>(slot.type));
      put_text(slot.unit);
      put_text(slot.doc);
    }
    put('\0');
  }
}

constexpr size_t text_size = [] {
  size_t n = 0;
  write_table([&](char) { n++; });
  return n;
}();

constexpr std::array<char, text_size> text = [] {
  std::array<char, text_size> out = {};
  size_t n = 0;
  write_table([&](char c) { out[n++] = c; });
  return out;
}();

struct Table {
  std::array<SlotKind, slot_count> slots;
  std::array<FactKind, std::size(all_fact_kinds)> kinds;

  Table() {
    const char* at = text.data();
    const auto take = [&] {
      const std::string_view out = at;
      at += out.size() + 1;
      return out;
    };
    size_t n = 0;
    for (FactKind& kind : kinds) {
      kind.name = take();
      kind.doc = take();
      const size_t first = n;
      for (std::string_view name = take(); !name.empty(); name = take()) {
        const auto type = static_cast<SlotType>(*at++);
        const std::string_view unit = take();
        slots[n++] = {name, type, unit, take()};
      }
      kind.slots = std::span(slots).subspan(first, n - first);
    }
  }
};

} // namespace

std::span<const FactKind> fact_kinds() {
  static const Table table;
  return table.kinds;
}

const FactKind* find_fact_kind(std::string_view name) {
  const auto kinds = fact_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const FactKind& k) { return k.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

} // namespace why
