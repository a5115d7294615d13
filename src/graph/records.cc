#include "graph/records.h"

#include <algorithm>
#include <cstring>

namespace graph {

namespace {

// The enumerators of graph.bt.
constexpr std::pair<std::string_view, RecordKind> kinds[] = {
    {"ENTRY", RecordKind::entry}, {"LEAVE", RecordKind::leave},     {"WHOLE", RecordKind::whole},  {"EXEC", RecordKind::exec},
    {"FORK", RecordKind::fork},   {"LANDING", RecordKind::landing}, {"ENDING", RecordKind::ending}};
constexpr std::pair<std::string_view, Ended> landings[] = {{"EXCEPTION", Ended::by_exception}, {"JUMP", Ended::by_jump}};

std::string_view enumerator_of(const type::Field& field, Records::Bytes record) {
  const std::span<const type::Enumerator> all = field.type->enumerators();
  const auto found = std::ranges::find(all, static_cast<int64_t>(number_of(field, record)), &type::Enumerator::value);
  return found == all.end() ? std::string_view() : found->name;
}

} // namespace

uint64_t number_of(const type::Field& f, Records::Bytes record) {
  uint64_t value = 0;
  std::memcpy(&value, record.data() + f.offset, std::min<uint32_t>(f.type->size, 8));
  return value;
}

std::string_view text_of(const type::Field& f, Records::Bytes record) {
  const char* begin = reinterpret_cast<const char*>(record.data()) + f.offset;
  return {begin, ::strnlen(begin, f.type->size)};
}

const Fields& Records::fields_in(const type::Type& record) {
  auto [at, is_new] = fields_.try_emplace(&record);
  if (!is_new) return at->second;
  Fields& f = at->second;
  const std::pair<std::string_view, const type::Field**> named[] = {
      {"kind", &f.kind}, {"ns", &f.ns}, {"tid", &f.tid}, {"pid", &f.pid}, {"cpu", &f.cpu}, {"thread", &f.thread},
      {"waited", &f.waited}, {"preempted", &f.preempted}, {"depth", &f.depth}, {"stack", &f.stack}, {"function", &f.function},
      {"arguments", &f.arguments}, {"result", &f.result}, {"start", &f.start}, {"waited_before", &f.waited_before},
      {"preempted_before", &f.preempted_before}, {"child", &f.child}, {"how", &f.how}, {"place", &f.place}};
  for (const type::Field& field : record.fields()) {
    const auto* known = std::ranges::find(named, field.name, [](auto& n) { return n.first; });
    if (known != std::end(named)) *known->second = &field;
  }
  return f;
}

RecordKind Records::kind_of(const Fields& fields, Bytes record) {
  return std::ranges::find(kinds, enumerator_of(*fields.kind, record), [](auto& k) { return k.first; })->second;
}

Ended Records::how_of(const Fields& fields, Bytes record) {
  return std::ranges::find(landings, enumerator_of(*fields.how, record), [](auto& l) { return l.first; })->second;
}

} // namespace graph
