#include "recording/described.h"

#include "recording/event_kinds.h"

#include <algorithm>

namespace recording {

std::string title_of(const Event& event, const EventKind& kind, const Names& names) {
  std::string out;
  for (size_t i = 0; i < kind.fields.size(); i++) {
    if (kind.fields[i].type != FieldType::text || names.texts[event.values[i]].empty()) continue;
    out.append(out.empty() ? "" : " ").append(names.texts[event.values[i]]);
  }
  return out.empty() ? kind.name : out;
}

std::string_view thread_name(const Names& names, uint64_t thread) { return thread ? std::string_view(names.texts[names.threads[thread].name]) : "swapper"; }

std::string thread_text(const Names& names, uint64_t thread) {
  if (!thread) return "idle";
  const std::string tid = std::to_string(names.threads[thread].tid);
  const std::string_view name = thread_name(names, thread);
  return name.empty() ? tid : std::string(name) + " (" + tid + ")";
}

uint64_t begin_of(const Event& event, const EventKind& kind) {
  return kind.meaning == Meaning::interval ? event.time - std::min(event.time, event.values[0]) : event.time;
}

bool is_nested(const EventKind& kind) {
  return kind.name == kind_rows[static_cast<size_t>(Kind::syscall)].name || kind.name == kind_rows[static_cast<size_t>(Kind::call)].name;
}

} // namespace recording
