#include "report/views.h"

#include "report/json.h"
#include "report/number.h"
#include "report/text.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace report {

using type::Kind;
using type::Type;

namespace {

constexpr uint64_t most_elements = 100, longest_text = 4096, largest_element = 1 << 16;
constexpr uint64_t most_of_all = 2000; // elements in all containers of one value
constexpr int deepest = 8;             // containers in containers
constexpr uint64_t word = 8;

// A part of an object.
struct Part {
  const Type* type = nullptr;
  Bytes bytes;
  uint64_t number() const { return load(bytes, std::min<uint32_t>(type->size, 8)); }
};

class View {
public:
  View(std::string& out, Context& context, const Type& type, Bytes bytes, bool json)
      : out_(out), context_(context), whole_{&type, bytes}, json_(json) {}

  bool vector();
  bool bits();
  bool string();
  bool string_view();
  bool tree();
  bool hash();
  bool list();
  bool forward_list();
  bool deque();
  bool unique_pointer();
  bool shared_pointer();
  bool optional();
  bool variant();
  bool tuple();
  bool array();
  bool number();
  bool reference();
  bool rust_vector();
  bool rust_string();
  bool rust_slice();
  bool rust_enum();

private:
  // ---- looking

  // "_M_impl._M_start": members of members.
  static std::optional<Part> part_of(const Part& of, std::string_view path) {
    Part at = of;
    while (!path.empty()) {
      const size_t dot = std::min(path.find('.'), path.size());
      const auto field = at.type->is(Kind::structure) ? at.type->find(path.substr(0, dot)) : std::nullopt;
      if (!field || field->bit_size) return std::nullopt;
      at = {field->type, part(at.bytes, field->offset, field->type->size)};
      path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return at;
  }
  std::optional<Part> at(std::string_view path) const { return part_of(whole_, path); }
  // The first pointer anywhere in it.
  static std::optional<Part> pointer_in(const Part& of, int depth = 0) {
    if (of.type->is(Kind::pointer)) return of;
    if (!of.type->is(Kind::structure) || depth > deepest) return std::nullopt;
    for (const type::Field& f : of.type->fields())
      if (auto found = pointer_in({f.type, part(of.bytes, f.offset, f.type->size)}, depth + 1)) return found;
    return std::nullopt;
  }
  static const Type* argument(const Type& of, uint32_t n) {
    const Type* out = of.provider ? of.provider->argument(of.provider_id, n) : nullptr;
    return out && out->has_size && out->size ? out : nullptr;
  }
  std::optional<std::vector<std::byte>> read(uint64_t address, uint64_t size) const {
    std::vector<std::byte> out(size);
    if (size > largest_element || !context_.options.memory(address, out)) return std::nullopt;
    return out;
  }
  std::optional<uint64_t> word_at(uint64_t address) const {
    const auto bytes = read(address, word);
    return bytes ? std::optional(load(*bytes, word)) : std::nullopt;
  }
  static uint64_t aligned(uint64_t offset, const Type& type) {
    const uint64_t align = std::max(1u, type.align);
    return (offset + align - 1) / align * align;
  }

  // ---- writing

  void value(const Type& type, Bytes bytes) {
    if (context_.depth >= deepest) return note("deeper than is shown");
    context_.depth++;
    if (json_)
      append_json(out_, context_, type, bytes);
    else if (type.is(Kind::string))
      out_ += characters(bytes);
    else
      append_text(out_, context_, type, bytes);
    context_.depth--;
  }
  // Words of the view's own.
  void word_of(std::string_view text) {
    if (json_)
      append_json(out_, text);
    else
      out_ += text;
  }
  // In place of what cannot be shown.
  void note(std::string_view why) {
    if (json_) {
      out_ += "{\"not_shown\": ";
      append_json(out_, why);
      out_ += '}';
    } else {
      out_.append("<").append(why).append(">");
    }
  }
  bool suspicious(std::string_view what) {
    note(std::string(what) + ": not initialised, or damaged?");
    return true;
  }
  bool nothing_at(uint64_t address) {
    note("the memory at " + bare(address) + " is not there");
    return true;
  }
  void more(uint64_t count) {
    if (json_)
      out_ += "{\"left_out\": " + std::to_string(count) + "}";
    else
      out_ += "… " + grouped(count) + " more";
  }

  // Elements one by one: next() gives where the next one is, or nothing where it cannot be told. Of maps `{ [1] = a, [2] = b }`;
  // in JSON pairs, for the keys of its objects are texts.
  template<class Next> bool elements(uint64_t count, const Type& type, bool is_map, Next next) {
    if (type.size > largest_element) return note(grouped(count) + " elements of " + grouped(type.size) + " bytes, too large to be shown"), true;
    const auto key = is_map ? type.find("first") : std::nullopt, held = is_map ? type.find("second") : std::nullopt;
    const bool by_key = key && held;
    const bool in_braces = by_key && !json_;
    out_ += in_braces ? "{ " : "[";
    for (uint64_t i = 0; i < count; i++) {
      if (i) out_ += in_braces ? ", " : ",";
      if (i == most_elements || context_.elements >= most_of_all) {
        more(count - i);
        break;
      }
      context_.elements++;
      const std::optional<uint64_t> address = next();
      const auto bytes = address ? read(*address, type.size) : std::nullopt;
      if (!bytes) {
        note(address ? "the memory at " + bare(*address) + " is not there" : "the rest cannot be followed: it says that it has " + grouped(count) + ", damaged?");
        break;
      }
      if (!by_key) {
        value(type, *bytes);
        continue;
      }
      auto member = [&](const type::Field& f) { value(*f.type, part(*bytes, f.offset, f.type->size)); };
      out_ += '[';
      member(*key);
      out_ += json_ ? "," : "] = ";
      member(*held);
      if (json_) out_ += ']';
    }
    out_ += in_braces ? (count ? " }" : "}") : "]";
    return true;
  }
  bool contiguous(uint64_t address, uint64_t count, const Type& type) {
    return elements(count, type, false, [&] { return std::optional(std::exchange(address, address + type.size)); });
  }
  bool characters_at(uint64_t address, uint64_t length) {
    const uint64_t shown = std::min(length, longest_text);
    const auto bytes = read(address, shown);
    if (!bytes) return length > uint64_t{1} << 32 ? suspicious("a text of " + grouped(length) + " bytes") : nothing_at(address);
    const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    const std::string rest = shown < length ? "… " + grouped(length - shown) + " bytes more" : "";
    if (json_) return append_json(out_, std::string(text) + rest), true;
    out_ += '"';
    for (const std::byte& b : *bytes) {
      if (b == std::byte{'"'} || b == std::byte{'\\'}) out_ += '\\';
      append_escaped(out_, Bytes(&b, 1));
    }
    out_ += '"' + rest;
    return true;
  }

  std::string& out_;
  Context& context_;
  Part whole_;
  bool json_;
};

bool View::vector() {
  const auto first = at("_M_impl._M_start"), last = at("_M_impl._M_finish");
  if (!first || !last) return false;
  if (!first->type->is(Kind::pointer)) return bits();
  const Type* element = first->type->element;
  if (!element || !element->size) return false;
  const uint64_t begin = first->number(), end = last->number();
  if (end < begin || (end - begin) % element->size) return suspicious("a vector from " + bare(begin) + " to " + bare(end));
  return contiguous(begin, (end - begin) / element->size, *element);
}

// std::vector<bool>
bool View::bits() {
  const auto first = at("_M_impl._M_start._M_p"), last = at("_M_impl._M_finish._M_p"), rest = at("_M_impl._M_finish._M_offset");
  if (!first || !last || !rest) return false;
  const uint64_t begin = first->number(), end = last->number();
  if (end < begin) return suspicious("a vector from " + bare(begin) + " to " + bare(end));
  const uint64_t count = (end - begin) * 8 + rest->number();
  out_ += '[';
  for (uint64_t i = 0; i < count; i++) {
    if (i) out_ += ',';
    if (i == most_elements) {
      more(count - i);
      break;
    }
    const auto byte = read(begin + i / 8, 1);
    if (!byte) return nothing_at(begin + i / 8), out_ += ']', true;
    out_ += (static_cast<unsigned>((*byte)[0]) >> i % 8 & 1) != 0 ? "true" : "false";
  }
  out_ += ']';
  return true;
}

bool View::string() {
  const auto data = at("_M_dataplus._M_p"), length = at("_M_string_length");
  if (!data || !length) return false;
  const Type* character = data->type->element;
  if (!character || character->size != 1) return character && character->size ? contiguous(data->number(), length->number(), *character) : false;
  return characters_at(data->number(), length->number());
}

bool View::string_view() {
  const auto data = at("_M_str"), length = at("_M_len");
  return data && length && data->type->element && data->type->element->size == 1 && characters_at(data->number(), length->number());
}

// std::map, std::set and those with several of a key. Nodes are struct _Rb_tree_node_base: colour, parent, left, right.
bool View::tree() {
  constexpr uint64_t parent = 8, left = 16, right = 24, node = 32, highest = 128;
  const auto trunk = at("_M_t"), count = at("_M_t._M_impl._M_node_count"), first = at("_M_t._M_impl._M_header._M_left");
  const Type* element = trunk ? argument(*trunk->type, 1) : nullptr;
  if (!element || !count || !first) return false;
  uint64_t now = first->number(), seen = 0;
  auto next = [&]() -> std::optional<uint64_t> {
    if (seen++) { // the next in order: the leftmost on the right, or the first above of which this is on the left
      auto at = word_at(now + right);
      if (!at) return std::nullopt;
      if (*at) {
        now = *at;
        for (uint64_t steps = 0; steps < highest && (at = word_at(now + left)) && *at; steps++) now = *at;
      } else {
        uint64_t below = now;
        if (!(at = word_at(now + parent))) return std::nullopt;
        now = *at;
        for (uint64_t steps = 0; steps < highest && (at = word_at(now + right)) && *at == below; steps++) {
          below = now;
          if (!(at = word_at(now + parent))) return std::nullopt;
          now = *at;
        }
      }
    }
    return now ? std::optional(now + aligned(node, *element)) : std::nullopt;
  };
  return elements(count->number(), *element, whole_.type->name.find("map<") != whole_.type->name.npos, next);
}

bool View::hash() {
  const auto table = at("_M_h"), count = at("_M_h._M_element_count"), first = at("_M_h._M_before_begin._M_nxt");
  const Type* element = table ? argument(*table->type, 1) : nullptr;
  if (!element || !count || !first) return false;
  uint64_t now = first->number(), seen = 0;
  auto next = [&]() -> std::optional<uint64_t> {
    if (seen++) now = word_at(now).value_or(0);
    return now ? std::optional(now + aligned(word, *element)) : std::nullopt;
  };
  return elements(count->number(), *element, whole_.type->name.find("map<") != whole_.type->name.npos, next);
}

bool View::list() {
  const auto count = at("_M_impl._M_node._M_size"), first = at("_M_impl._M_node._M_next");
  const Type* element = argument(*whole_.type, 0);
  if (!element || !count || !first) return false;
  uint64_t now = first->number(), seen = 0;
  auto next = [&]() -> std::optional<uint64_t> {
    if (seen++) now = word_at(now).value_or(0);
    return now ? std::optional(now + aligned(2 * word, *element)) : std::nullopt;
  };
  return elements(count->number(), *element, false, next);
}

// It does not know how many it has: they are counted, so far as they are shown.
bool View::forward_list() {
  const auto first = at("_M_impl._M_head._M_next");
  const Type* element = argument(*whole_.type, 0);
  if (!element || !first) return false;
  uint64_t count = 0;
  for (uint64_t node = first->number(); node && count <= most_elements; count++) node = word_at(node).value_or(0);
  uint64_t now = first->number(), seen = 0;
  auto next = [&]() -> std::optional<uint64_t> {
    if (seen++) now = word_at(now).value_or(0);
    return now ? std::optional(now + aligned(word, *element)) : std::nullopt;
  };
  return elements(count, *element, false, next);
}

// Blocks of 512 bytes, or of one element if that is larger.
bool View::deque() {
  const auto first = at("_M_impl._M_start._M_cur"), block = at("_M_impl._M_start._M_node"), block_begin = at("_M_impl._M_start._M_first"),
             last = at("_M_impl._M_finish._M_cur"), last_block = at("_M_impl._M_finish._M_node"), last_begin = at("_M_impl._M_finish._M_first");
  if (!first || !block || !block_begin || !last || !last_block || !last_begin || !first->type->element || !first->type->element->size) return false;
  const Type& element = *first->type->element;
  const uint64_t in_block = std::max<uint64_t>(1, 512 / element.size);
  const uint64_t from = block->number(), to = last_block->number();
  const uint64_t in_front = (first->number() - block_begin->number()) / element.size, in_last = (last->number() - last_begin->number()) / element.size;
  if (to < from || (to - from) % word || in_front > in_block || in_last > in_block) return suspicious("a deque from " + bare(from) + " to " + bare(to));
  const uint64_t count = (to - from) / word * in_block + in_last - in_front;
  if (count > uint64_t{1} << 48) return suspicious("a deque from " + bare(from) + " to " + bare(to));
  uint64_t i = in_front;
  auto next = [&]() -> std::optional<uint64_t> {
    const auto begin = word_at(from + i / in_block * word);
    const uint64_t n = i++ % in_block;
    return begin ? std::optional(*begin + n * element.size) : std::nullopt;
  };
  return elements(count, element, false, next);
}

bool View::unique_pointer() {
  const auto pointer = pointer_in(whole_);
  if (!pointer) return false;
  value(*pointer->type, pointer->bytes);
  return true;
}

// The pointer, and how many share it.
bool View::shared_pointer() {
  const auto pointer = at("_M_ptr"), counts = at("_M_refcount._M_pi");
  if (!pointer || !counts) return false;
  const auto users = counts->number() ? word_at(counts->number() + word) : std::optional<uint64_t>(0); // behind the virtual table
  const auto strong = static_cast<uint32_t>(users.value_or(0));
  if (json_) {
    out_ += "{\"pointer\": ";
    value(*pointer->type, pointer->bytes);
    out_ += ", \"uses\": " + std::to_string(strong) + "}";
  } else {
    value(*pointer->type, pointer->bytes);
    if (counts->number()) out_ += users ? " (uses " + std::to_string(strong) + ")" : " (its count is not there)";
  }
  return true;
}

bool View::optional() {
  auto engaged = at("_M_payload._M_engaged");
  const Type* held = argument(*whole_.type, 0);
  const auto payload = at("_M_payload");
  if (!engaged || !payload || !held) return false;
  if (!engaged->number()) return word_of("nothing"), true;
  value(*held, part(payload->bytes, 0, held->size));
  return true;
}

bool View::variant() {
  const auto index = at("_M_index"), storage = at("_M_u");
  if (!index || !storage) return false;
  const uint64_t n = index->number(), none = index->type->size == 1 ? 0xff : index->type->size == 2 ? 0xffff : ~uint64_t{0};
  if (n == none) return word_of("nothing (valueless by exception)"), true;
  const Type* held = n < 256 ? argument(*whole_.type, static_cast<uint32_t>(n)) : nullptr;
  if (!held || held->size > storage->bytes.size()) return suspicious("a variant that holds its type number " + std::to_string(n));
  value(*held, part(storage->bytes, 0, held->size));
  return true;
}

// Elements are bases, the first one innermost.
bool View::tuple() {
  std::vector<Part> found;
  auto visit = [&](auto&& self, const Part& of, int depth) -> void {
    if (!of.type->is(Kind::structure) || depth > 64) return;
    for (const type::Field& f : of.type->fields()) {
      const Part inner{f.type, part(of.bytes, f.offset, f.type->size)};
      if (f.name == "_M_head_impl")
        found.push_back(inner);
      else if (f.name.empty())
        self(self, inner, depth + 1);
    }
  };
  visit(visit, whole_, 0);
  if (found.empty()) return false;
  out_ += json_ ? '[' : '(';
  for (size_t i = found.size(); i-- > 0;) {
    value(*found[i].type, found[i].bytes);
    if (i) out_ += ", ";
  }
  out_ += json_ ? "]" : found.size() == 1 ? ",)" : ")";
  return true;
}

bool View::array() {
  const auto elements = at("_M_elems");
  return elements && (value(*elements->type, elements->bytes), true);
}

// What is nothing but a number: an atomic, a duration.
bool View::number() {
  for (std::string_view path : {"_M_i", "_M_base._M_i", "_M_b._M_p", "_M_fp", "__r"})
    if (const auto held = at(path); held && !held->type->is(Kind::structure)) return value(*held->type, held->bytes), true;
  return false;
}

bool View::reference() {
  const auto held = at("_M_data");
  return held && (value(*held->type, held->bytes), true);
}

bool View::rust_vector() {
  const auto length = at("len");
  const auto pointer = pointer_in(whole_);
  const Type* element = argument(*whole_.type, 0);
  return length && pointer && element && contiguous(pointer->number(), length->number(), *element);
}

bool View::rust_string() {
  const auto length = at("vec.len");
  const auto pointer = pointer_in(whole_);
  return length && pointer && characters_at(pointer->number(), length->number());
}

bool View::rust_slice() {
  const auto pointer = at("data_ptr"), length = at("length");
  if (!pointer || !length || !pointer->type->is(Kind::pointer) || !pointer->type->element) return false;
  const Type& element = *pointer->type->element;
  const bool is_text = whole_.type->name.ends_with("str");
  if (is_text) return characters_at(pointer->number(), length->number());
  return element.size && contiguous(pointer->number(), length->number(), element);
}

// `None`, `Some(5)`, `Point { .x = 1, .y = 2 }`; in JSON "None", {"Some": 5}, {"Point": { "x": 1, "y": 2 }}.
bool View::rust_enum() {
  const Type& type = *whole_.type;
  const auto active = type.provider ? type.provider->variant(*type.table, type.provider_id, whole_.bytes) : std::nullopt;
  if (!active) return false;
  const Part held{active->type, part(whole_.bytes, active->offset, active->type->size)};
  std::vector<type::Field> fields;
  for (const type::Field& f : held.type->fields()) fields.push_back(f);
  if (fields.empty()) return word_of(active->name), true;
  auto member = [&](const type::Field& f) { value(*f.type, part(held.bytes, f.offset, f.type->size)); };
  if (json_) {
    out_ += '{';
    append_json(out_, active->name);
    out_ += ": ";
  } else {
    out_ += active->name;
  }
  if (fields[0].name == "__0") {
    out_ += json_ ? (fields.size() > 1 ? "[" : "") : "(";
    for (size_t i = 0; i < fields.size(); i++) {
      if (i) out_ += ", ";
      member(fields[i]);
    }
    out_ += json_ ? (fields.size() > 1 ? "]" : "") : ")";
  } else {
    if (!json_) out_ += ' ';
    value(*held.type, held.bytes);
  }
  if (json_) out_ += '}';
  return true;
}

struct Row {
  std::string_view name; // up to its arguments, without the namespaces of versions
  bool (View::*show)();
};
constexpr Row rows[] = {
    {"std::vector<", &View::vector},
    {"std::basic_string<", &View::string},
    {"std::string", &View::string},
    {"std::basic_string_view<", &View::string_view},
    {"std::map<", &View::tree},
    {"std::multimap<", &View::tree},
    {"std::set<", &View::tree},
    {"std::multiset<", &View::tree},
    {"std::unordered_map<", &View::hash},
    {"std::unordered_multimap<", &View::hash},
    {"std::unordered_set<", &View::hash},
    {"std::unordered_multiset<", &View::hash},
    {"std::list<", &View::list},
    {"std::forward_list<", &View::forward_list},
    {"std::deque<", &View::deque},
    {"std::unique_ptr<", &View::unique_pointer},
    {"std::shared_ptr<", &View::shared_pointer},
    {"std::weak_ptr<", &View::shared_pointer},
    {"std::optional<", &View::optional},
    {"std::variant<", &View::variant},
    {"std::tuple<", &View::tuple},
    {"std::array<", &View::array},
    {"std::atomic<", &View::number},
    {"std::chrono::duration<", &View::number},
    {"std::reference_wrapper<", &View::reference},
    {"alloc::vec::Vec<", &View::rust_vector},
    {"alloc::string::String", &View::rust_string},
    {"&str", &View::rust_slice},
    {"&mut str", &View::rust_slice},
    {"&[", &View::rust_slice},
    {"&mut [", &View::rust_slice},
};

// "std::__cxx11::basic_string<…>" is "std::basic_string<…>".
std::string without_version(std::string_view name) {
  constexpr std::string_view version = "std::__cxx11::";
  return name.starts_with(version) ? "std::" + std::string(name.substr(version.size())) : std::string(name);
}

} // namespace

bool append_view(std::string& out, Context& context, const Type& type, Bytes bytes, bool json) {
  if (!type.provider || !type.is(Kind::structure) || bytes.size() < type.size) return false;
  if (!context.depth) context.elements = 0;
  View view(out, context, type, bytes, json);
  if (view.rust_enum()) return true;
  if (!context.options.memory || type.name.empty()) return false;
  const std::string name = without_version(type.name);
  for (const Row& row : rows)
    if (name.starts_with(row.name)) return (view.*row.show)();
  return false;
}

} // namespace report
