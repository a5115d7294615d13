// Operands of USDT arguments: `SIZE@OPERAND`, separated by spaces. SIZE is 1, 2, 4 or 8 bytes, negative for
// signed values, with an `f` behind it for floating point numbers; without `SIZE@` (older headers) the
// operand tells its own size. x86-64 in AT&T syntax:
//
//   %edi  %al  %ah         a register, or a part of it
//   $-5  $0x10  $sym+4     a constant
//   -16(%rbp)  8(%rax,%rbx,4)  sym(%rip)  4+sym(%rip)  sym(,%rax,8)  sym  %fs:-8  %fs:sym@tpoff   memory
//
// Texts are the compiler's, but any will do: what does not fit the forms gets a reason.
#include "format/usdt.h"

#include "base/text.h"
#include "spec/arch.h"

#include <elf.h>

namespace format {

namespace {

struct NamedRegister {
  uint32_t place;
  uint8_t size, shift;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// rax, eax, ax, al, ah; rsi, esi, si, sil; r8, r8d, r8w, r8b.
std::optional<NamedRegister> find_x86_register(std::string_view name) {
  auto of = [](std::string_view full, uint8_t size, uint8_t shift = 0) -> std::optional<NamedRegister> {
    auto place = spec::find_register(full);
    return place ? std::optional(NamedRegister{*place, size, shift}) : std::nullopt;
  };
  if (name.size() >= 2 && name[0] == 'r' && is_digit(name[1])) {
    char suffix = name.back();
    std::string_view full = is_digit(suffix) ? name : name.substr(0, name.size() - 1);
    uint8_t size = is_digit(suffix) ? 8 : suffix == 'd' ? 4 : suffix == 'w' ? 2 : suffix == 'b' ? 1 : 0;
    return size ? of(full, size) : std::nullopt;
  }
  constexpr std::string_view whole[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip"};
  std::string_view rest = name.empty() ? name : name.substr(1);
  if (name.size() == 3 && base::is_one_of(whole, rest)) {
    if (name[0] == 'r') return of(rest, 8);
    if (name[0] == 'e') return of(rest, 4);
    if (name[2] == 'l') return of(name.substr(0, 2), 1); // sil, dil, bpl, spl
  }
  if (name.size() == 3 && name[2] == 'l' && base::is_one_of(whole, name.substr(0, 2)))
    return of(name.substr(0, 2), 1);
  if (name.size() == 2) {
    if (base::is_one_of(whole, name)) return of(name, 2);
    std::string full = std::string(1, name[0]) + 'x';
    if (name[1] == 'l' || name[1] == 'h') return of(full, 1, name[1] == 'h' ? 8 : 0);
  }
  return std::nullopt;
}

class X86Parser {
public:
  explicit X86Parser(UsdtOperand& to) : to_(to) {}

  // `text` is what stands behind `SIZE@`; `sized`: there was a size.
  void parse(std::string_view text, bool sized) {
    left_ = text;
    if (take('%')) {
      std::string_view name = word();
      if (name == "fs" && take(':')) {
        to_.is_thread_local = true;
        return memory();
      }
      return whole_register(name, sized);
    }
    if (take('$')) {
      if (!sum() || !has_terms_) return refuse("its constant is not understood");
      if (!left_.empty()) return refuse("`" + std::string(left_) + "` behind its constant is not understood");
      to_.form = UsdtOperand::constant;
      return;
    }
    memory();
  }

private:
  void refuse(std::string reason) {
    to_.form = UsdtOperand::unsupported;
    to_.reason = std::move(reason);
  }

  void pass_spaces() {
    while (!left_.empty() && (left_[0] == ' ' || left_[0] == '\t')) left_.remove_prefix(1);
  }

  bool take(char c) {
    pass_spaces();
    if (left_.empty() || left_[0] != c) return false;
    left_.remove_prefix(1);
    return true;
  }

  std::string_view word() {
    pass_spaces();
    size_t n = 0;
    while (n < left_.size() &&
           (is_letter(left_[n]) || is_digit(left_[n]) || left_[n] == '$' || left_[n] == '@'))
      n++;
    std::string_view out = left_.substr(0, n);
    left_.remove_prefix(n);
    return out;
  }

  void whole_register(std::string_view name, bool sized) {
    if (name.starts_with("xmm") || name.starts_with("ymm") || name.starts_with("zmm") ||
        name.starts_with("st"))
      return refuse("it is in the vector register %" + std::string(name) +
                    ", which the kernel does not show");
    auto found = find_x86_register(name);
    if (!found) return refuse("there is no register %" + std::string(name));
    if (!left_.empty())
      return refuse("`" + std::string(left_) + "` behind %" + std::string(name) + " is not understood");
    to_.form = UsdtOperand::reg;
    to_.base = found->place;
    to_.shift = found->shift;
    to_.size = sized ? std::min(to_.size, found->size) : found->size;
  }

  // Numbers and at most one symbol, added and subtracted, if any.
  bool sum() {
    for (bool first = true;; first = false) {
      bool minus = false, plus = false;
      if (take('-'))
        minus = true;
      else
        plus = take('+');
      if (!first && !minus && !plus) return true;
      bool starts = !left_.empty() && (is_letter(left_[0]) || is_digit(left_[0]));
      if (!starts) return first && !minus && !plus;
      std::string_view term = word();
      has_terms_ = true;
      if (is_digit(term[0])) {
        auto value = base::parse_integer(term);
        if (!value) return false;
        uint64_t before = static_cast<uint64_t>(to_.offset);
        to_.offset = static_cast<int64_t>(minus ? before - *value : before + *value);
      } else {
        if (minus || !to_.symbol.empty()) return false;
        to_.symbol = term;
      }
    }
  }

  std::optional<uint32_t> address_register() {
    if (!take('%')) return std::nullopt;
    std::string_view name = word();
    auto found = find_x86_register(name);
    if (found && found->size == 8) return found->place;
    refuse("an address is not counted from %" + std::string(name));
    return std::nullopt;
  }

  void memory() {
    if (!sum()) return refuse("`" + std::string(left_) + "` is not understood");
    to_.form = UsdtOperand::memory;
    bool in_brackets = take('(');
    if (in_brackets && !registers()) return;
    if (!left_.empty()) return refuse("`" + std::string(left_) + "` is not understood");
    bool by_name = !to_.symbol.empty();
    if (to_.base == spec::find_register(spec::arch.ip)) {
      if (!by_name || to_.index)
        return refuse("what lies beside the instruction is not known without a name");
      to_.base.reset(); // the symbol's address says the same
    }
    if (!has_terms_ && !in_brackets) return refuse("it is empty");
    take_modifier();
  }

  // `sym@tpoff`: from the thread's base; any other modifier means a slot that only the linker knew.
  void take_modifier() {
    size_t at = to_.symbol.find('@');
    if (at == to_.symbol.npos) {
      if (to_.is_thread_local && !to_.symbol.empty())
        refuse("what is at %fs:" + std::string(to_.symbol) + " is not known");
      return;
    }
    std::string_view modifier = to_.symbol.substr(at + 1);
    if (base::lower(modifier) == "tpoff" && to_.is_thread_local && at)
      to_.symbol = to_.symbol.substr(0, at);
    else
      refuse("it stands behind `@" + std::string(modifier) + "`, a place that only the linker knew");
  }

  // base, index and scale, up to the bracket.
  bool registers() {
    bool bad = false;
    if (!take(',')) {
      to_.base = address_register();
      bad = !to_.base;
      if (!bad && take(')')) return true;
      bad |= !take(',');
    }
    if (!bad) {
      to_.index = address_register();
      bad = !to_.index;
    }
    if (!bad && take(',')) {
      std::string_view scale = word();
      bad = scale != "1" && scale != "2" && scale != "4" && scale != "8";
      if (!bad) to_.scale = static_cast<uint8_t>(scale[0] - '0');
    }
    if (!bad && take(')')) return true;
    if (to_.reason.empty()) refuse("its address is not understood");
    to_.form = UsdtOperand::unsupported;
    return false;
  }

  UsdtOperand& to_;
  bool has_terms_ = false; // of the sum
  std::string_view left_;
};

// Takes `SIZE@` from the front. False: the size is none that fits; then the operand has its reason.
bool take_size(std::string_view& text, UsdtOperand& to, bool& sized) {
  size_t at = text.find('@');
  bool minus = text.starts_with('-');
  std::string_view size = text.substr(0, at == text.npos ? 0 : at);
  if (minus && !size.empty()) size.remove_prefix(1);
  sized = !size.empty() && is_digit(size[0]); // else the `@` belongs to a symbol
  if (!sized) return true;
  text.remove_prefix(at + 1);
  to.is_signed = minus && !size.ends_with('f');
  to.is_floating = size.ends_with('f');
  if (to.is_floating) size.remove_suffix(1);
  if (to.is_floating && size != "4" && size != "8") {
    to.reason = "it is a number of floating point of " + std::string(size) + " bytes; those of 4 and 8 can be read";
    return false;
  }
  if (size != "1" && size != "2" && size != "4" && size != "8") {
    to.reason = "it has " + std::string(size) + " bytes; values of 1, 2, 4 and 8 can be read";
    return false;
  }
  to.size = static_cast<uint8_t>(size[0] - '0');
  return true;
}

// The next operand: up to a space that is in no bracket.
std::string_view take_operand(std::string_view& text) {
  while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  size_t n = 0;
  for (int depth = 0; n < text.size() && (text[n] != ' ' || depth > 0); n++) {
    if (text[n] == '(' || text[n] == '[') depth++;
    if (text[n] == ')' || text[n] == ']') depth--;
  }
  std::string_view out = text.substr(0, n);
  text.remove_prefix(n);
  return out;
}

} // namespace

std::vector<UsdtOperand> parse_usdt_arguments(std::string_view arguments, uint16_t machine) {
  std::vector<UsdtOperand> out;
  while (out.size() < usdt_argument_limit) {
    std::string_view text = take_operand(arguments);
    if (text.empty()) return out;
    UsdtOperand& operand = out.emplace_back();
    operand.text = text;
    bool sized = false;
    if (!take_size(text, operand, sized)) continue;
    if (machine == EM_X86_64)
      X86Parser(operand).parse(text, sized);
    else
      operand.reason = "operands of this kind of machine are not read";
  }
  return out;
}

} // namespace format
