#include "target/stacks.h"

namespace target {

// By DWARF's numbers, as places in Registers.
static constexpr auto places =
    spec::each_dwarf_register<unwind::Registers::count>(spec::x86_64, [](const spec::Register& r) { return r.offset / 8; });

unwind::CodePlace Stacks::find_code(uint64_t address) {
  if (!target_.is_code(address)) return {};
  const Module* m = target_.module_at(address);
  if (!m || !m->file) return {.is_code = true}; // made by the program itself (JIT), or its file is not here
  auto [at, is_new] = files_.try_emplace(m);
  if (is_new)
    at->second = std::make_unique<unwind::FileFrames>(*m->file, unwind::tables_of_file(*m->file, cache_));
  return {.is_code = true, .file = at->second.get(), .bias = m->bias};
}

const unwind::Walk& Stacks::of(size_t thread) {
  if (walks_.size() < target_.threads().size()) walks_.resize(target_.threads().size());
  std::optional<unwind::Walk>& walk = walks_[thread];
  if (walk) return *walk;
  const Registers& given = target_.threads()[thread].registers;
  unwind::Registers start;
  for (unsigned i = 0; i < places.size(); i++) start.set(i, given[places[i]]);
  walk = from(start);
  return *walk;
}

unwind::Walk Stacks::from(const unwind::Registers& start) {
  Memory& memory = target_.memory();
  unwind::Walk out = unwind::walk(
      start,
      [&](uint64_t address, std::span<std::byte> to) { return memory.read(address, to) == Missing::none; },
      [&](uint64_t address) { return find_code(address); },
      {.most_frames = most_frames_, .all_registers = true});
  for (const unwind::Frame& f : out.frames)
    if (f.is_exact) exact_.insert(f.look_up());
  return out;
}

Registers Stacks::registers_of(size_t thread, const unwind::Frame& frame) {
  Registers out = target_.threads()[thread].registers; // segments: the thread's
  std::fill(out.begin() + general_registers, out.end(), 0);
  for (unsigned i = 0; i < places.size(); i++) out[places[i]] = frame.registers.get(i).value_or(0);
  return out;
}

} // namespace target
