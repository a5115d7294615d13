#include "report/views.h"

#include "report/json.h"
#include "report/layouts.h"
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
constexpr uint64_t most_counted = 100'000; // nodes of a list that does not know its length

// A part of an object.
struct Part {
  const Type* type = nullptr;
  Bytes bytes;
  uint64_t number() const { return load(bytes, std::min<uint32_t>(type->size, 8)); }
};

// The elements of a container. Those of maps are keys, each with the value `mapped_at` bytes from its start.
struct Element {
  const Type* type = nullptr;
  const Type* mapped = nullptr;
  uint64_t mapped_at = 0, size = 0, align = 1;
};

uint64_t aligned(uint64_t offset, uint64_t align) { return (offset + align - 1) / align * align; }

// The largest of its members, or what alignas says.
uint64_t alignment_of(const Type& type, int depth = 0) {
  if (type.is(Kind::array) && type.element && depth < deepest) return alignment_of(*type.element, depth + 1);
  if (!type.is(Kind::structure) || depth >= deepest) return std::max(1u, type.align);
  uint64_t out = std::max(1u, type.provider ? type.provider->alignment(type.provider_id) : 0);
  for (const type::Field& f : type.fields()) out = std::max(out, alignment_of(*f.type, depth + 1));
  return out;
}

class View {
public:
  View(std::string& out, Context& context, const Type& type, Bytes bytes, bool json)
      : out_(out), context_(context), whole_{&type, bytes}, json_(json) {}

  bool vector();
  bool bits();
  bool string();
  bool string_view();
  bool span();
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
  bool array() { return member(arrays); }
  bool number() { return member(numbers); }
  bool reference() { return member(references); }
  bool function();
  bool rust_vector();
  bool rust_string();
  bool rust_slice();
  bool rust_enum();

private:
  // ---- looking

  static std::optional<Part> member_of(const Part& of, std::string_view name) {
    const auto field = of.type->is(Kind::structure) ? of.type->find(name) : std::nullopt;
    if (!field || field->bit_size) return std::nullopt;
    const Part out{field->type, part(of.bytes, field->offset, field->type->size)};
    const bool is_pair = out.type->is(Kind::structure) && out.type->name.find("::__compressed_pair<") != out.type->name.npos;
    return is_pair ? member_of(out, "__value_") : out;
  }
  // See layouts.h.
  static std::optional<Part> part_of(const Part& of, Path path) {
    std::optional<Part> at = of;
    while (at && !path.empty()) {
      std::string_view names = path.substr(0, path.find('.'));
      path.remove_prefix(std::min(names.size() + 1, path.size()));
      std::optional<Part> found;
      while (!found && !names.empty()) {
        const std::string_view name = names.substr(0, names.find('|'));
        names.remove_prefix(std::min(name.size() + 1, names.size()));
        found = member_of(*at, name);
      }
      at = found;
    }
    return at;
  }
  std::optional<Part> at(Path path) const { return part_of(whole_, path); }
  // The row of a table that fits this object.
  template<class Layout, size_t n, class First> const Layout* layout_of(const Layout (&layouts)[n], First Layout::*first) const {
    for (const Layout& l : layouts)
      if (at(l.*first)) return &l;
    return nullptr;
  }
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
  std::optional<Element> element() const {
    const bool is_map = whole_.type->name.find("map<") < whole_.type->name.find('<');
    const Type* type = argument(*whole_.type, 0);
    const Type* mapped = is_map ? argument(*whole_.type, 1) : nullptr;
    if (!type || (is_map && !mapped)) return std::nullopt;
    Element out{.type = type, .mapped = mapped, .size = type->size, .align = alignment_of(*type)};
    if (mapped) {
      const uint64_t align = alignment_of(*mapped);
      out.mapped_at = aligned(type->size, align);
      out.align = std::max(out.align, align);
      out.size = aligned(out.mapped_at + mapped->size, out.align);
    }
    return out;
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
      out_ += (counted_all_ ? "… " : "… at least ") + grouped(count) + " more";
  }

  // Elements one by one: next() gives where the next one is, or nothing where it cannot be told. Of maps `{ [1] = a, [2] = b }`;
  // in JSON pairs, for the keys of its objects are texts.
  template<class Next> bool elements(uint64_t count, const Element& of, Next next) {
    if (of.size > largest_element) return note(grouped(count) + " elements of " + grouped(of.size) + " bytes, too large to be shown"), true;
    const bool in_braces = of.mapped && !json_;
    out_ += in_braces ? "{ " : "[";
    for (uint64_t i = 0; i < count; i++) {
      if (i) out_ += in_braces ? ", " : ",";
      if (i == most_elements || context_.elements >= most_of_all) {
        more(count - i);
        break;
      }
      context_.elements++;
      const std::optional<uint64_t> address = next();
      const auto bytes = address ? read(*address, of.size) : std::nullopt;
      if (!bytes) {
        note(address ? "the memory at " + bare(*address) + " is not there" : "the rest cannot be followed: it says that it has " + grouped(count) + ", damaged?");
        break;
      }
      if (!of.mapped) {
        value(*of.type, *bytes);
        continue;
      }
      out_ += '[';
      value(*of.type, part(*bytes, 0, of.type->size));
      out_ += json_ ? "," : "] = ";
      value(*of.mapped, part(*bytes, of.mapped_at, of.mapped->size));
      if (json_) out_ += ']';
    }
    out_ += in_braces ? (count ? " }" : "}") : "]";
    return true;
  }
  bool contiguous(uint64_t address, uint64_t count, const Type& type) {
    return elements(count, {.type = &type, .size = type.size}, [&] { return std::optional(std::exchange(address, address + type.size)); });
  }
  // Nodes that lead from one to the next.
  bool chain(const ChainLayout& layout, uint64_t count) {
    const auto of = element();
    uint64_t now = at(layout.first)->number(), seen = 0;
    auto next = [&]() -> std::optional<uint64_t> {
      if (seen++) now = word_at(now + layout.link).value_or(0);
      return now ? std::optional(now + aligned(layout.value, of->align)) : std::nullopt;
    };
    return of && elements(count, *of, next);
  }
  template<size_t n> bool counted_chain(const ChainLayout (&layouts)[n]) {
    const ChainLayout* layout = layout_of(layouts, &ChainLayout::first);
    const auto count = layout ? at(layout->count) : std::nullopt;
    return count && chain(*layout, count->number());
  }
  bool characters_at(uint64_t address, uint64_t length) {
    const auto bytes = read(address, std::min(length, longest_text));
    if (!bytes) return length > uint64_t{1} << 32 ? suspicious("a text of " + grouped(length) + " bytes") : nothing_at(address);
    return text(*bytes, length);
  }
  // The first of `length` bytes.
  bool text(Bytes shown, uint64_t length) {
    const std::string_view text(reinterpret_cast<const char*>(shown.data()), shown.size());
    const std::string rest = shown.size() < length ? "… " + grouped(length - shown.size()) + " bytes more" : "";
    if (json_) return append_json(out_, std::string(text) + rest), true;
    out_ += '"';
    for (const std::byte& b : shown) {
      if (b == std::byte{'"'} || b == std::byte{'\\'}) out_ += '\\';
      append_escaped(out_, Bytes(&b, 1));
    }
    out_ += '"' + rest;
    return true;
  }
  bool characters_or_elements(uint64_t address, uint64_t length, const Type* type) {
    if (!type || !type->size) return false;
    return type->size == 1 ? characters_at(address, length) : contiguous(address, length, *type);
  }
  std::optional<uint64_t> length_of_small(const Part& data) const;
  bool small_string(const Part& data, uint64_t length);
  std::vector<Part> elements_of_tuple(const Part& of) const;
  // In place of the object the first of these members that it has.
  template<size_t n> bool member(const Path (&paths)[n]) {
    for (const Path path : paths)
      if (const auto held = at(path)) return value(*held->type, held->bytes), true;
    return false;
  }

  std::string& out_;
  Context& context_;
  Part whole_;
  bool json_;
  bool counted_all_ = true;
};

bool View::vector() {
  const RangeLayout* layout = layout_of(vectors, &RangeLayout::last);
  const auto first = layout ? at(layout->first) : std::nullopt, last = layout ? at(layout->last) : std::nullopt;
  if (!first || !last || !first->type->is(Kind::pointer)) return bits();
  const Type* element = first->type->element;
  if (!element || !element->size) return false;
  const uint64_t begin = first->number(), end = last->number();
  if (end < begin || (end - begin) % element->size) return suspicious("a vector from " + bare(begin) + " to " + bare(end));
  return contiguous(begin, (end - begin) / element->size, *element);
}

bool View::bits() {
  const BitsLayout* layout = layout_of(bit_vectors, &BitsLayout::first);
  if (!layout) return false;
  const uint64_t begin = at(layout->first)->number();
  uint64_t count = 0;
  if (layout->count.empty()) {
    const auto last = at(layout->last), offset = at(layout->offset);
    if (!last || !offset) return false;
    const uint64_t end = last->number();
    if (end < begin) return suspicious("a vector from " + bare(begin) + " to " + bare(end));
    count = (end - begin) * 8 + offset->number();
  } else {
    const auto counted = at(layout->count);
    if (!counted) return false;
    count = counted->number();
  }
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
  const StringLayout* layout = layout_of(strings, &StringLayout::data);
  const auto data = layout ? at(layout->data) : std::nullopt, length = layout ? at(layout->length) : std::nullopt;
  if (!data || !length) return false;
  if (!layout->small.empty())
    if (const auto small = at(layout->small))
      if (const auto small_length = length_of_small(*small)) return small_string(*small, *small_length);
  return characters_or_elements(data->number(), length->number(), data->type->element);
}

// Nothing: the text is not within the object, which begins with three words.
std::optional<uint64_t> View::length_of_small(const Part& data) const {
  const bool is_alternate = data.bytes.data() == whole_.bytes.data();
  const uint64_t flags = load(part(whole_.bytes, is_alternate ? 3 * word - 1 : 0, 1), 1);
  if (flags & (is_alternate ? 0x80 : 1)) return std::nullopt;
  return is_alternate ? flags : flags >> 1;
}

bool View::small_string(const Part& data, uint64_t length) {
  const Type* character = data.type->is(Kind::array) ? data.type->element : nullptr; // else it is an array of char, a string
  const uint64_t size = character ? character->size : 1;
  if (length * size > data.bytes.size()) return suspicious("a short text of " + grouped(length) + " characters");
  if (size == 1) return text(data.bytes.first(length), length);
  value(*whole_.type->table->array(character, static_cast<uint32_t>(length)), data.bytes.first(length * size));
  return true;
}

bool View::string_view() {
  const SpanLayout* layout = layout_of(string_views, &SpanLayout::data);
  const auto data = layout ? at(layout->data) : std::nullopt, length = layout ? at(layout->length) : std::nullopt;
  return data && length && characters_or_elements(data->number(), length->number(), data->type->element);
}

// A fixed extent is only in the name: "std::span<int, 3ul>".
bool View::span() {
  const SpanLayout* layout = layout_of(spans, &SpanLayout::data);
  const auto data = layout ? at(layout->data) : std::nullopt, length = layout ? at(layout->length) : std::nullopt;
  if (!data || !data->type->element || !data->type->element->size) return false;
  const std::string extent(whole_.type->name.substr(whole_.type->name.rfind(',') + 1));
  const uint64_t count = length ? length->number() : std::strtoull(extent.c_str(), nullptr, 10);
  return contiguous(data->number(), count, *data->type->element);
}

// std::map, std::set and those with several of a key. A child that has another parent ends the walk: the tree is damaged.
bool View::tree() {
  constexpr int highest = 128; // of balanced trees that fit in memory
  const TreeLayout* layout = layout_of(trees, &TreeLayout::first);
  const auto first = layout ? at(layout->first) : std::nullopt, count = layout ? at(layout->count) : std::nullopt;
  const auto of = element();
  if (!first || !count || !of) return false;
  uint64_t now = first->number(), seen = 0;
  auto down = [&](uint64_t side) { // false: no child there
    const uint64_t child = word_at(now + side).value_or(0);
    if (!child) return false;
    now = word_at(child + layout->parent) == now ? child : 0;
    return true;
  };
  // The next in order: the leftmost on the right, or the first above of which this is on the left.
  auto step = [&] {
    int steps = 0;
    if (down(layout->right)) {
      while (now && steps < highest && down(layout->left)) steps++;
    } else {
      for (bool is_right = true; now && is_right && steps < highest; steps++) {
        const uint64_t above = word_at(now + layout->parent).value_or(0);
        is_right = above && word_at(above + layout->right) == now;
        now = above;
      }
    }
    if (steps == highest) now = 0;
  };
  auto next = [&]() -> std::optional<uint64_t> {
    if (seen++) step();
    return now ? std::optional(now + aligned(layout->value, of->align)) : std::nullopt;
  };
  return elements(count->number(), *of, next);
}

bool View::hash() { return counted_chain(hash_tables); }

bool View::list() { return counted_chain(lists); }

// Without a count of its own. A list that goes in a circle comes back to the last node whose number was a power of two
// (Brent's algorithm).
bool View::forward_list() {
  const ChainLayout* layout = layout_of(forward_lists, &ChainLayout::first);
  if (!layout) return false;
  uint64_t count = 0, met = 0, power = 1;
  for (uint64_t node = at(layout->first)->number(); node && count < most_counted; count++) {
    if (node == met) return suspicious("a list that goes in a circle");
    if (count == power) met = node, power *= 2;
    node = word_at(node + layout->link).value_or(0);
  }
  counted_all_ = count < most_counted;
  return chain(*layout, count);
}

bool View::deque() {
  uint64_t from = 0, blocks = 0, in_block = 0, i = 0, count = 0; // i: index of the next element in all blocks
  const Type* element = nullptr;
  if (const auto block = at(iterated_deque.block)) { // blocks of 512 bytes, or of one element if that is larger
    const auto first = at(iterated_deque.first), begin = at(iterated_deque.block_begin), last = at(iterated_deque.last),
               last_block = at(iterated_deque.last_block), last_begin = at(iterated_deque.last_begin);
    element = first ? first->type->element : nullptr;
    if (!element || !element->size || !begin || !last || !last_block || !last_begin) return false;
    in_block = std::max<uint64_t>(1, 512 / element->size);
    from = block->number();
    const uint64_t to = last_block->number(), in_last = (last->number() - last_begin->number()) / element->size;
    i = (first->number() - begin->number()) / element->size;
    if (to < from || (to - from) % word || i > in_block || in_last > in_block) return suspicious("a deque from " + bare(from) + " to " + bare(to));
    blocks = (to - from) / word;
    count = blocks * in_block + in_last - i;
    blocks++;
  } else { // blocks of 4096 bytes, or of 16 elements
    const auto begin = at(indexed_deque.blocks), end = at(indexed_deque.blocks_end), start = at(indexed_deque.start), size = at(indexed_deque.count);
    const Type* held = begin ? begin->type->element : nullptr;
    element = held ? held->element : nullptr;
    if (!element || !element->size || !end || !start || !size) return false;
    in_block = element->size < 256 ? 4096 / element->size : 16;
    from = begin->number(), i = start->number(), count = size->number();
    if (end->number() < from) return suspicious("a deque from " + bare(from) + " to " + bare(end->number()));
    blocks = (end->number() - from) / word;
  }
  if (blocks > uint64_t{1} << 48 || i > blocks * in_block || count > blocks * in_block - i)
    return suspicious("a deque of " + grouped(count) + " in " + grouped(blocks) + " blocks");
  auto next = [&]() -> std::optional<uint64_t> {
    const auto begin = word_at(from + i / in_block * word);
    const uint64_t n = i++ % in_block;
    return begin ? std::optional(*begin + n * element->size) : std::nullopt;
  };
  return elements(count, {.type = element, .size = element->size}, next);
}

bool View::unique_pointer() {
  for (const Path path : unique_pointers) {
    auto held = at(path);
    if (held && held->type->is(Kind::structure))
      if (const std::vector<Part> tuple = elements_of_tuple(*held); !tuple.empty()) held = tuple[0];
    if (held && held->type->is(Kind::pointer)) return value(*held->type, held->bytes), true;
  }
  return false;
}

// The pointer, and how many share it.
bool View::shared_pointer() {
  const SharedLayout* layout = layout_of(shared_pointers, &SharedLayout::counts);
  const auto pointer = layout ? at(layout->pointer) : std::nullopt, counts = layout ? at(layout->counts) : std::nullopt;
  if (!pointer || !counts) return false;
  const auto users = counts->number() ? word_at(counts->number() + word) : std::optional<uint64_t>(0); // behind the virtual table
  const auto strong = static_cast<uint32_t>(users.value_or(0)) + (counts->number() ? layout->not_counted : 0);
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
  const ChoiceLayout* layout = layout_of(optionals, &ChoiceLayout::state);
  const auto storage = layout ? at(layout->storage) : std::nullopt;
  const Type* held = argument(*whole_.type, 0);
  if (!storage || !held || held->size > storage->bytes.size()) return false;
  if (!at(layout->state)->number()) return word_of("nothing"), true;
  value(*held, part(storage->bytes, 0, held->size));
  return true;
}

bool View::variant() {
  const ChoiceLayout* layout = layout_of(variants, &ChoiceLayout::state);
  const auto index = layout ? at(layout->state) : std::nullopt, storage = layout ? at(layout->storage) : std::nullopt;
  if (!index || !storage || !index->type->size || index->type->size > 8) return false;
  const uint64_t n = index->number(), none = ~uint64_t{0} >> (64 - index->type->size * 8);
  if (n == none) return word_of("nothing (valueless by exception)"), true;
  const Type* held = n < 256 ? argument(*whole_.type, static_cast<uint32_t>(n)) : nullptr;
  if (!held || held->size > storage->bytes.size()) return suspicious("a variant that holds its type number " + std::to_string(n));
  value(*held, part(storage->bytes, 0, held->size));
  return true;
}

// libstdc++'s elements are bases of bases, the first one innermost; libc++'s are bases of one, and empty ones have no member.
std::vector<Part> View::elements_of_tuple(const Part& of) const {
  std::vector<Part> heads, leaves;
  auto visit = [&](auto&& self, const Part& at, int depth) -> void {
    if (!at.type->is(Kind::structure) || depth > 64) return;
    const bool is_leaf = at.type->name.find("::__tuple_leaf<") != at.type->name.npos;
    for (const type::Field& f : at.type->fields()) {
      const Part inner{f.type, part(at.bytes, f.offset, f.type->size)};
      if (is_leaf)
        leaves.push_back(inner);
      else if (f.name == "_M_head_impl")
        heads.push_back(inner);
      else if (f.name.empty())
        self(self, inner, depth + 1);
    }
  };
  visit(visit, part_of(of, "__base_").value_or(of), 0);
  std::reverse(heads.begin(), heads.end());
  return heads.empty() ? leaves : heads;
}

bool View::tuple() {
  const std::vector<Part> found = elements_of_tuple(whole_);
  if (found.empty()) return false;
  out_ += json_ ? '[' : '(';
  for (size_t i = 0; i < found.size(); i++) {
    if (i) out_ += ", ";
    value(*found[i].type, found[i].bytes);
  }
  out_ += json_ ? "]" : found.size() == 1 ? ",)" : ")";
  return true;
}

// The n-th argument of a template; `name` begins behind the "<".
std::string_view argument_in(std::string_view name, int n) {
  size_t begin = 0;
  int open = 0;
  for (size_t i = 0; i < name.size(); i++) {
    const char c = name[i];
    const bool ends = !open && (c == ',' || c == '>');
    if (ends && n-- == 0) return name.substr(begin, i - begin);
    if (ends && c == '>') break;
    if (ends) begin = name.find_first_not_of(' ', i + 1);
    if (c == '<' || c == '(' || c == '{') open++;
    if (open && (c == '>' || c == ')' || c == '}')) open--;
  }
  return {};
}

// The name of the function, or the type of the function object.
bool View::function() {
  const FunctionLayout* layout = layout_of(functions, &FunctionLayout::filled);
  const auto filled = layout ? at(layout->filled) : std::nullopt, call = layout ? at(layout->call) : std::nullopt;
  if (!filled || !call || !call->type->is(Kind::pointer)) return false;
  if (!filled->number()) return word_of("nothing"), true;
  const bool is_object = layout->target.empty();
  const auto code = is_object ? word_at(call->number()) : std::optional(call->number());
  if (!code) return nothing_at(call->number());
  const std::string symbol = context_.names.user(0, *code, false);
  if (symbol == bare(*code)) return suspicious("a function called by way of " + symbol);
  const size_t at_holder = symbol.find(layout->holder);
  if (at_holder == symbol.npos) return word_of(symbol), true;
  const std::string_view held = argument_in(std::string_view(symbol).substr(at_holder + layout->holder.size()), layout->argument);
  if (held.find("(*)(") == held.npos) return word_of(held), true;
  const auto stored = is_object ? std::nullopt : at(layout->target);
  const auto target = is_object ? word_at(call->number() + word) : stored ? std::optional(load(stored->bytes, word)) : std::nullopt;
  word_of(target ? context_.names.user(0, *target, false) : std::string(held));
  return true;
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
    {"std::span<", &View::span},
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
    {"std::function<", &View::function},
    {"alloc::vec::Vec<", &View::rust_vector},
    {"alloc::string::String", &View::rust_string},
    {"&str", &View::rust_slice},
    {"&mut str", &View::rust_slice},
    {"&[", &View::rust_slice},
    {"&mut [", &View::rust_slice},
};

// "std::__cxx11::basic_string<…>", "std::__1::basic_string<…>" are "std::basic_string<…>".
std::string without_version(std::string_view name) {
  constexpr std::string_view version = "std::__";
  const size_t end = name.starts_with(version) ? name.substr(0, name.find('<')).find("::", version.size()) : name.npos;
  return end == name.npos ? std::string(name) : "std" + std::string(name.substr(end));
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
