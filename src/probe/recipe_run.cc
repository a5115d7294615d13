#include "probe/recipe_run.h"

#include <algorithm>
#include <cstring>

namespace probe {

namespace {

class Machine {
public:
  explicit Machine(const RecipeThread& thread) : thread_(thread) {}

  // What the steps leave; nothing: they read what is not there, or are malformed.
  std::optional<uint64_t> run(const std::vector<Step>& steps) {
    stack_.clear();
    for (size_t i = 0; i < steps.size(); i++) {
      const Step& s = steps[i];
      if (s.op == Step::skip) {
        i += static_cast<size_t>(s.value);
      } else if (s.op == Step::branch) {
        if (stack_.empty()) return std::nullopt;
        if (pop()) i += static_cast<size_t>(s.value);
      } else if (!step(s)) {
        return std::nullopt;
      }
    }
    if (stack_.empty()) return std::nullopt;
    return stack_.back();
  }

private:
  uint64_t pop() {
    uint64_t value = stack_.back();
    stack_.pop_back();
    return value;
  }
  bool push(uint64_t value) { return stack_.push_back(value), stack_.size() < 256; }

  bool word_of_registers(uint64_t at) {
    uint64_t value = 0;
    if (at + 8 > thread_.registers.size()) return false;
    std::memcpy(&value, thread_.registers.data() + at, 8);
    return push(value);
  }

  static uint64_t extended(uint64_t value, uint8_t size, bool is_signed) {
    if (size >= 8) return value;
    unsigned unused = 64 - 8u * size;
    value <<= unused;
    return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> unused) : value >> unused;
  }

  bool step(const Step& s) {
    switch (s.op) {
    case Step::constant: return push(static_cast<uint64_t>(s.value));
    case Step::reg: return word_of_registers(static_cast<uint64_t>(s.value));
    case Step::thread_base: return word_of_registers(stopped_thread_base);
    case Step::code_start: return false; // known when the recipe is made
    case Step::pick:
      if (s.value < 0 || static_cast<size_t>(s.value) >= stack_.size()) return false;
      return push(stack_[stack_.size() - 1 - static_cast<size_t>(s.value)]);
    default: break;
    }
    if (stack_.empty()) return false;
    switch (s.op) {
    case Step::load: {
      uint64_t value = 0;
      if (!thread_.read(pop(), std::as_writable_bytes(std::span(&value, 1)).first(s.size))) return false;
      return push(extended(value, s.size, s.is_signed));
    }
    case Step::neg: return push(-pop());
    case Step::not_: return push(~pop());
    case Step::abs: {
      auto n = static_cast<int64_t>(pop());
      return push(n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n));
    }
    case Step::zext: return push(extended(pop(), s.size, false));
    case Step::sext: return push(extended(pop(), s.size, true));
    case Step::drop: return stack_.pop_back(), true;
    case Step::rot:
      if (stack_.size() < 3) return false;
      std::rotate(stack_.end() - 3, stack_.end() - 1, stack_.end());
      return true;
    default: break;
    }
    if (stack_.size() < 2) return false;
    uint64_t b = pop(), a = pop();
    auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
    switch (s.op) {
    case Step::swap: return push(b) && push(a);
    case Step::add: return push(a + b);
    case Step::sub: return push(a - b);
    case Step::mul: return push(a * b);
    case Step::udiv: return push(b ? a / b : 0);
    case Step::umod: return push(b ? a % b : 0);
    case Step::sdiv: return push(!b ? 0 : sb == -1 ? -a : static_cast<uint64_t>(sa / sb));
    case Step::and_: return push(a & b);
    case Step::or_: return push(a | b);
    case Step::xor_: return push(a ^ b);
    case Step::shl: return push(a << (b & 63));
    case Step::lshr: return push(a >> (b & 63));
    case Step::ashr: return push(static_cast<uint64_t>(sa >> (b & 63)));
    case Step::eq: return push(a == b);
    case Step::ne: return push(a != b);
    case Step::slt: return push(sa < sb);
    case Step::sle: return push(sa <= sb);
    case Step::sgt: return push(sa > sb);
    case Step::sge: return push(sa >= sb);
    default: return false;
    }
  }

  const RecipeThread& thread_;
  std::vector<uint64_t> stack_;
};

// A value, or the bytes at an address.
bool put(Machine& machine, const RecipeThread& thread, const std::vector<Step>& steps, bool is_address,
         std::span<std::byte> to) {
  std::optional<uint64_t> number = machine.run(steps);
  if (!number) return false;
  if (is_address) return thread.read(*number, to);
  std::memcpy(to.data(), &*number, std::min<size_t>(to.size(), sizeof *number));
  return true;
}

} // namespace

std::optional<std::vector<std::byte>> run_recipe(const Recipe& recipe, size_t size,
                                                 const RecipeThread& thread) {
  std::vector<std::byte> out(size);
  Machine machine(thread);
  if (recipe.kind == Recipe::value || recipe.kind == Recipe::address) {
    if (!put(machine, thread, recipe.steps, recipe.kind == Recipe::address, out)) return std::nullopt;
    return out;
  }
  if (recipe.kind != Recipe::pieces) return std::nullopt;
  size_t at = 0;
  for (const Piece& p : recipe.pieces_of) {
    size_t bytes = std::min<size_t>(p.bytes, size - at);
    if (!p.steps.empty() && bytes &&
        !put(machine, thread, p.steps, p.is_address, std::span(out).subspan(at, bytes)))
      return std::nullopt;
    at += bytes;
  }
  return out;
}

} // namespace probe
