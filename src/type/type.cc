#include "type/type.h"

#include <algorithm>
#include <bit>

namespace type {

static uint32_t round_up(uint32_t n, uint32_t align) { return (n + align - 1) / align * align; }

std::span<const Field> Type::fields() const {
  if (!decoded_ && kind == Kind::structure && provider) {
    decoded_ = true; // first, so that a structure that holds itself cannot recurse
    fields_ = table->arena().copy(provider->fields(*table, provider_id));
  }
  return fields_;
}

std::span<const Enumerator> Type::enumerators() const {
  if (!decoded_ && kind == Kind::enumeration && provider) {
    decoded_ = true;
    enumerators_ = table->arena().copy(provider->enumerators(provider_id));
  }
  return enumerators_;
}

bool Type::has_stack() const {
  if (is(Kind::tuple)) return std::ranges::any_of(fields(), [](const Field& f) { return f.type->has_stack(); });
  return is(Kind::kstack) || is(Kind::ustack) || is(Kind::stack);
}

std::optional<Field> Type::find(std::string_view wanted) const {
  if (!decoded_ && kind == Kind::structure && provider && !wanted.empty())
    if (auto alone = provider->field(*table, provider_id, wanted)) return alone;
  for (const Field& f : fields())
    if (f.name == wanted) return f;
  // Only then inside those without a name, for these may be C++ base classes, whose members the own ones hide.
  for (const Field& f : fields())
    if (f.name.empty() && f.type && f.type->is(Kind::structure))
      if (auto inner = f.type->find(wanted)) {
        inner->offset += f.offset;
        return inner;
      }
  return std::nullopt;
}

std::optional<size_t> Type::index_of(const Field& element, size_t index) const {
  std::span<const Field> own = fields();
  if (!is_named) return index < own.size() ? std::optional(index) : std::nullopt;
  for (size_t i = 0; i < own.size(); i++)
    if (own[i].name == element.name) return i;
  return std::nullopt;
}

static std::string join_elements(const Type& t) {
  std::string out = "(";
  for (const Field& f : t.fields()) {
    if (out.size() > 1) out += ",";
    if (t.is_named) out += std::string(f.name) + "=";
    out += to_string(*f.type);
  }
  return out + ")";
}

// "kstack", "ustack(perf,3)": what is not the default.
static std::string stack_name(const Type& t) {
  const uint32_t usual_depth = most_frames(t.kind, t.by_frame_pointers);
  std::string options = t.stack_mode == StackMode::perf ? "perf" : t.stack_mode == StackMode::raw ? "raw" : "";
  if (t.by_frame_pointers) options += options.empty() ? "fp" : ",fp";
  if (t.count != usual_depth) options += (options.empty() ? "" : ",") + std::to_string(t.count);
  return (t.is(Kind::kstack) ? "kstack" : t.is(Kind::ustack) ? "ustack" : "stack") + (options.empty() ? "" : "(" + options + ")");
}

namespace {

struct KindName {
  Kind kind;
  std::string_view name;
};
constexpr KindName kind_names[] = {
    {Kind::ksym, "ksym_t"},        {Kind::usym, "usym_t"},       {Kind::inet, "inet"},
    {Kind::mac, "macaddr_t"},      {Kind::timestamp, "timestamp"}, {Kind::username, "username"},
    {Kind::cgroup_path, "cgroup_path_t"}, {Kind::count, "count_t"}, {Kind::sum, "sum_t"},
    {Kind::min, "min_t"},          {Kind::max, "max_t"},         {Kind::avg, "avg_t"},
    {Kind::stats, "stats_t"},
};

} // namespace

std::string_view name_of_kind(Kind kind) {
  for (const KindName& row : kind_names)
    if (row.kind == kind) return row.name;
  return {};
}

std::optional<Kind> kind_of_name(std::string_view name) {
  for (const KindName& row : kind_names)
    if (row.name == name) return row.kind;
  return std::nullopt;
}

std::string_view name_of_floating(uint32_t size) {
  return size == 4 ? "float" : size == 8 ? "double" : "long double";
}

std::string to_string(const Type& t) {
  switch (t.kind) {
  case Kind::none: return "none";
  case Kind::boolean: return "bool";
  case Kind::integer: return (t.is_signed ? "int" : "uint") + std::to_string(t.size * 8);
  case Kind::floating: return std::string(name_of_floating(t.size));
  case Kind::pointer: return (t.element ? to_string(*t.element) : "void") + " *";
  case Kind::array: { // as in C, the first dimension is the outermost
    std::string dimensions;
    const Type* element = &t;
    for (; element->is(Kind::array); element = element->element)
      dimensions += "[" + std::to_string(element->count) + "]";
    return to_string(*element) + dimensions;
  }
  case Kind::string: return "string[" + std::to_string(t.size) + "]";
  case Kind::buffer: return "buffer[" + std::to_string(t.count) + "]";
  case Kind::structure: return (t.is_union ? "union" : "struct") + (t.name.empty() ? "" : " " + std::string(t.name));
  case Kind::tuple: return join_elements(t);
  case Kind::enumeration: return t.name.empty() ? "enum" : "enum " + std::string(t.name);
  case Kind::kstack:
  case Kind::ustack:
  case Kind::stack: return stack_name(t);
  case Kind::probe_name: return "string";
  case Kind::hist: return "hist_t";
  case Kind::lhist: return "lhist_t";
  case Kind::tseries: {
    constexpr std::string_view words[] = {"", ", avg", ", max", ", min", ", sum"};
    return "tseries_t(" + std::to_string(t.low) + "ns, " + std::to_string(t.count) +
           std::string(words[t.step]) + ")";
  }
  default: return std::string(name_of_kind(t.kind));
  }
}

Table::Table() {
  none_ = intern({.kind = Kind::none}, "none");
  boolean_ = intern({.kind = Kind::boolean, .size = 1}, "bool");
}

const Type* Table::intern(Type t, std::string key) {
  auto [at, is_new] = interned_.try_emplace(std::move(key), nullptr);
  if (is_new) {
    t.table = this;
    at->second = arena_.make<Type>(t);
  }
  return at->second;
}

const Type* Table::integer(uint32_t size, bool is_signed) {
  const Type* other = nullptr;
  const Type*& known = size == 1 || size == 2 || size == 4 || size == 8 ? integers_[is_signed][std::countr_zero(size)] : other;
  if (!known)
    known = intern({.kind = Kind::integer, .is_signed = is_signed, .size = size, .align = size},
                   (is_signed ? "i" : "u") + std::to_string(size));
  return known;
}

const Type* Table::character() {
  return intern({.kind = Kind::integer, .is_signed = true, .is_char = true, .size = 1}, "char");
}

const Type* Table::floating(uint32_t size) {
  return intern({.kind = Kind::floating, .size = size, .align = size}, "f" + std::to_string(size));
}

const Type* Table::string(uint32_t size) {
  return intern({.kind = Kind::string, .size = size}, "s" + std::to_string(size));
}

const Type* Table::buffer(uint32_t bytes) {
  return intern({.kind = Kind::buffer, .size = 4 + bytes, .align = 4, .count = bytes}, "b" + std::to_string(bytes));
}

// Types are interned, so the address of a part names it.
static std::string key_of(const Type* t) { return std::to_string(reinterpret_cast<uintptr_t>(t)); }

const Type* Table::pointer(const Type* to, Space space) {
  return intern({.kind = Kind::pointer, .space = space, .size = 8, .align = 8, .element = to},
                "*" + std::to_string(static_cast<int>(space)) + key_of(to));
}

const Type* Table::array(const Type* element, uint32_t count) {
  return intern({.kind = Kind::array,
                 .size = element->size * count,
                 .align = element->align,
                 .count = count,
                 .element = element},
                "[" + std::to_string(count) + "]" + key_of(element));
}

const Type* Table::tuple(std::span<const Type* const> elements) { return record(elements, {}); }

const Type* Table::record(std::span<const Type* const> elements, std::span<const std::string_view> names) {
  std::string key = "(";
  for (size_t i = 0; i < elements.size(); i++)
    key += key_of(elements[i]) + (names.empty() ? "," : "=" + std::string(names[i]) + ",");
  if (auto at = interned_.find(key); at != interned_.end()) return at->second;
  std::vector<Field> fields;
  uint32_t size = 0, align = 1;
  for (size_t i = 0; i < elements.size(); i++) {
    const Type* e = elements[i];
    size = round_up(size, e->align);
    fields.push_back({.name = names.empty() ? keep(std::to_string(i)) : keep(names[i]), .type = e, .offset = size});
    size += e->size;
    align = std::max(align, e->align);
  }
  Type t{.kind = Kind::tuple, .is_named = !names.empty(), .size = round_up(size, align), .align = align};
  t.fields_ = arena_.copy(fields);
  t.decoded_ = true;
  return intern(t, std::move(key));
}

const Type* Table::simple(Kind kind, bool is_signed) {
  struct Shape {
    uint32_t size, align;
  };
  auto shape = [&]() -> Shape {
    switch (kind) {
    case Kind::inet: return {20, 1};
    case Kind::mac: return {6, 1};
    case Kind::usym:
    case Kind::timestamp:
    case Kind::cgroup_path:
    case Kind::min:
    case Kind::max:
    case Kind::avg:
    case Kind::stats: return {16, 8};
    default: return {8, 8};
    }
  }();
  return intern({.kind = kind, .is_signed = is_signed, .size = shape.size, .align = shape.align},
                "k" + std::to_string(static_cast<int>(kind)) + (is_signed ? "s" : "u"));
}

const Type* Table::stack(Kind kind, StackMode mode, uint32_t depth, bool by_frame_pointers) {
  return intern({.kind = kind,
                 .stack_mode = mode,
                 .by_frame_pointers = by_frame_pointers,
                 .size = kind == Kind::kstack ? 8u : kind == Kind::ustack ? 16u : 24u,
                 .align = 8,
                 .count = depth},
                "st" + std::to_string(static_cast<int>(kind)) + "," + std::to_string(static_cast<int>(mode)) + (by_frame_pointers ? "f" : ",") +
                    std::to_string(depth));
}

const Type* Table::hist(uint32_t bits) {
  // One bucket for negative numbers, 2^bits for those below 2^bits, then 2^bits for each power of two.
  uint32_t buckets = 1 + (1u << bits) * (65 - bits);
  return intern(
      {.kind = Kind::hist, .size = buckets * 8, .align = 8, .count = buckets, .step = static_cast<int64_t>(bits)},
      "h" + std::to_string(bits));
}

const Type* Table::lhist(int64_t low, int64_t high, int64_t step) {
  auto buckets = static_cast<uint32_t>((high - low + step - 1) / step) + 2;
  return intern({.kind = Kind::lhist, .size = buckets * 8, .align = 8, .count = buckets, .low = low, .high = high, .step = step},
                "l" + std::to_string(low) + "," + std::to_string(high) + "," + std::to_string(step));
}

const Type* Table::tseries(int64_t interval_ns, uint32_t count, Slice slice, bool is_signed) {
  auto kept = static_cast<int64_t>(slice);
  return intern({.kind = Kind::tseries,
                 .is_signed = is_signed,
                 .size = count * slice_size,
                 .align = 8,
                 .count = count,
                 .low = interval_ns,
                 .step = kept},
                "ts" + std::to_string(interval_ns) + "," + std::to_string(count) + "," + std::to_string(kept) +
                    (is_signed ? "s" : "u"));
}

const Type* Table::structure(std::string_view name, bool is_union, uint32_t size, Provider* provider, uint32_t id) {
  std::string key = "S" + std::to_string(reinterpret_cast<uintptr_t>(provider)) + "," + std::to_string(id);
  if (auto at = interned_.find(key); at != interned_.end()) return at->second;
  return intern({.kind = Kind::structure,
                 .is_union = is_union,
                 .size = size,
                 .align = 8,
                 .name = keep(name),
                 .provider = provider,
                 .provider_id = id},
                std::move(key));
}

const Type* Table::enumeration(std::string_view name, uint32_t size, bool is_signed, Provider* provider, uint32_t id) {
  std::string key = "E" + std::to_string(reinterpret_cast<uintptr_t>(provider)) + "," + std::to_string(id);
  if (auto at = interned_.find(key); at != interned_.end()) return at->second;
  return intern({.kind = Kind::enumeration,
                 .is_signed = is_signed,
                 .size = size,
                 .align = size,
                 .name = keep(name),
                 .provider = provider,
                 .provider_id = id},
                std::move(key));
}

const Type* Table::in_space(const Type* t, Space space) {
  if (space != Space::user || !t) return t;
  if (t->is(Kind::pointer)) return pointer(t->element, space);
  if (t->is(Kind::array) && t->element) return array(in_space(t->element, space), t->count);
  if (!t->is(Kind::structure) || t->space == space) return t;
  Type there = *t;
  there.space = space;
  if (there.provider) there.decoded_ = false, there.fields_ = {};
  return intern(there, "V" + key_of(t));
}

const Type* Table::structure(std::string_view name, bool is_union, uint32_t size, uint32_t align,
                             std::span<const Field> fields) {
  Type t{.kind = Kind::structure, .is_union = is_union, .size = size, .align = align, .name = keep(name)};
  t.fields_ = arena_.copy(fields);
  t.decoded_ = true;
  t.table = this;
  return arena_.make<Type>(t);
}

} // namespace type
