// Recipes carried out on a stopped process, as the plainest engine there could be.
#pragma once

#include "probe/recipe.h"

#include <cstring>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace samples {

// A stopped process.
struct Stopped {
  pid_t pid = 0;
  uint64_t registers[21] = {}; // as struct pt_regs has them
  uint64_t thread_base = 0, code_start = 0;

  std::function<bool(uint64_t address, void* to, size_t size)> memory; // instead of the process's

  bool read(uint64_t address, void* to, size_t size) const {
    if (memory) return memory(address, to, size);
    int fd = ::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && ::pread(fd, to, size, static_cast<off_t>(address)) == static_cast<ssize_t>(size);
    if (fd >= 0) ::close(fd);
    return ok;
  }
};

inline uint64_t extend(uint64_t value, unsigned bytes, bool is_signed) {
  unsigned unused = 64 - 8 * bytes;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused)
                   : value << unused >> unused;
}

// What is left on the stack; nothing: memory cannot be read, or the steps do not fit each other.
inline std::optional<uint64_t> run_steps(const std::vector<probe::Step>& steps, const Stopped& at) {
  using probe::Step;
  std::vector<uint64_t> stack;
  for (size_t i = 0; i < steps.size(); i++) {
    const Step& s = steps[i];
    size_t n = stack.size(), needed = s.op >= Step::add && s.op <= Step::sge ? 2 : 0;
    if (s.op == Step::load || (s.op >= Step::neg && s.op <= Step::sext) || s.op == Step::drop ||
        s.op == Step::branch)
      needed = 1;
    if (s.op == Step::swap) needed = 2;
    if (s.op == Step::rot) needed = 3;
    if (n < needed) return std::nullopt;
    if (s.op >= Step::add && s.op <= Step::sge) {
      uint64_t b = stack[n - 1], a = stack[n - 2];
      auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
      stack.pop_back();
      uint64_t& out = stack.back();
      switch (s.op) {
      case Step::add: out = a + b; break;
      case Step::sub: out = a - b; break;
      case Step::mul: out = a * b; break;
      case Step::udiv: out = b ? a / b : 0; break;
      case Step::sdiv: out = b == 0 ? 0 : sb == -1 ? -a : static_cast<uint64_t>(sa / sb); break;
      case Step::umod: out = b ? a % b : 0; break;
      case Step::and_: out = a & b; break;
      case Step::or_: out = a | b; break;
      case Step::xor_: out = a ^ b; break;
      case Step::shl: out = b > 63 ? 0 : a << b; break;
      case Step::lshr: out = b > 63 ? 0 : a >> b; break;
      case Step::ashr: out = static_cast<uint64_t>(sa >> (b > 63 ? 63 : b)); break;
      case Step::eq: out = a == b; break;
      case Step::ne: out = a != b; break;
      case Step::slt: out = sa < sb; break;
      case Step::sle: out = sa <= sb; break;
      case Step::sgt: out = sa > sb; break;
      default: out = sa >= sb;
      }
      continue;
    }
    switch (s.op) {
    case Step::constant: stack.push_back(static_cast<uint64_t>(s.value)); break;
    case Step::reg: stack.push_back(at.registers[s.value / 8]); break;
    case Step::load: {
      uint64_t value = 0;
      if (!at.read(stack.back(), &value, s.size)) return std::nullopt;
      stack.back() = extend(value, s.size, s.is_signed);
      break;
    }
    case Step::code_start: stack.push_back(at.code_start); break;
    case Step::thread_base: stack.push_back(at.thread_base); break;
    case Step::neg: stack.back() = -stack.back(); break;
    case Step::not_: stack.back() = ~stack.back(); break;
    case Step::abs:
      if (static_cast<int64_t>(stack.back()) < 0) stack.back() = -stack.back();
      break;
    case Step::zext:
    case Step::sext: stack.back() = extend(stack.back(), s.size, s.op == Step::sext); break;
    case Step::pick:
      if (static_cast<uint64_t>(s.value) >= n) return std::nullopt;
      stack.push_back(stack[n - 1 - static_cast<size_t>(s.value)]);
      break;
    case Step::drop: stack.pop_back(); break;
    case Step::swap: std::swap(stack[n - 1], stack[n - 2]); break;
    case Step::rot:
      std::swap(stack[n - 1], stack[n - 2]);
      std::swap(stack[n - 2], stack[n - 3]);
      break;
    case Step::branch: {
      bool taken = stack.back() != 0;
      stack.pop_back();
      if (taken) i += static_cast<size_t>(s.value);
      break;
    }
    case Step::skip: i += static_cast<size_t>(s.value); break;
    default: return std::nullopt;
    }
  }
  return stack.size() == 1 ? std::optional(stack[0]) : std::nullopt;
}

// The `size` bytes of a value; bytes that are gone are told in `gone`.
inline std::optional<std::vector<std::byte>>
run_recipe(const probe::Recipe& recipe, size_t size, const Stopped& at, std::vector<bool>* gone = nullptr) {
  using probe::Recipe;
  std::vector<std::byte> out(size);
  if (gone) gone->assign(size, false);
  std::optional<uint64_t> one;
  if (recipe.kind == Recipe::value || recipe.kind == Recipe::address) {
    one = run_steps(recipe.steps, at);
    if (!one) return std::nullopt;
  }
  switch (recipe.kind) {
  case Recipe::none: return std::nullopt;
  case Recipe::value: std::memcpy(out.data(), &*one, std::min<size_t>(8, size)); return out;
  case Recipe::address: return at.read(*one, out.data(), size) ? std::optional(out) : std::nullopt;
  case Recipe::pieces: break;
  }
  size_t to = 0;
  for (const probe::Piece& piece : recipe.pieces_of) {
    if (to + piece.bytes > size) return std::nullopt;
    if (piece.steps.empty()) {
      for (size_t i = 0; gone && i < piece.bytes; i++) (*gone)[to + i] = true;
    } else {
      std::optional<uint64_t> n = run_steps(piece.steps, at);
      if (!n || (!piece.is_address && piece.bytes > 8)) return std::nullopt;
      if (!piece.is_address)
        std::memcpy(out.data() + to, &*n, piece.bytes);
      else if (!at.read(*n, out.data() + to, piece.bytes))
        return std::nullopt;
    }
    to += piece.bytes;
  }
  return to == size ? std::optional(out) : std::nullopt;
}

} // namespace samples
