#include "probe/user_values_abi.h"

#include "dwarf/type_entry.h"
#include "spec/arch.h"

#include <algorithm>

namespace probe {

using namespace dwarf;

// What of a type was looked at, with all that it holds; a type in registers has 16 bytes.
static constexpr int most_steps_of_a_type = 4096;
static constexpr int deepest_type = 32;
static constexpr uint64_t most_bytes = 1u << 30;

namespace {

enum class Class : uint8_t { none, integer, floating, x87, memory };

// How a value is passed or given back.
struct Passing {
  uint64_t bytes = 0, alignment = 1;
  bool by_reference = false; // C++: where it is, for it must not be moved
  bool is_known = true;
  Class eights[2] = {Class::none, Class::none};
  bool in_memory() const { return eights[0] == Class::memory; }
};

Class merge(Class a, Class b) {
  if (a == b || b == Class::none) return a;
  if (a == Class::none) return b;
  if (a == Class::memory || b == Class::memory) return Class::memory;
  if (a == Class::integer || b == Class::integer) return Class::integer;
  if (a == Class::x87 || b == Class::x87) return Class::memory;
  return Class::floating;
}

// Goes through a type and what it holds.
class Classification {
public:
  explicit Classification(Types& types) : types_(types) {}
  Passing run(const Die& type);

private:
  void visit(const Die& type, uint64_t at, int depth);
  void visit_base(const Die& type, uint64_t at);
  void visit_members(const Die& type, uint64_t at, int depth);
  void visit_array(const Die& type, uint64_t at, int depth);
  void add(Class c, uint64_t at, uint64_t bytes, uint64_t alignment);
  void must_be_in_memory() { out_.eights[0] = Class::memory; }
  bool is_moved_by_code(const Die& type);

  Types& types_;
  Passing out_;
  int steps_ = 0;
};

} // namespace

void Classification::add(Class c, uint64_t at, uint64_t bytes, uint64_t alignment) {
  out_.alignment = std::max(out_.alignment, alignment);
  if (at % alignment != 0) return must_be_in_memory();
  for (uint64_t i = at / 8; i < 2 && i * 8 < at + bytes; i++) out_.eights[i] = merge(out_.eights[i], c);
}

void Classification::visit_base(const Die& type, uint64_t at) {
  TypeEntry e = read_type_entry(type);
  uint64_t bytes = size_of(e).value_or(0);
  switch (e.encoding.number) {
  case DW_ATE_float:
    if (bytes == 16 && name_of(type) == "long double") return add(Class::x87, at, bytes, 16);
    return add(Class::floating, at, bytes, std::max<uint64_t>(1, bytes));
  case DW_ATE_decimal_float: return add(Class::floating, at, bytes, std::max<uint64_t>(1, bytes));
  case DW_ATE_complex_float:
    if (bytes == 32) return add(Class::memory, at, bytes, 16);
    return add(Class::floating, at, bytes, std::max<uint64_t>(1, bytes / 2));
  }
  add(Class::integer, at, bytes, std::max<uint64_t>(1, bytes));
}

// Whether objects of a class must stay where they are, for they have a destructor, or a way to be copied, of
// their own. Compilers say so; where they do not, it shows in what the class declares.
bool Classification::is_moved_by_code(const Die& type) {
  Attribute convention = find_attribute(type, DW_AT_calling_convention);
  if (convention) return convention.number == 4; // DW_CC_pass_by_reference; else DW_CC_pass_by_value
  std::string_view name = name_of(type);
  name = name.substr(0, name.find('<'));
  bool out = false;
  for_each_child(type, [&](const Die& child) {
    if (child.tag() == DW_TAG_inheritance && read_type_entry(child).is_virtual) out = true;
    if (child.tag() != DW_TAG_subprogram || out || ++steps_ > most_steps_of_a_type) return;
    if (find_attribute(child, DW_AT_virtuality).number != 0) out = true;
    std::string_view called = name_of(child);
    bool is_own = !find_attribute(child, DW_AT_artificial) && !find_attribute(child, DW_AT_defaulted);
    if (!is_own || name.empty()) return;
    if (called.starts_with("~")) out = true;
    if (called != name) return;
    std::vector<Die> parameters = parameters_of(child).all; // `this` and a reference to another one
    std::optional<Die> other = parameters.size() == 2 ? type_of(parameters[1]) : std::nullopt;
    bool is_reference =
        other && (other->tag() == DW_TAG_reference_type || other->tag() == DW_TAG_rvalue_reference_type);
    std::optional<Die> to = is_reference ? skip_modifiers(type_of(*other)) : std::nullopt;
    if (to && to->offset == type.offset && to->unit == type.unit) out = true;
  });
  return out;
}

void Classification::visit_members(const Die& type, uint64_t at, int depth) {
  if (is_moved_by_code(type)) out_.by_reference = true;
  for_each_child(type, [&](const Die& child) {
    if (child.tag() != DW_TAG_member && child.tag() != DW_TAG_inheritance) return;
    TypeEntry e = read_type_entry(child);
    if (e.is_declaration || e.is_external) return; // static ones
    std::optional<Die> of = skip_modifiers(type_of(child));
    if (!of || e.is_virtual) return;
    uint64_t bits = unsigned_of(e.bit_size).value_or(0);
    if (bits > 0) { // whatever its unit, it is in these bytes
      uint64_t first = unsigned_of(e.data_bit_offset).value_or(unsigned_of(e.place).value_or(0) * 8);
      add(Class::integer, at + first / 8, (first % 8 + bits + 7) / 8, 1);
      return;
    }
    std::optional<uint64_t> offset = e.place ? unsigned_of(e.place) : std::optional<uint64_t>(0);
    if (!offset || *offset > most_bytes) return must_be_in_memory();
    visit(*of, at + *offset, depth + 1);
  });
}

void Classification::visit_array(const Die& type, uint64_t at, int depth) {
  std::optional<Die> of = skip_modifiers(type_of(type));
  uint64_t count = 1;
  for_each_child(type, [&](const Die& child) {
    if (child.tag() == DW_TAG_subrange_type) count *= std::min<uint64_t>(elements_of(child), most_bytes);
  });
  if (!of || count == 0) return;
  if (find_attribute(type, DW_AT_GNU_vector)) {
    uint64_t bytes = count * size_of(read_type_entry(*of)).value_or(0);
    out_.bytes = std::max(out_.bytes, std::min(bytes, most_bytes));
    return add(Class::floating, at, bytes, std::max<uint64_t>(1, bytes));
  }
  // All that can be in registers has at most 16 elements.
  uint64_t size = size_of(read_type_entry(*of)).value_or(8);
  for (uint64_t i = 0; i < std::min<uint64_t>(count, 16); i++) visit(*of, at + i * size, depth + 1);
}

void Classification::visit(const Die& given, uint64_t at, int depth) {
  std::optional<Die> type = skip_modifiers(given);
  if (type && is_structure(type->tag())) type = types_.definition_of(*type);
  if (!type || depth > deepest_type || ++steps_ > most_steps_of_a_type) {
    out_.is_known = false;
    return;
  }
  switch (type->tag()) {
  case DW_TAG_base_type: return visit_base(*type, at);
  case DW_TAG_pointer_type:
  case DW_TAG_reference_type:
  case DW_TAG_rvalue_reference_type:
  case DW_TAG_unspecified_type: return add(Class::integer, at, 8, 8);
  case DW_TAG_enumeration_type: {
    uint64_t bytes = size_of(read_type_entry(*type)).value_or(4);
    return add(Class::integer, at, bytes, std::max<uint64_t>(1, bytes));
  }
  case DW_TAG_ptr_to_member_type: {
    std::optional<Die> to = skip_modifiers(type_of(*type));
    bool is_function = to && to->tag() == DW_TAG_subroutine_type;
    return add(Class::integer, at, is_function ? 16 : 8, 8);
  }
  case DW_TAG_array_type: return visit_array(*type, at, depth);
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
  case DW_TAG_union_type:
    if (read_type_entry(*type).is_declaration) break;
    return visit_members(*type, at, depth);
  }
  out_.is_known = false;
}

static uint64_t bytes_of(const Die& type) {
  switch (type.tag()) {
  case DW_TAG_pointer_type:
  case DW_TAG_reference_type:
  case DW_TAG_rvalue_reference_type:
  case DW_TAG_unspecified_type: return 8;
  case DW_TAG_ptr_to_member_type: {
    std::optional<Die> to = skip_modifiers(type_of(type));
    return to && to->tag() == DW_TAG_subroutine_type ? 16 : 8;
  }
  }
  return size_of(read_type_entry(type)).value_or(0);
}

Passing Classification::run(const Die& given) {
  std::optional<Die> type = skip_modifiers(given);
  if (!type) return {.is_known = false};
  if (is_structure(type->tag())) type = types_.definition_of(*type);
  out_.bytes = std::min(bytes_of(*type), most_bytes);
  visit(*type, 0, 0);
  bool is_vector = type->tag() == DW_TAG_array_type && out_.eights[0] == Class::floating;
  if (out_.bytes > 16 && !is_vector) must_be_in_memory();
  if (out_.eights[1] == Class::memory) must_be_in_memory();
  if (out_.bytes > 64) must_be_in_memory();
  return out_;
}

static base::Error unknown_passing() {
  return no_value("has a type of which the debug information does not tell how it is passed");
}

static ValuePart gone_part(std::string reason, uint64_t bits) {
  ValuePart part;
  part.kind = ValuePart::gone;
  part.reason = std::move(reason);
  part.bits = bits;
  return part;
}

static ValuePart register_part(std::string_view name, uint64_t bits) {
  ValuePart part;
  part.kind = ValuePart::value;
  part.bits = bits;
  part.steps = {{.op = Step::reg, .value = spec::find_register(name).value_or(0)}};
  return part;
}

Arguments::Arguments(std::function<MaybeSteps()> cfa, Types& types, const std::optional<Die>& result)
    : cfa_(std::move(cfa)), types_(types) {
  if (!result) return;
  Passing passing = Classification(types).run(*result);
  if (passing.by_reference || passing.in_memory()) used_integers_ = 1;
  is_lost_ = !passing.is_known;
}

base::Result<std::vector<ValuePart>> Arguments::on_stack(uint64_t bytes, uint64_t alignment,
                                                         bool is_pointer) {
  alignment = std::max<uint64_t>(8, alignment);
  stack_ = (stack_ + alignment - 1) / alignment * alignment;
  MaybeSteps cfa = cfa_();
  if (!cfa) return std::move(cfa.error());
  StepWriter steps;
  steps.append(*cfa);
  steps.add_constant(stack_);
  if (is_pointer) steps.load(8);
  stack_ += (bytes + 7) / 8 * 8;
  ValuePart part;
  part.kind = ValuePart::memory;
  part.steps = steps.take();
  part.in_frame = true;
  return std::vector{part};
}

base::Result<std::vector<ValuePart>> Arguments::next(const std::optional<Die>& type) {
  Passing passing = type ? Classification(types_).run(*type) : Passing{.is_known = false};
  if (!passing.is_known || is_lost_) {
    is_lost_ = true;
    return unknown_passing();
  }
  constexpr auto& integers = spec::arch.arguments;
  if (passing.by_reference) {
    if (used_integers_ >= integers.size()) return on_stack(8, 8, true);
    ValuePart part = register_part(integers[used_integers_++], 0);
    part.kind = ValuePart::memory;
    return std::vector{part};
  }
  unsigned eights = static_cast<unsigned>((passing.bytes + 7) / 8), of_integers = 0, of_floats = 0;
  for (Class c : passing.eights) {
    if (c == Class::integer) of_integers++;
    if (c == Class::floating) of_floats++;
  }
  bool is_vector = passing.bytes >= 16 && of_floats > 0 && of_integers == 0 && passing.alignment >= 16;
  if (is_vector) of_floats = eights = 1;
  bool fits = used_integers_ + of_integers <= integers.size() && used_floats_ + of_floats <= 8;
  if (passing.in_memory() || passing.eights[0] == Class::x87 || !fits)
    return on_stack(passing.bytes, passing.alignment >= 16 ? passing.alignment : 8, false);
  std::vector<ValuePart> out;
  for (unsigned i = 0; i < eights; i++) {
    uint64_t bits = is_vector ? passing.bytes * 8 : std::min<uint64_t>(8, passing.bytes - i * 8) * 8;
    if (passing.eights[i] == Class::integer)
      out.push_back(register_part(integers[used_integers_++], bits));
    else if (passing.eights[i] == Class::floating)
      out.push_back(gone_part(
          "is passed in xmm" + std::to_string(used_floats_++) + ", which probes cannot read", bits));
    else
      out.push_back(gone_part("has nothing in it", bits));
  }
  if (out.empty()) out.push_back(gone_part("has nothing in it", 0));
  return out;
}

base::Result<std::vector<ValuePart>> result_parts(const std::optional<Die>& type, Types& types) {
  Passing passing = type ? Classification(types).run(*type) : Passing{.is_known = false};
  if (!passing.is_known) return unknown_passing();
  constexpr auto& integers = spec::arch.results;
  if (passing.by_reference || passing.in_memory()) {
    ValuePart part = register_part(spec::arch.results[0], 0);
    part.kind = ValuePart::memory;
    return std::vector{part};
  }
  std::vector<ValuePart> out;
  unsigned used_integers = 0, used_floats = 0;
  bool is_x87 = passing.eights[0] == Class::x87;
  for (uint64_t at = 0, i = 0; at < passing.bytes && i < 2; at += 8, i++) {
    uint64_t bits = std::min<uint64_t>(8, passing.bytes - at) * 8;
    if (is_x87)
      out.push_back(gone_part("is in st0, which probes cannot read", bits));
    else if (passing.eights[i] == Class::integer)
      out.push_back(register_part(integers[used_integers++], bits));
    else if (passing.eights[i] == Class::floating)
      out.push_back(
          gone_part("is in xmm" + std::to_string(used_floats++) + ", which probes cannot read", bits));
    else
      out.push_back(gone_part("has nothing in it", bits));
  }
  if (out.empty()) out.push_back(gone_part("has nothing in it", 0));
  return out;
}

bool follows_abi(uint16_t language) {
  switch (language) {
  case DW_LANG_Go:
  case DW_LANG_Rust:
  case DW_LANG_Rust_old:
  case DW_LANG_Swift: return false;
  }
  return true;
}

} // namespace probe
