#include "index_samples.h"

#include <algorithm>
#include <map>
#include <memory>

namespace samples {
namespace {

using namespace dwarf;

// An entry with the one around it.
struct Node {
  Die die;
  const Node* parent = nullptr;
  std::vector<Node*> children;
};

class Walk {
public:
  explicit Walk(DebugInfo& info) : info_(info) {}
  Plain run() {
    if (DebugInfo* other = info_.alternate())
      for (size_t i = 0; i < other->units().size(); i++)
        if (const Unit* unit = other->unit(i)) read(*unit);
    std::vector<Node*> roots;
    for (size_t i = 0; i < info_.units().size(); i++)
      if (const Unit* unit = info_.unit(i)) roots.push_back(read(*unit));
    for (Node* root : roots)
      if (root) visit(*root, false);
    return std::move(out_);
  }

private:
  using Key = std::tuple<DebugInfo*, bool, uint64_t>;
  static Key key(const Die& die) { return {die.unit->info, die.unit->header->in_types, die.offset}; }

  Node* read(const Unit& unit) {
    DieCursor cursor(unit);
    std::vector<Node*> above;
    while (cursor.next()) {
      auto& node = nodes_[key(cursor.die())];
      node = std::make_unique<Node>(Node{cursor.die(), nullptr, {}});
      above.resize(cursor.depth());
      if (!above.empty()) {
        node->parent = above.back();
        above.back()->children.push_back(node.get());
      }
      above.push_back(node.get());
    }
    return above.empty() ? nullptr : above[0];
  }

  static Attribute attribute(const Die& die, uint16_t name) { return dwarf::find_attribute(die, name); }
  static bool has(const Die& die, uint16_t name) { return bool(attribute(die, name)); }
  static bool is_set(const Die& die, uint16_t name) { return attribute(die, name).number != 0; }
  static uint64_t number(const Die& die, uint16_t name) { return attribute(die, name).number; }
  static std::string own_name(const Die& die) {
    return std::string(text_of(*die.unit, attribute(die, DW_AT_name)).value_or(""));
  }

  // The last one of those that an entry completes.
  static Die declared(Die die) {
    for (int i = 0; i < 8; i++) {
      Attribute to = attribute(die, DW_AT_specification);
      if (!to) to = attribute(die, DW_AT_abstract_origin);
      std::optional<Die> next = to ? reference_of(*die.unit, to) : std::nullopt;
      if (!next) break;
      die = *next;
    }
    return die;
  }

  static bool is_scope(const Die& die) {
    switch (die.tag()) {
    case DW_TAG_namespace:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram: return true;
    case DW_TAG_enumeration_type: return is_set(die, DW_AT_enum_class) && !own_name(die).empty();
    default: return false;
    }
  }

  static std::string scope_name(const Die& die) {
    std::string name(name_of(die));
    if (!name.empty()) return name;
    if (Attribute signature = attribute(die, DW_AT_signature))
      if (auto type = reference_of(*die.unit, signature)) return std::string(name_of(*type));
    return die.tag() == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
  }

  // "ns::Class::", and a letter for each inline namespace: those are others than of the same name without.
  std::string scope_of(const Die& die, std::string& inlines) {
    Die last = declared(die);
    auto at = nodes_.find(key(last));
    if (at == nodes_.end()) return "";
    for (const Node* up = at->second->parent; up; up = up->parent)
      if (is_scope(up->die)) {
        std::string around = scope_of(up->die, inlines);
        inlines += is_set(up->die, DW_AT_export_symbols) ? 'i' : '-';
        return around + scope_name(up->die) + "::";
      }
    return "";
  }

  bool add(const Die& die, NameKind kind, bool is_repeated, std::string identity) {
    std::string name(name_of(die)), inlines, scope = scope_of(die, inlines);
    if (name.empty()) return false;
    bool has_code = kind == NameKind::function || kind == NameKind::variable;
    bool place = has_code && (has(die, DW_AT_low_pc) || has(die, DW_AT_ranges) || has(die, DW_AT_location));
    bool inlined =
        kind == NameKind::function && (number(die, DW_AT_inline) == 1 || number(die, DW_AT_inline) == 3);
    identity += "/" + std::to_string(int(kind)) + "/" + inlines + "/" + scope + name;
    if (is_repeated && !seen_.insert(identity).second) return false;
    out_.entries.insert({kind, die.unit->header->in_types, die.offset, place, inlined, scope + name});
    std::string linkage(linkage_name_of(die));
    if (!linkage.empty()) out_.linkage.insert({linkage, die.offset});
    return true;
  }

  static std::string line_and_size(const Die& die) {
    return std::to_string(number(die, DW_AT_decl_line)) + "," + std::to_string(number(die, DW_AT_byte_size));
  }

  static bool is_c(const Unit& unit) {
    for (uint16_t language :
         {DW_LANG_C89, DW_LANG_C, DW_LANG_C99, DW_LANG_C11, DW_LANG_C17, DW_LANG_Mips_Assembler})
      if (unit.language == language) return true;
    return false;
  }

  void visit(const Node& above, bool in_function) {
    for (const Node* child : above.children) visit_one(*child, in_function);
  }

  void visit_one(const Node& node, bool in_function) {
    const Die& die = node.die;
    bool declaration = is_set(die, DW_AT_declaration), nested = !is_c(*die.unit);
    switch (die.tag()) {
    case DW_TAG_subprogram:
      if (declaration) return;
      add(die, NameKind::function, false, "");
      if (nested) visit(node, true);
      return;
    case DW_TAG_variable: {
      bool constant = has(die, DW_AT_const_value);
      if (!in_function && (!declaration || constant))
        add(die, NameKind::variable, constant && !has(die, DW_AT_location),
            std::to_string(number(die, DW_AT_decl_line)));
      return;
    }
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type: {
      NameKind kind = die.tag() == DW_TAG_structure_type ? NameKind::structure
                      : die.tag() == DW_TAG_class_type   ? NameKind::class_
                                                         : NameKind::union_;
      if (!declaration) add(die, kind, true, line_and_size(die));
      if (nested) visit(node, false);
      return;
    }
    case DW_TAG_enumeration_type: {
      if (declaration) return;
      bool is_new = add(die, NameKind::enumeration, true, line_and_size(die));
      if (!own_name(die).empty() && !is_new) return;
      for (const Node* child : node.children)
        if (child->die.tag() == DW_TAG_enumerator)
          add(child->die, NameKind::enumerator, true, std::to_string(number(child->die, DW_AT_const_value)));
      return;
    }
    case DW_TAG_typedef:
      if (!declaration) add(die, NameKind::alias, true, line_and_size(die));
      return;
    case DW_TAG_base_type:
    case DW_TAG_unspecified_type: add(die, NameKind::base_type, true, line_and_size(die)); return;
    case DW_TAG_namespace:
      if (!own_name(die).empty()) add(die, NameKind::name_space, true, "");
      visit(node, in_function);
      return;
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
      if (in_function) visit(node, true);
    }
  }

  DebugInfo& info_;
  std::map<Key, std::unique_ptr<Node>> nodes_;
  std::set<std::string> seen_;
  Plain out_;
};

} // namespace

Plain walk(DebugInfo& info) { return Walk(info).run(); }

std::set<Listed> listed(const Index& index, uint32_t file) {
  std::set<Listed> out;
  index.list("*", all_kinds, [&](const IndexEntry& e) {
    if (e.file == file)
      out.insert({e.kind, e.in_types, e.die_offset, e.has_place, e.is_inlined, index.full_name(e)});
    return true;
  });
  return out;
}

const char* const cpp_source = R"(
using size = decltype(sizeof 0);
void* operator new(size, void* at) noexcept { return at; }
namespace outer {
inline namespace v1 {
struct Point {
  int x;
  static int count;
  static constexpr int limit = 40;
  int get() const;
  template<class T> T convert(T t) { return t + x; }
  enum class Color { red, green };
  enum Plain { one, two = -2 };
  struct Inner { void method(); struct Hidden; };
  union Either { int i; float f; };
  typedef int number;
};
} // namespace v1
struct Point::Inner::Hidden { int secret() { return 1; } };
int v1::Point::count = 3;
__attribute__((noinline)) int Point::get() const { return x; }
void Point::Inner::method() { Hidden h; count += h.secret(); }
} // namespace outer
namespace {
int hidden = 5;
struct Unnamed { int z; };
__attribute__((noinline)) int nameless(Unnamed a) { return a.z + hidden; }
} // namespace
namespace outer { namespace { int nested_nameless = 7; } int use() { return nested_nameless++; } }
static inline int inlined(int a) { return a * 3; }
template<class T, int N> struct Box {
  T t;
  bool operator<(const Box& o) const { return t < o.t; }
  T operator()(int a) const { return t + a; }
  explicit operator bool() const;
  T get() { return t; }
};
template<class T, int N> Box<T, N>::operator bool() const { return t; }
template<class T> struct Base { virtual ~Base(); virtual T run() = 0; };
template<class T> Base<T>::~Base() {}
struct Derived : Base<Box<int, 2>*> { Box<int, 2>* run() override { return nullptr; } };
int global;
typedef struct { int member; } Named;
Named named;
enum { loose = 77 };
extern "C" int plain_c(int a) {
  struct Local { int q; int method() { return q + 1; } };
  auto lambda = [a](int b) { static int calls; return a + b + calls++; };
  return Local{a}.method() + lambda(3) + inlined(a) + loose;
}
int main(int argc, char**) {
  Box<int, 1> b{argc}, d{2};
  Box<Box<int, 2>*, 3> c{nullptr};
  outer::Point p{argc};
  outer::Point::Inner i;
  i.method();
  Derived derived;
  outer::Point::Color color = outer::Point::Color::green;
  outer::Point::Plain plain = outer::Point::two;
  outer::Point::Either either{1};
  return (b < d) + b(3) + p.get() + p.convert(2) + plain_c(argc) + nameless({argc}) + bool(b) + named.member +
         (c.get() != derived.run()) + outer::use() + int(color) + plain + either.i + outer::Point::number(1);
}
)";

const char* const c_source = R"(
struct pair { int a; struct inside { int b; } in; };
enum color { red, green = -3 };
typedef struct pair pair_t;
union both { int i; float f; };
static int counter;
const char* text = "text";
static inline int tripled(int a) { return 3 * a; }
__attribute__((noinline)) static int work(pair_t* p, union both b) {
  struct local { int x; } l = {p->a};
  static int calls;
  return l.x + b.i + calls++;
}
int main(int argc, char** argv) {
  pair_t p = {argc, {2}};
  union both b = {argc};
  enum color c = green;
  counter++;
  return work(&p, b) + tripled(argc) + (int)c + (argv == 0);
}
)";

} // namespace samples
