// Which entries are one type. Every unit writes down the types it uses, so that a program has thousands of
// entries for one structure; scripts must see one type, or what came by one function would not fit what came
// by another. Entries are one type if their names, sizes and shapes are the same: the names, places and types
// of the members, the latter only by their names, if they have any. That is not looked at before there are
// two of a name and size.
#include "dwarf/types.h"

#include "dwarf/type_entry.h"

namespace dwarf {

namespace {

constexpr int longest_chain = 64;
constexpr int max_depth = 8;      // of types without names in each other
constexpr int max_steps = 50'000; // parts of one type
constexpr uint64_t max_all_steps = 200'000'000;

class Hash {
public:
  void add(uint64_t number) {
    value_ = (value_ ^ number) * 0x9fb21c651e98df25u;
    value_ ^= value_ >> 29;
  }
  void add(std::string_view text) {
    add(text.size());
    for (; text.size() >= 8; text.remove_prefix(8)) add_word(text, 8);
    add_word(text, text.size());
  }
  uint64_t value() const { return value_; }

private:
  void add_word(std::string_view text, size_t size) {
    uint64_t word = 0;
    if (size) std::memcpy(&word, text.data(), size);
    add(word);
  }
  uint64_t value_ = 0xcbf29ce484222325u;
};

class ShapeReader {
public:
  void add_parts(const Die& of, int depth);
  // Makes it like no other.
  void add_place(const Die& die) { hash.add(die.offset ^ reinterpret_cast<uint64_t>(die.unit->info)); }
  Hash hash;
  int steps() const { return steps_; }

private:
  void add_part(const Die& part, int depth);
  void add_type(const Die& part, int depth);
  int steps_ = 0;
};

// A type by the words that declare it, down to the first name. What has no name is what it is made of.
void ShapeReader::add_type(const Die& part, int depth) {
  std::optional<Die> type = type_of(part);
  for (int i = 0; type && i < longest_chain; i++, steps_++) {
    TypeEntry e = read_type_entry(*type);
    std::optional<Die> whole = e.signature ? reference_of(*type->unit, e.signature) : std::nullopt;
    if (whole) type = whole, e = read_type_entry(*type);
    std::string_view name = text_of(*type->unit, e.name).value_or("");
    hash.add(kind_of_tag(type->tag()));
    hash.add(name);
    if (type->tag() == DW_TAG_array_type)
      for_each_child(*type, [&](const Die& dimension) { hash.add(elements_of(dimension)); });
    else if (name.empty())
      add_parts(*type, depth + 1);
    if (!name.empty()) return;
    type = type_of(*type);
  }
  hash.add(uint64_t{0});
}

void ShapeReader::add_part(const Die& part, int depth) {
  switch (part.tag()) {
  case DW_TAG_member:
  case DW_TAG_inheritance:
  case DW_TAG_enumerator:
  case DW_TAG_formal_parameter:
  case DW_TAG_template_type_parameter:
  case DW_TAG_template_value_parameter: break;
  default: return; // functions, and types inside
  }
  TypeEntry e = read_type_entry(part);
  hash.add(part.tag());
  hash.add(text_of(*part.unit, e.name).value_or(""));
  for (const Attribute* a : {&e.place, &e.bit_size, &e.bit_offset, &e.data_bit_offset, &e.value}) {
    hash.add(a->number);
    for (std::byte b : a->block) hash.add(static_cast<uint64_t>(b));
  }
  add_type(part, depth);
}

void ShapeReader::add_parts(const Die& of, int depth) {
  if (depth > max_depth || steps_ > max_steps) return add_place(of);
  for_each_child(of, [&](const Die& part) {
    if (steps_++ < max_steps) add_part(part, depth);
  });
}

} // namespace

uint64_t Types::shape_of(const Die& die) {
  ShapeReader reader;
  if (shape_steps_ > max_all_steps) {
    reader.add_place(die);
    return reader.hash.value();
  }
  reader.hash.add(kind_of_tag(die.tag()));
  reader.hash.add(size_of(read_type_entry(die)).value_or(0));
  // Without a name by where it is: the parts of two types without names may have the same short names.
  reader.hash.add(in_scope_of(die, std::string(name_of(die))));
  reader.add_parts(die, 0);
  shape_steps_ += static_cast<uint64_t>(reader.steps());
  return reader.hash.value();
}

uint32_t Types::remember(const Die& die) {
  entries_.push_back({place_of(die)});
  return static_cast<uint32_t>(entries_.size() - 1);
}

// The type that another entry for the same one gave; nullptr: there was none. `shape` is for keep_type().
const type::Type* Types::same_as(const Die& die, const std::string& name, uint64_t size, Shape& shape) {
  std::string key = std::to_string(kind_of_tag(die.tag())) + "," + std::to_string(size) + " " + name;
  auto [first, is_new] = first_of_name_.try_emplace(std::move(key), static_cast<uint32_t>(entries_.size()));
  if (is_new) return nullptr;
  Entry& before = entries_[first->second];
  if (!before.has_shape) {
    before.has_shape = true;
    if (auto its = die_at(before.place)) by_shape_.try_emplace(shape_of(*its), before.type);
  }
  shape = shape_of(die);
  auto at = by_shape_.find(*shape);
  return at == by_shape_.end() ? nullptr : at->second;
}

void Types::keep_type(uint32_t id, const type::Type* type, Shape shape) {
  entries_[id].type = type;
  if (!shape) return;
  entries_[id].has_shape = true;
  by_shape_.try_emplace(*shape, type);
}

} // namespace dwarf
