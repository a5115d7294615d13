// Sizes, offsets and constants of C definitions, by the System V ABI for x86-64 (section 3.1.2) and, for attributes,
// as GCC does it: a bit-field stands in the next free bits unless it would then reach over more units of its type
// than it has; an unnamed one takes room but aligns nothing, one of width 0 goes to the next unit; `packed` takes all
// alignment away, `aligned(n)` gives it back.
#include "lang/c_types.h"

#include "spec/diagnostics.h"
#include "spec/numbers.h"

#include <algorithm>
#include <numeric>

namespace lang {

namespace tag = spec::tag;
using type::Kind;

static constexpr uint64_t max_size = 1u << 30;
static constexpr uint32_t biggest_alignment = 16; // `aligned` without a number

static uint64_t round_up(uint64_t n, uint64_t align) { return (n + align - 1) / align * align; }

// The kernel's types come without their alignment: it follows from their members, if those stand where they would.
uint32_t alignment_of(const type::Type& t) {
  if (t.is(Kind::array)) return t.element ? alignment_of(*t.element) : 1;
  if (!t.is(Kind::structure)) return std::max(1u, t.align);
  if (t.provider && t.align != 8) return std::max(1u, t.align);
  uint32_t align = 1;
  for (const type::Field& f : t.fields()) {
    uint32_t own = alignment_of(*f.type);
    if (!f.bit_size && f.offset % own) own = std::gcd(f.offset, own);
    align = std::max(align, own);
  }
  return t.size ? std::gcd(t.size, align) : align;
}

// -------------------------------------------------------------------------------------------- attributes

uint32_t CTypes::align_of(const CAttributes& attributes, uint32_t natural, bool lowers) {
  uint32_t asked = 0;
  for (const Expr* e : attributes.aligned) {
    int64_t n = e ? value_of(*e).value_or(0) : biggest_alignment;
    if (n <= 0 || n > 4096 || (n & (n - 1)))
      mistake(tag::bad_argument, e->where, "an alignment is a power of two from 1 to 4096");
    else
      asked = std::max(asked, static_cast<uint32_t>(n));
  }
  if (!asked) return natural;
  return lowers ? asked : std::max(asked, natural);
}

// ------------------------------------------------------------------------------------------------ shapes

uint64_t CTypes::count_of(const CType& array) {
  if (!array.count) return 0;
  auto n = value_of(*array.count);
  if (n && *n >= 0 && static_cast<uint64_t>(*n) <= max_size) return static_cast<uint64_t>(*n);
  if (told_.insert(&array).second)
    mistake(tag::bad_index, array.count->where,
            n ? "an array can't have " + std::to_string(*n) + " elements"
              : "the size of an array must be known when the script is compiled");
  return 0;
}

CTypes::Shape CTypes::shape_of(const CType& t) {
  Level level(depth_);
  if (level.is_too_deep()) return {.is_complete = false};
  switch (t.kind) {
  case CType::nothing:
  case CType::same_as: return {.is_complete = false};
  case CType::known: return {t.number->size, t.align ? t.align : std::max(1u, alignment_of(*t.number))};
  case CType::tag: return shape_of_tag(*t.of_tag);
  case CType::pointer: return {8, 8};
  case CType::array: {
    Shape element = shape_of(*t.of);
    element.size = std::min(max_size + 1, element.size * count_of(t));
    return element;
  }
  case CType::name: {
    if (auto at = typedefs_.find(t.text); at != typedefs_.end()) return shape_of_typedef(*at->second);
    const type::Type* made = type_of(t);
    if (!made || !made->has_size) return {.is_complete = false};
    return {made->size, alignment_of(*made)};
  }
  }
  return {};
}

CTypes::Shape CTypes::shape_of_typedef(CTypedef& t) {
  if (t.is_running) return {.is_complete = false};
  if (!t.has_shape) {
    t.is_running = true;
    Shape shape = shape_of(*t.type);
    t.is_running = false;
    t.has_shape = true;
    t.made_size = shape.size;
    t.made_align = align_of(t.attributes, shape.align, true);
    t.is_complete = shape.is_complete;
  }
  return {t.made_size, t.made_align, t.is_complete};
}

CTypes::Shape CTypes::shape_of_tag(CTag& t) {
  if (!t.is_defined || t.keyword == "enum") {
    const type::Type* made = tag_type(t);
    if (!made->has_size) return {.is_complete = false};
    return {made->size, alignment_of(*made)};
  }
  if (t.state == CTag::running) return {.is_complete = false};
  if (t.state == CTag::fresh) {
    const CTag* outer = std::exchange(telling_, telling_ ? &t : nullptr);
    t.state = CTag::running;
    lay_out(t);
    t.state = CTag::done;
    telling_ = outer;
  }
  return {t.made_size, t.made_align};
}

// --------------------------------------------------------------------------------------------- structures

struct CTypes::Layout {
  bool is_union = false;
  bool is_packed = false;
  uint64_t bit = 0; // the next free one
  uint64_t most = 0; // unions: bits of the largest member
  uint32_t align = 1;
};

void CTypes::place_bits(Layout& to, const CMember& m, Shape shape, type::Field& field) {
  auto width = value_of(*m.bits);
  uint64_t unit = shape.size * 8;
  bool fits = width && *width >= 0 && static_cast<uint64_t>(*width) <= unit && unit <= 64 && unit > 0;
  if (!fits || (*width == 0 && !m.name.empty()))
    return mistake(tag::bad_index, m.bits->where,
                   !width ? "the width of a bit-field must be known when the script is compiled"
                   : fits ? "a bit-field with a name can't have width 0"
                          : "a bit-field of " + std::to_string(unit) + " bits can't have width " +
                                std::to_string(*width));
  auto bits = static_cast<uint64_t>(*width);
  uint64_t natural = uint64_t{shape.align} * 8;
  bool is_packed = to.is_packed || m.attributes.packed;
  uint32_t asked = m.attributes.aligned.empty() ? 0 : align_of(m.attributes, 1, false);
  if (to.is_union) to.bit = 0;
  if (bits == 0) {
    to.bit = round_up(to.bit, std::max(natural, uint64_t{asked} * 8));
    return;
  }
  if (asked) to.bit = round_up(to.bit, uint64_t{asked} * 8);
  if (!is_packed && to.bit % natural + bits > unit) to.bit = round_up(to.bit, natural);
  field.offset = static_cast<uint32_t>(to.bit / 8);
  field.bit_offset = static_cast<uint16_t>(to.bit % 8);
  field.bit_size = static_cast<uint16_t>(bits);
  to.bit += bits;
  to.most = std::max(to.most, to.bit);
  if (!m.name.empty()) to.align = std::max({to.align, is_packed ? 1u : shape.align, asked});
}

void CTypes::place_member(Layout& to, const CMember& m, type::Field& field) {
  Shape shape = shape_of(*m.type);
  if (!shape.is_complete) {
    if (m.type->kind == CType::tag)
      mistake(tag::unknown_type, m.where,
              m.type->of_tag->state == CTag::running
                  ? "`" + std::string(m.type->of_tag->keyword) + " " + std::string(m.type->of_tag->name) +
                        "` can't hold itself"
                  : "`" + std::string(m.type->of_tag->keyword) + " " + std::string(m.type->of_tag->name) +
                        "` is not defined",
              m.type->of_tag->state == CTag::running ? "a pointer to it can be a member" : "");
    else if (m.type->kind == CType::nothing)
      mistake(tag::unknown_type, m.where, "a member can't be of type void");
    return;
  }
  if (m.bits) return place_bits(to, m, shape, field);
  bool is_packed = to.is_packed || m.attributes.packed;
  uint32_t align = align_of(m.attributes, is_packed ? 1 : shape.align, false);
  if (to.is_union) to.bit = 0;
  to.bit = round_up(to.bit, uint64_t{align} * 8);
  field.offset = static_cast<uint32_t>(to.bit / 8);
  to.bit += shape.size * 8;
  if (to.bit > max_size * 8) {
    mistake(tag::too_large, m.where, "this member makes the structure larger than 1 GB");
    to.bit = 0;
  }
  to.most = std::max(to.most, to.bit);
  to.align = std::max(to.align, align);
}

void CTypes::lay_out(CTag& t) {
  Layout layout{.is_union = t.keyword == "union", .is_packed = t.attributes.packed};
  std::vector<type::Field> places;
  for (const CMember& m : t.members) {
    type::Field field{.name = types().keep(m.name)};
    place_member(layout, m, field);
    places.push_back(field);
  }
  t.places = types().arena().copy(places);
  t.made_align = align_of(t.attributes, layout.align, false);
  t.made_size = round_up(((layout.is_union ? layout.most : layout.bit) + 7) / 8, t.made_align);
}

// ------------------------------------------------------------------------------------------- enumerations

// Values one by one: each may name those before it.
void CTypes::value_enumerators(CTag& t) {
  Level level(depth_);
  if (t.known_values == t.enumerators.size() || t.state != CTag::fresh || level.is_too_deep()) return;
  t.state = CTag::running;
  t.values = program_.arena.copy(std::vector<int64_t>(t.enumerators.size()));
  int64_t next = 0;
  for (const CEnumerator& e : t.enumerators) {
    auto value = e.value ? value_of(*e.value) : std::optional(next);
    if (!value) {
      mistake(tag::bad_argument, e.value->where,
              "the value of an enumerator must be known when the script is compiled");
      break;
    }
    t.values[t.known_values++] = *value;
    next = static_cast<int64_t>(static_cast<uint64_t>(*value) + 1);
  }
  t.state = CTag::done;
}

// Leaves the integer type in t.type.
void CTypes::lay_out_enum(CTag& t) {
  value_enumerators(t);
  if (t.underlying) {
    t.type = type_of(*t.underlying);
    if (t.type && !t.type->is_integer()) t.type = nullptr;
    return;
  }
  bool negative = false, large = false;
  uint32_t size = t.attributes.packed ? 1 : 4;
  for (size_t i = 0; i < t.known_values; i++) negative |= t.values[i] < 0;
  for (size_t i = 0; i < t.known_values; i++) {
    int64_t v = t.values[i];
    while (size < 8 && (negative ? v >= int64_t{1} << (size * 8 - 1) || v < -(int64_t{1} << (size * 8 - 1))
                                 : v >= int64_t{1} << (size * 8)))
      size *= 2;
    large |= size == 8;
  }
  t.type = types().integer(size, negative);
}

// ---------------------------------------------------------------------------------------------- constants

std::optional<int64_t> CTypes::value_of_name(std::string_view name) {
  if (auto at = enumerators_.find(name); at != enumerators_.end()) {
    auto [tag, index] = at->second;
    value_enumerators(*tag);
    return index < tag->known_values ? std::optional(tag->values[index]) : std::nullopt;
  }
  auto found = kernel_enumerator ? kernel_enumerator(name) : std::nullopt;
  return found ? std::optional(found->second) : spec::header_constant(name);
}

std::optional<int64_t> CTypes::value_of_binary(const Binary& e) {
  auto l = value_of(*e.left);
  if (!l) return std::nullopt;
  if (e.op == BinaryOp::logical_and && !*l) return 0;
  if (e.op == BinaryOp::logical_or && *l) return 1;
  auto r = value_of(*e.right);
  if (!r) return std::nullopt;
  auto a = static_cast<uint64_t>(*l), b = static_cast<uint64_t>(*r);
  auto of = [](uint64_t v) { return std::optional(static_cast<int64_t>(v)); };
  switch (e.op) {
  case BinaryOp::mul: return of(a * b);
  case BinaryOp::div: return b && !(*r == -1) ? std::optional(*l / *r) : b ? of(0 - a) : std::nullopt;
  case BinaryOp::mod: return b && !(*r == -1) ? std::optional(*l % *r) : b ? of(0) : std::nullopt;
  case BinaryOp::add: return of(a + b);
  case BinaryOp::sub: return of(a - b);
  case BinaryOp::shl: return of(b < 64 ? a << b : 0);
  case BinaryOp::shr: return of(b < 64 ? a >> b : 0);
  case BinaryOp::lt: return *l < *r;
  case BinaryOp::le: return *l <= *r;
  case BinaryOp::gt: return *l > *r;
  case BinaryOp::ge: return *l >= *r;
  case BinaryOp::eq: return a == b;
  case BinaryOp::ne: return a != b;
  case BinaryOp::bit_and: return of(a & b);
  case BinaryOp::bit_xor: return of(a ^ b);
  case BinaryOp::bit_or: return of(a | b);
  case BinaryOp::logical_and:
  case BinaryOp::logical_or: return *r != 0;
  }
  return std::nullopt;
}

std::optional<int64_t> CTypes::value_of_offset(const OffsetOf& e) {
  const type::Type* t = e.target ? resolve(*e.target) : nullptr;
  uint32_t offset = 0, next = 0;
  for (std::string_view name : e.path) {
    if (!t) return std::nullopt;
    if (name.empty()) {
      auto n = value_of(*e.indexes[next++]);
      if (!n || !t->is(Kind::array)) return std::nullopt;
      t = t->element;
      offset += static_cast<uint32_t>(*n) * t->size;
      continue;
    }
    auto field = t->find(name);
    if (!field) return std::nullopt;
    offset += field->offset;
    t = field->type;
  }
  return offset;
}

std::optional<int64_t> CTypes::value_of(const Expr& e) {
  switch (e.kind) {
  case ExprKind::integer: return static_cast<int64_t>(as<Integer>(e).value);
  case ExprKind::boolean: return as<Boolean>(e).value;
  case ExprKind::name: return value_of_name(as<Name>(e).name);
  case ExprKind::binary: return value_of_binary(as<Binary>(e));
  case ExprKind::offset_of: return value_of_offset(as<OffsetOf>(e));
  case ExprKind::unary: {
    auto v = value_of(*as<Unary>(e).operand);
    if (!v) return std::nullopt;
    if (as<Unary>(e).op == UnaryOp::negate) return static_cast<int64_t>(0 - static_cast<uint64_t>(*v));
    if (as<Unary>(e).op == UnaryOp::bit_not) return ~*v;
    return as<Unary>(e).op == UnaryOp::logical_not ? std::optional<int64_t>(!*v) : std::nullopt;
  }
  case ExprKind::ternary: {
    auto c = value_of(*as<Ternary>(e).condition);
    if (!c) return std::nullopt;
    if (!*c) return value_of(*as<Ternary>(e).otherwise);
    return as<Ternary>(e).then ? value_of(*as<Ternary>(e).then) : c;
  }
  case ExprKind::cast: {
    auto v = value_of(*as<Cast>(e).operand);
    const type::Type* t = resolve(*as<Cast>(e).target);
    if (!v || !t || !t->is_integer()) return v;
    unsigned unused = 64 - t->size * 8;
    auto bits = static_cast<uint64_t>(*v);
    if (unused > 63) return v;
    return t->is_signed ? static_cast<int64_t>(bits << unused) >> unused
                        : static_cast<int64_t>(bits << unused >> unused);
  }
  case ExprKind::size_of: {
    const SizeOf& s = as<SizeOf>(e);
    if (s.operand && s.operand->kind == ExprKind::integer) return 4;
    if (const String* text = if_a<String>(s.operand)) return static_cast<int64_t>(text->value.size() + 1);
    const type::Type* t = s.target ? resolve(*s.target) : nullptr;
    return t && t->has_size ? std::optional<int64_t>(t->size) : std::nullopt;
  }
  default: return std::nullopt;
  }
}

const type::Type* CTypes::resolve(const TypeName& n) {
  if (n.of) return nullptr;
  const type::Type* t = n.name == "void" && n.keyword.empty() ? types().none() : nullptr;
  if (!t && n.keyword.empty()) t = number_type(types(), n.name);
  if (!t) t = find(n.keyword, n.name);
  if (!t && kernel_type) t = kernel_type(n.keyword, n.name);
  for (const TypeSuffix& s : n.suffixes) {
    if (!t) return nullptr;
    if (!s.is_array) {
      t = types().pointer(t == types().none() ? nullptr : t, type::Space::kernel);
      continue;
    }
    auto count = s.count ? value_of(*s.count) : std::optional<int64_t>(0);
    if (!count || *count < 0 || *count > 1 << 20) return nullptr;
    t = types().array(t, static_cast<uint32_t>(*count));
  }
  return t;
}

} // namespace lang
