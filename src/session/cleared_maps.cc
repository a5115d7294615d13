#include "session/cleared_maps.h"

#include "ir/passes.h"

#include <algorithm>
#include <cstring>

namespace session {

using ir::ActionKind;
using ir::Op;
using type::Kind;

namespace {

bool is_additive(const ir::Map& map) {
  if (map.is_own || !map.value || (map.key && map.key->has_stack())) return false;
  constexpr Kind additive[] = {Kind::count, Kind::sum, Kind::avg, Kind::stats, Kind::hist, Kind::lhist};
  return map.sums || std::ranges::find(additive, map.value->kind) != std::end(additive);
}

bool looks_into_map(Op op) {
  return op == Op::map_find || op == Op::map_find_cpu || op == Op::map_store || op == Op::map_remove || op == Op::map_size || op == Op::for_each;
}

// Where a function sends a record, by its action.
struct Event {
  uint32_t action;
  ir::BlockId block;
  size_t index;
};

} // namespace

ClearedMaps::ClearedMaps(const ir::Program& program, ir::Engine& engine)
    : program_(program), engine_(engine), maps_(program.maps.size()) {}

void ClearedMaps::decide() {
  std::vector<bool> is_cleared(maps_.size());
  for (const ir::Action& a : program_.actions)
    if (a.kind == ActionKind::clear) is_cleared[a.map] = true;
  for (size_t m = 0; m < maps_.size(); m++) maps_[m].is_exact = is_cleared[m] && is_additive(program_.maps[m]);
  for (const ir::Action& a : program_.actions)
    if (a.kind == ActionKind::zero) maps_[a.map].is_exact = false;
  if (std::ranges::none_of(maps_, &Map::is_exact)) return;

  for (const ir::Function& f : program_.functions) {
    std::vector<Event> events;
    for (ir::BlockId b = 0; b < f.blocks.size(); b++)
      for (size_t i = 0; i < f.blocks[b].insts.size(); i++) {
        const ir::Inst& inst = f.blocks[b].insts[i];
        if (looks_into_map(inst.op)) maps_[inst.index].is_exact = false;
        if (inst.op == Op::event && inst.index < program_.actions.size()) events.push_back({inst.index, b, i});
      }
    std::optional<ir::Flow> flow;
    std::optional<ir::Dominators> dominators;
    for (const Event& clear : events) {
      const ir::Action& action = program_.actions[clear.action];
      if (action.kind != ActionKind::clear || !maps_[action.map].is_exact) continue;
      if (!flow) dominators.emplace(f, flow.emplace(f));
      maps_[action.map].is_exact = std::ranges::any_of(events, [&](const Event& print) {
        const ir::Action& other = program_.actions[print.action];
        const bool is_before = print.block == clear.block ? print.index < clear.index : dominators->dominates(print.block, clear.block);
        return other.kind == ActionKind::print_map && other.map == action.map && is_before;
      });
    }
  }
}

// The flag of scalar values is not among them.
size_t ClearedMaps::words(uint32_t map) const {
  const ir::Map& m = program_.maps[map];
  return std::min(m.value_size, m.present_offset) / sizeof(uint64_t);
}

ClearedMaps::Sums ClearedMaps::sums(uint32_t map, const Entries& entries) const {
  const size_t part = program_.maps[map].value_size, count = words(map);
  Sums all;
  for (const ir::Entry& e : entries) {
    Words& sum = all.try_emplace(e.key, count).first->second;
    for (size_t at = 0; at + part <= e.values.size(); at += part)
      for (size_t w = 0; w < count; w++) {
        uint64_t word;
        std::memcpy(&word, e.values.data() + at + w * sizeof word, sizeof word);
        sum[w] += word;
      }
  }
  return all;
}

// Entries of one part; none where nothing was added.
ClearedMaps::Entries ClearedMaps::since_clear(uint32_t map, const Sums& all) const {
  const ir::Map& m = program_.maps[map];
  const Sums& cleared = maps_[map].cleared;
  Entries entries;
  auto add = [&](const std::vector<std::byte>& key, const Words* sum, const Words* less) {
    std::vector<std::byte> value(m.value_size);
    bool is_any = !less; // a sum of zeroes is one
    for (size_t w = 0; w < words(map); w++) {
      const uint64_t word = (sum ? (*sum)[w] : 0) - (less ? (*less)[w] : 0);
      is_any |= word != 0;
      std::memcpy(value.data() + w * sizeof word, &word, sizeof word);
    }
    const uint64_t present = 1;
    if (m.present_offset != ~0u) std::memcpy(value.data() + m.present_offset, &present, sizeof present);
    if (is_any) entries.push_back({key, std::move(value)});
  };
  for (const auto& [key, sum] : all) {
    const auto less = cleared.find(key);
    add(key, &sum, less == cleared.end() ? nullptr : &less->second);
  }
  for (const auto& [key, less] : cleared)
    if (!all.contains(key)) add(key, nullptr, &less);
  return entries;
}

base::Result<ClearedMaps::Entries> ClearedMaps::read(uint32_t map) {
  if (!is_exact(map)) return engine_.read_map(map);
  ACU_TRY(const Entries raw, engine_.read_map(map));
  return since_clear(map, sums(map, raw));
}

base::Result<ClearedMaps::Entries> ClearedMaps::read_to_print(uint32_t map) {
  Map& m = maps_[map];
  if (!is_exact(map)) return engine_.read_map(map);
  ACU_TRY(const Entries raw, engine_.read_map(map));
  m.keys = raw.size();
  m.printed = sums(map, raw);
  return since_clear(map, *m.printed);
}

base::Status ClearedMaps::clear(uint32_t map) {
  Map& m = maps_[map];
  if (!is_exact(map)) return engine_.clear_map(map);
  if (!m.printed) return {}; // the record of its print() was lost
  m.cleared = std::move(*m.printed);
  m.printed.reset();
  return program_.maps[map].key && m.keys > program_.maps[map].max_entries / 2 ? take_out(map) : base::Status();
}

// What was counted since it was printed is left as a debt to the next output.
base::Status ClearedMaps::take_out(uint32_t map) {
  std::optional<Entries> taken;
  if (take_) {
    ACU_TRY(taken, take_(map));
  }
  Map& m = maps_[map];
  if (!taken) {
    m.cleared.clear();
    return engine_.clear_map(map);
  }
  for (const auto& [key, sum] : sums(map, *taken)) {
    Words& left = m.cleared.try_emplace(key, sum.size()).first->second;
    for (size_t w = 0; w < sum.size(); w++) left[w] -= sum[w];
  }
  std::erase_if(m.cleared, [](const auto& e) { return std::ranges::all_of(e.second, [](uint64_t w) { return w == 0; }); });
  return {};
}

} // namespace session
