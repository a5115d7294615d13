// C writes a type around the name it declares: `int (*f[4])(void)`. So the declarator grows from the name outwards
// while the type is followed inwards, and what is found last stands first.
#include "format/btf_declaration.h"

namespace format {

namespace {

constexpr int max_depth = 20;
constexpr size_t max_steps = 20'000; // types that hold themselves twice would never end

class Declarations {
public:
  explicit Declarations(Btf& btf, std::string_view margin = {}) : btf_(btf), margin_(margin) {}
  std::string declare(uint32_t id, std::string declarator, size_t level, int depth = 0);
  std::string body(uint32_t id, const Btf::Raw& r, size_t level, int depth);

private:
  std::string pointer(const Btf::Raw& r, std::string declarator, size_t level, int depth);
  std::string qualified(std::string_view word, const Btf::Raw& r, std::string declarator, size_t level, int depth);
  std::string parameters(uint32_t id, size_t level, int depth);
  std::string tagged(std::string_view word, uint32_t id, const Btf::Raw& r, size_t level, int depth);
  BtfKind kind_behind_tags(uint32_t id);

  std::string margin_of(size_t level) const {
    std::string out;
    for (size_t i = 0; i < level; i++) out += margin_;
    return out;
  }

  Btf& btf_;
  std::string_view margin_; // of each level
  size_t steps_ = 0;
  bool is_exhausted() const { return steps_ > max_steps; }
};

std::string join(std::string type, const std::string& declarator) {
  return declarator.empty() ? type : type + " " + declarator;
}

// Tags tell what memory a pointer is for; C has no word for them.
BtfKind Declarations::kind_behind_tags(uint32_t id) {
  auto r = btf_.raw(id);
  for (int depth = 0; r && r->kind == BtfKind::type_tag && depth < max_depth; depth++) r = btf_.raw(r->type);
  return r ? r->kind : BtfKind::none;
}

std::string Declarations::pointer(const Btf::Raw& r, std::string declarator, size_t level, int depth) {
  BtfKind to = kind_behind_tags(r.type);
  declarator = "*" + declarator;
  if (to == BtfKind::array || to == BtfKind::prototype) declarator = "(" + declarator + ")";
  return declare(r.type, declarator, level, depth);
}

// `const` of a pointer stands behind its star, of anything else before the type.
std::string Declarations::qualified(std::string_view word, const Btf::Raw& r, std::string declarator, size_t level,
                                    int depth) {
  if (kind_behind_tags(r.type) == BtfKind::pointer)
    return declare(r.type, " " + join(std::string(word), declarator), level, depth);
  return std::string(word) + " " + declare(r.type, std::move(declarator), level, depth);
}

std::string Declarations::parameters(uint32_t id, size_t level, int depth) {
  std::string out = "(";
  for (const Btf::Parameter& p : btf_.parameters(id)) {
    if (is_exhausted()) break;
    if (out.size() > 1) out += ", ";
    out += p.type ? declare(p.type, {}, level, depth) : "...";
  }
  return out + (out.size() > 1 ? ")" : "void)");
}

// A structure, union or enumeration inside another: by its name, or whole where it has none.
std::string Declarations::tagged(std::string_view word, uint32_t id, const Btf::Raw& r, size_t level, int depth) {
  std::string out(word);
  return r.name.empty() ? out + " " + body(id, r, level, depth) : out + " " + std::string(r.name);
}

std::string Declarations::body(uint32_t id, const Btf::Raw& r, size_t level, int depth) {
  std::string out = "{\n", margin = margin_of(level + 1);
  if (r.kind == BtfKind::enumeration || r.kind == BtfKind::enumeration64) {
    for (const type::Enumerator& e : btf_.enumerators(id))
      out += margin + std::string(e.name) + " = " + std::to_string(e.value) + ",\n";
  } else {
    for (const Btf::RawMember& m : btf_.raw_members(id)) {
      if (is_exhausted()) break;
      out += margin + declare(m.type, std::string(m.name), level + 1, depth);
      if (m.bits) out += ": " + std::to_string(m.bits);
      out += ";\n";
    }
  }
  return out + margin_of(level) + "}";
}

std::string Declarations::declare(uint32_t id, std::string declarator, size_t level, int depth) {
  auto r = btf_.raw(id);
  if (!r || depth++ > max_depth || ++steps_ > max_steps) return join("void", declarator);
  switch (r->kind) {
  case BtfKind::pointer: return pointer(*r, std::move(declarator), level, depth);
  case BtfKind::array:
    return declare(r->type, declarator + "[" + std::to_string(r->count) + "]", level, depth);
  case BtfKind::prototype: return declare(r->type, declarator + parameters(id, level, depth), level, depth);
  case BtfKind::const_: return qualified("const", *r, std::move(declarator), level, depth);
  case BtfKind::volatile_: return qualified("volatile", *r, std::move(declarator), level, depth);
  case BtfKind::restrict_: return qualified("restrict", *r, std::move(declarator), level, depth);
  case BtfKind::type_tag: return declare(r->type, std::move(declarator), level, depth);
  case BtfKind::structure: return join(tagged("struct", id, *r, level, depth), declarator);
  case BtfKind::union_: return join(tagged("union", id, *r, level, depth), declarator);
  case BtfKind::enumeration:
  case BtfKind::enumeration64: return join(tagged("enum", id, *r, level, depth), declarator);
  case BtfKind::forward: return join((r->flag ? "union " : "struct ") + std::string(r->name), declarator);
  default: return join(std::string(r->name), declarator);
  }
}

std::string_view word_of(BtfKind kind) {
  if (kind == BtfKind::structure) return "struct ";
  return kind == BtfKind::union_ ? "union " : "enum ";
}

} // namespace

std::string definition(Btf& btf, uint32_t id, std::string_view margin) {
  auto r = btf.raw(id);
  if (!r) return {};
  return std::string(word_of(r->kind)) + std::string(r->name) + " " + Declarations(btf, margin).body(id, *r, 0, 0) + ";";
}

std::string type_name(Btf& btf, uint32_t id) { return Declarations(btf).declare(id, {}, 0); }

} // namespace format
