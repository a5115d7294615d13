// One expression, carried out at once and as steps of a recipe: where both can, they agree.
#pragma once

#include "dwarf/expression_run.h"
#include "dwarf/frame_rules.h"
#include "probe/user_values_parts.h"
#include "recipe_run.h"

#include <memory>
#include <sstream>

namespace samples {

// A unit with nothing but base types, at 13, 16, 19, …: int, unsigned, long, unsigned long, unsigned char,
// short, 7 bytes, float, double, and one of 16 bytes.
class TypesUnit {
public:
  TypesUnit() {
    sections_.abbrev = std::as_bytes(std::span(abbrev_));
    sections_.info = std::as_bytes(std::span(info_));
    info_object_ = std::make_unique<dwarf::DebugInfo>(sections_);
    unit_ = info_object_->unit(0);
  }
  const dwarf::Unit* unit() const { return unit_; }

private:
  static constexpr uint8_t abbrev_[] = {1, 0x11, 1, 0, 0, 2, 0x24, 0, 0x0b, 0x0b, 0x3e, 0x0b, 0, 0, 0};
  static constexpr uint8_t info_[] = {40, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1, 2, 4, 5, 2, 4, 7, 2,  8, 5,
                                      2,  8, 7, 2, 1, 8, 2, 2, 5, 2, 7, 7, 2, 4, 4, 2, 8, 4, 2, 16, 5, 0};
  dwarf::Sections sections_;
  std::unique_ptr<dwarf::DebugInfo> info_object_;
  const dwarf::Unit* unit_ = nullptr;
};

// Registers and memory of a thread that never was: memory is a function of the address, and ends somewhere.
inline uint64_t made_up(uint64_t n) {
  n = (n ^ (n >> 31)) * 0x9e3779b97f4a7c15u;
  return n ^ (n >> 29);
}
inline bool read_made_up(uint64_t address, void* to, size_t size) {
  if (address >> 62 == 3) return false;
  for (size_t i = 0; i < size; i++) static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(made_up(address + i));
  return true;
}

struct EnginesResult {
  bool ran = false, translated = false;
  std::string difference; // empty: they agree
};

inline EnginesResult run_both(const TypesUnit& types, base::ByteSpan expression) {
  EnginesResult out;
  Stopped at;
  at.memory = read_made_up;
  at.thread_base = 1 << 20;
  for (uint64_t i = 0; i < 21; i++) at.registers[i] = i % 3 ? made_up(i) : i * 1000;
  dwarf::ExpressionState state;
  state.bias = 0x10000;
  state.reg = [&](uint64_t number) -> std::optional<uint64_t> {
    auto place = probe::place_of_register(number);
    return place ? std::optional(at.registers[*place / 8]) : std::nullopt;
  };
  state.read = [](uint64_t address, std::span<std::byte> to) {
    return read_made_up(address, to.data(), to.size());
  };
  state.frame_base = [] { return 0x2000; };
  state.cfa = [] { return 0x3000; };
  state.thread_variable = [](uint64_t offset) { return offset + (1 << 20); };

  probe::StepSource source;
  source.unit = types.unit();
  auto number = [](uint64_t n) {
    return probe::MaybeSteps(probe::Steps{{.op = probe::Step::constant, .value = static_cast<int64_t>(n)}});
  };
  source.frame_base = [&] { return number(0x2000); };
  source.cfa = [&] { return number(0x3000); };
  source.address = [&](uint64_t address) { return number(address + 0x10000); };
  source.thread_variable = [] {
    return probe::MaybeSteps(probe::Steps{{.op = probe::Step::thread_base}, {.op = probe::Step::add}});
  };
  auto direct = dwarf::run_expression(*types.unit(), expression, state);
  auto steps = probe::translate_expression(source, expression);
  out.ran = direct.ok();
  out.translated = steps.ok();
  if (!direct || !steps) return out;
  std::ostringstream text;
  if (direct->size() != steps->size()) text << direct->size() << " parts, " << steps->size() << " as steps";
  for (size_t i = 0; i < direct->size() && i < steps->size(); i++) {
    const dwarf::PlacePart& a = (*direct)[i];
    const probe::ValuePart& b = (*steps)[i];
    if (a.bits != b.bits || a.first_bit != b.first_bit) text << "part " << i << " has another size; ";
    bool has_steps = b.kind == probe::ValuePart::memory || b.kind == probe::ValuePart::value;
    std::optional<uint64_t> left;
    if (has_steps) left = run_steps(b.steps, at);
    std::optional<uint64_t> wanted;
    if (a.kind == dwarf::PlacePart::memory || a.kind == dwarf::PlacePart::value) wanted = a.number;
    if (a.kind == dwarf::PlacePart::reg) wanted = state.reg(a.number);
    if (wanted.has_value() != left.has_value() || wanted.value_or(0) != left.value_or(0))
      text << "part " << i << ": " << wanted.value_or(0) << ", as steps " << left.value_or(0) << "; ";
  }
  out.difference = text.str();
  return out;
}

} // namespace samples
