#include "session/effects.h"

#include "base/diagnostics.h"
#include "session/signals.h"

#include <algorithm>
#include <cstring>

namespace session {

// Number `index` of a record's payload, 0 if it is not there.
static uint64_t number_at(const ir::Action& action, std::span<const std::byte> payload, size_t index) {
  if (!action.payload || index >= action.payload->fields().size()) return 0;
  const type::Field& field = action.payload->fields()[index];
  uint32_t size = std::min<uint32_t>(field.type->size, 8);
  if (field.offset + size > payload.size()) return 0;
  uint64_t value = 0;
  std::memcpy(&value, payload.data() + field.offset, size);
  return value;
}

size_t Effects::drain() {
  return engine_.drain([this](std::span<const std::byte> record) { take(record); });
}

void Effects::end(int status) {
  ended_ = true;
  if (!status_ || *status_ == 0) status_ = status;
}

std::string_view Effects::place(const ir::Action& action) {
  if (!source_) return {};
  const auto index = static_cast<size_t>(&action - program_.actions.data());
  if (places_.empty()) places_.resize(program_.actions.size());
  if (places_[index].empty()) places_[index] = source_->place(action.where);
  return places_[index];
}

// With the uses of macros that led there.
void Effects::report_message(const ir::Action& action, std::span<const std::byte> payload, std::string_view severity) {
  printer_.record(action, payload, place(action));
  if (!source_) return;
  for (const base::Range use : action.expanded_at)
    sink_.message(source_->place(use) + ": " + std::string(severity) + ": the macro is used here\n");
}

void Effects::tell(const base::Status& status) {
  if (!status.ok()) sink_.message("ERROR: " + status.error().message + "\n");
}

void Effects::print_map(const ir::Action& action, std::span<const std::byte> payload) {
  auto entries = maps_.read_to_print(action.map);
  if (!entries.ok()) return tell(std::move(entries.error()));
  // A map without keys always has a value.
  const ir::Map& map = program_.maps[action.map];
  if (entries->empty() && !map.key) entries->push_back({{}, std::vector<std::byte>(map.value->size)});
  printer_.map(action.map, *entries, number_at(action, payload, 0), number_at(action, payload, 1));
}

void Effects::draw(const ir::Action& action) {
  auto entries = maps_.read(action.map);
  if (!entries.ok()) return tell(std::move(entries.error()));
  if (draw_) tell(draw_(action, *entries));
}

// The key is at the start of the payload, as in the map.
void Effects::print_entry(const ir::Action& action, std::span<const std::byte> payload) {
  auto entries = maps_.read(action.map);
  if (!entries.ok()) return tell(std::move(entries.error()));
  size_t size = program_.maps[action.map].key->size;
  if (payload.size() < size) return;
  for (const ir::Entry& e : *entries)
    if (e.key.size() >= size && std::equal(payload.begin(), payload.begin() + static_cast<ptrdiff_t>(size), e.key.begin()))
      printer_.entry(action.map, e);
}

void Effects::take(std::span<const std::byte> record) {
  if (ended_ || record.size() < 8) return;
  uint32_t index;
  std::memcpy(&index, record.data(), sizeof index);
  if (index == ir::process_seen && record.size() >= 32) {
    uint32_t pid;
    uint64_t about[2]; // stack, time
    std::memcpy(&pid, record.data() + 4, sizeof pid);
    std::memcpy(about, record.data() + 16, sizeof about);
    if (program_.pid_namespace.inode) pid = 0; // it is not the number that it has for us
    return printer_.process_seen(pid, about[0], about[1]);
  }
  if (index >= program_.actions.size()) return;
  const ir::Action& action = program_.actions[index];
  std::span<const std::byte> payload = record.subspan(8);
  if (action.kind != ir::ActionKind::exit && signals::patience_ms() == 0) return void(dropped_++);
  errors_ += action.kind == ir::ActionKind::errorf || action.kind == ir::ActionKind::assert_failed;
  switch (action.kind) {
  case ir::ActionKind::errorf: report_message(action, payload, "ERROR"); break;
  case ir::ActionKind::printf:
  case ir::ActionKind::debugf:
  case ir::ActionKind::cat:
  case ir::ActionKind::system:
  case ir::ActionKind::print_value:
  case ir::ActionKind::time:
  case ir::ActionKind::packet:
  case ir::ActionKind::join: printer_.record(action, payload, place(action)); break;
  case ir::ActionKind::warnf:
    if (warnings_) report_message(action, payload, "WARNING");
    break;
  case ir::ActionKind::print_map: print_map(action, payload); break;
  case ir::ActionKind::print_entry: print_entry(action, payload); break;
  case ir::ActionKind::flame: draw(action); break;
  case ir::ActionKind::clear: tell(maps_.clear(action.map)); break;
  case ir::ActionKind::zero: tell(engine_.zero_map(action.map)); break;
  case ir::ActionKind::unwatch: engine_.unwatch(number_at(action, payload, 0)); break;
  case ir::ActionKind::exit: end(static_cast<int>(number_at(action, payload, 0) & 0xff)); break;
  case ir::ActionKind::assert_failed: {
    base::Diagnostic failed = {base::Severity::error, {}, action.where, action.text, {}};
    sink_.message(source_ ? base::render(*source_, failed) : "ERROR: " + action.text + "\n");
    end(1);
    break;
  }
  }
}

void Effects::print_maps(bool separate) {
  std::vector<uint32_t> order(program_.maps.size());
  for (uint32_t i = 0; i < order.size(); i++) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return program_.maps[a].name < program_.maps[b].name; });
  for (uint32_t map : order) {
    if (program_.maps[map].is_own) continue;
    auto entries = maps_.read(map);
    if (!entries.ok())
      tell(std::move(entries.error()));
    else if (!entries->empty()) {
      if (std::exchange(separate, false)) sink_.out("\n");
      printer_.map(map, *entries, 0, 0);
    }
  }
}

} // namespace session
