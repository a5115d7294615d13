#include "recording/event_kinds.h"

#include "base/text.h"

namespace recording {

namespace {

constexpr std::pair<std::string_view, FieldType> short_types[] = {
    {"n", FieldType::number},      {"s", FieldType::signed_number}, {"d", FieldType::duration}, {"a", FieldType::address},
    {"text", FieldType::text},     {"thread", FieldType::thread},   {"stack", FieldType::stack},
};

FieldType type_of(std::string_view name) {
  for (const auto& [text, type] : short_types)
    if (text == name) return type;
  return FieldType::number;
}

constexpr bool rows_are_in_order() {
  for (size_t i = 0; i < kind_rows.size(); i++)
    if (kind_rows[i].kind != static_cast<Kind>(i)) return false;
  return true;
}
static_assert(rows_are_in_order());

} // namespace

bool is_log(const EventKind& kind) {
  return kind.name == kind_rows[static_cast<size_t>(Kind::log)].name && !kind.fields.empty() && kind.fields.front().type == FieldType::text;
}

EventKind kind_of(Kind kind) {
  const KindRow& row = kind_rows[static_cast<size_t>(kind)];
  EventKind out = {.name = std::string(row.name), .meaning = row.meaning, .fields = {}};
  for (std::string_view field : base::split(row.fields, ' ')) {
    const size_t colon = field.find(':');
    if (colon != field.npos) out.fields.push_back({.name = std::string(field.substr(0, colon)), .type = type_of(field.substr(colon + 1))});
  }
  return out;
}

} // namespace recording
