// Probes that the kernel runs for one of its objects after the other (iter). Their context holds pointers
// that are null when there are no more objects: such a call is none of the script's, and the verifier wants
// each pointer tested anyway.
//
// The program runs while acu reads a file. A program that sends records writes a byte there each time: the
// read then returns after as many objects as it has room for, and what they sent is taken before the next
// one. A program that stays in the BPF file system prints to that file, for whoever reads it: by the kernel's
// own printf, which knows numbers and strings.
#include "ir/lowering.h"

#include "type/format_string.h"

#include <algorithm>

namespace ir {

using namespace lang;

// The last pointer among the members is the object; those before it tell what it belongs to.
void Lowering::begin_iterator(const probe::Event& event) {
  is_pinned_ = !event.pin.empty();
  const Type* args = event.args;
  probe::Event known = event;
  if (!args) args = probe::arguments(machine_, known);
  std::optional<uint32_t> object;
  for (const type::Field& f : args ? args->fields() : std::span<const type::Field>())
    if (f.type->is(Kind::pointer)) object = f.offset;
  if (object) need_object(load_word(context_place(*object), 8, false));
}

void Lowering::need_object(Operand pointer) {
  BlockId there = new_block(), missing = new_block();
  branch(Cond::ne, pointer, number(0), there, missing);
  start(missing);
  give_back(number(0));
  start(there);
}

void Lowering::end_iterator() {
  if (!program_.actions.empty() && !is_pinned_) print_text(" ", Operand(), 0);
}

// bpf_seq_printf() of values that stand one behind the other, 8 bytes each.
void Lowering::print_text(std::string_view format, Operand values, uint32_t bytes) {
  Operand meta = load_word(context_place(0), 8, false); // struct bpf_iter_meta: the file comes first
  Operand file = load_word({Space::task, meta, 0}, 8, false);
  auto size = static_cast<uint32_t>(format.size() + 1);
  Place text = scratch_place(size, "format");
  put_text(text, format, size);
  append({.op = Op::print,
          .dst = fresh(),
          .a = file,
          .b = address(text),
          .c = values,
          .imm2 = size,
          .imm3 = static_cast<int32_t>(bytes)});
}

// What the kernel's printf makes of a conversion is what acu's does, for these.
static bool kernel_prints(const type::Conversion& c, const Type& t) {
  bool is_number =
      t.is(Kind::integer) || t.is(Kind::boolean) || t.is(Kind::pointer) || t.is(Kind::enumeration);
  bool is_plain = c.precision < 0 && c.flags.find_first_not_of("-0") == std::string::npos;
  if (!c.conversion) return true;
  if (c.conversion == 's') return is_plain && c.flags.find('0') == std::string::npos && t.is(Kind::string);
  bool knows_length = c.length.empty() || c.length == "l" || c.length == "ll";
  return is_number && is_plain && knows_length &&
         std::string_view("diux").find(c.conversion) != std::string_view::npos;
}

// printf() of a program that stays: its text goes to the file.
void Lowering::print_text(std::string_view format, List<Expr*> values) {
  constexpr size_t most_values = 12; // MAX_BPRINTF_VARARGS of the kernel
  std::string error;
  std::vector<type::Conversion> parts = type::parse_format(format, error);
  size_t n = 0;
  std::string kernels; // the format with each percent sign as `%%`, as the kernel has them
  for (const type::Conversion& c : parts) {
    for (const char letter : c.text) kernels += letter == '%' ? std::string("%%") : std::string(1, letter);
    if (!c.conversion) continue;
    kernels += "%" + c.flags + (c.width >= 0 ? std::to_string(c.width) : "") + (c.precision >= 0 ? "." + std::to_string(c.precision) : "") + c.length + c.conversion;
    if (n >= values.size()) continue;
    const Expr& value = *values[n++];
    if (!kernel_prints(c, *value.type))
      diagnostics_.error(spec::tag::bad_argument, value.where,
                         "an iterator that stays cannot print this: the kernel's printf has %d, %u, %x with "
                         "a width for numbers, "
                         "and %s for strings");
  }
  if (values.size() > most_values)
    diagnostics_.error(spec::tag::bad_argument, where_,
                       "an iterator that stays prints at most " + std::to_string(most_values) +
                           " values at a time");
  Place words = scratch_place(static_cast<uint32_t>(std::max<size_t>(1, values.size())) * 8, "values");
  for (size_t i = 0; i < values.size(); i++) {
    const Expr& value = *values[i];
    Operand word;
    if (value.type->is_scalar()) {
      word = scalar(value);
    } else {
      Place text = temporary(value, *value.type);
      if (value.type->size)
        store(text.plus(value.type->size - 1), number(0), 1); // a string that was cut has no NUL
      word = address(text);
    }
    store(words.plus(static_cast<int64_t>(i) * 8), word, 8);
  }
  print_text(kernels, values.empty() ? Operand() : address(words), static_cast<uint32_t>(values.size()) * 8);
}

} // namespace ir
