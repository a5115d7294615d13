// Numbers are those of the recording plus one, since 0 means "none" in a trace; only stacks keep theirs: the empty stack is none.
#include "recording/perfetto_names.h"

#include "recording/perfetto_fields.h"

#include <algorithm>
#include <utility>

namespace recording {

using namespace perfetto;
using base::ProtoWriter;

constexpr size_t most_fields = 64; // of a kind (bodies.cc)

PerfettoNames::PerfettoNames(const Names& names, std::span<const EventKind> kinds)
    : names_(names), kinds_(kinds), categories_(kinds.size()), texts_(names.texts.size()), kind_names_(kinds.size()), fields_(kinds.size() * most_fields), functions_(names.texts.size()),
      modules_(names.texts.size()), frames_(names.frames.size()), stacks_(names.stacks.size()) {}

bool PerfettoNames::is_new(std::vector<bool>& seen, size_t i) {
  if (seen[i]) return false;
  return seen[i] = true;
}

void PerfettoNames::text(uint32_t list, uint64_t number, std::string_view text) {
  ProtoWriter m;
  m.number(interned_text::number, number);
  m.bytes(interned_text::text, text);
  new_.bytes(list, m.text());
}

uint64_t PerfettoNames::category(uint32_t kind) {
  if (is_new(categories_, kind)) text(interned::categories, kind + 1, kinds_[kind].name);
  return kind + 1;
}

uint64_t PerfettoNames::event_name(uint32_t number) {
  if (is_new(texts_, number)) text(interned::event_names, number + 1, names_.texts[number]);
  return number + 1;
}

// Behind the texts.
uint64_t PerfettoNames::event_name_of_kind(uint32_t kind) {
  const uint64_t number = texts_.size() + kind + 1;
  if (is_new(kind_names_, kind)) text(interned::event_names, number, kinds_[kind].name);
  return number;
}

uint64_t PerfettoNames::field_name(uint32_t kind, size_t field) {
  const uint64_t number = kind * most_fields + field;
  if (is_new(fields_, number)) text(interned::annotation_names, number + 1, kinds_[kind].fields[field].name);
  return number + 1;
}

// Traces need a mapping and an offset in it, and frames with the same ones may be taken for one; a recording has names instead of addresses. So the frame's number takes the offset's
// place.
uint64_t PerfettoNames::frame(uint32_t number) {
  if (!is_new(frames_, number)) return number + 1;
  const Frame& f = names_.frames[number];
  if (is_new(functions_, f.name)) text(interned::function_names, f.name + 1, names_.texts[f.name]);
  if (is_new(modules_, f.module)) {
    text(interned::mapping_paths, f.module + 1, names_.texts[f.module]);
    ProtoWriter m;
    m.number(mapping::number, f.module + 1);
    m.number(mapping::path, f.module + 1);
    new_.bytes(interned::mappings, m.text());
  }
  ProtoWriter m;
  m.number(perfetto::frame::number, number + 1);
  m.number(perfetto::frame::function, f.name + 1);
  m.number(perfetto::frame::mapping, f.module + 1);
  m.number(perfetto::frame::offset, number + 1);
  new_.bytes(interned::frames, m.text());
  return number + 1;
}

uint64_t PerfettoNames::callstack(uint64_t stack) {
  if (!stack || !is_new(stacks_, stack)) return stack;
  std::vector<uint64_t> frames; // the innermost first, then the other way round
  for (uint64_t s = stack; s; s = names_.stacks[s].caller) frames.push_back(frame(names_.stacks[s].frame));
  std::reverse(frames.begin(), frames.end());
  ProtoWriter m;
  m.number(perfetto::callstack::number, stack);
  for (uint64_t f : frames) m.number(perfetto::callstack::frames, f);
  new_.bytes(interned::callstacks, m.text());
  return stack;
}

std::string PerfettoNames::take_new() { return std::exchange(new_, {}).text(); }

} // namespace recording
