#include "emit/structures.h"

#include <algorithm>

namespace emit {

using type::Kind;

// The kernel's types have one source, whichever of them is asked.
bool Structures::is_kernels(const type::Type& structure) {
  const type::Type* task = machine_.kernel_type("struct", "task_struct");
  return task && structure.provider == task->provider;
}

const type::Type* Structures::same(const type::Type& structure) {
  if (!structure.provider) return &structure;
  return known_.try_emplace({structure.provider, structure.provider_id}, &structure).first->second;
}

std::string Structures::name(const type::Type& any) {
  const type::Type& structure = *same(any);
  const std::string keyword = structure.is_union ? "union " : "struct ";
  if (is_kernels(structure)) return keyword + std::string(structure.name);
  used_[&structure];
  std::string wish = structure.name.empty() ? "anonymous" : identifier(structure.name);
  // One of the kernel's with this name would be taken in its place.
  if (const type::Type* other = machine_.kernel_type(structure.is_union ? "union" : "struct", structure.name); other && is_kernels(*other)) wish += "_user";
  return "struct " + names_.of(&structure, wish);
}

void Structures::use(const type::Type& any, const type::Field& field) {
  const type::Type& structure = *same(any);
  if (is_kernels(structure) || !field.type) return;
  used_[&structure].fields[{field.offset, std::string(field.name)}] = field.type;
  if (field.type->is(Kind::structure) && !is_kernels(*field.type)) used_[same(*field.type)];
}

std::string Structures::c_type(const type::Type& t) {
  switch (t.kind) {
  case Kind::boolean: return "unsigned char";
  case Kind::integer:
  case Kind::enumeration: {
    if (t.is_char) return "char";
    constexpr std::string_view names[] = {"char", "short", "int", "long long"};
    const std::string_view base = names[t.size == 1 ? 0 : t.size == 2 ? 1 : t.size == 4 ? 2 : 3];
    return (t.is_signed ? (t.size == 1 ? "signed " : "") : "unsigned ") + std::string(base);
  }
  case Kind::pointer: return t.element && !t.element->is(Kind::none) && !t.element->is(Kind::array) ? c_type(*t.element) + " *" : "void *";
  case Kind::structure: return name(t);
  default: return "void";
  }
}

// "char name[16]"
std::string Structures::member(const type::Type& t, std::string_view name) {
  if (t.is(Kind::array) && t.element) return member(*t.element, std::string(name) + "[" + std::to_string(t.count) + "]");
  if (t.is(Kind::string)) return "char " + std::string(name) + "[" + std::to_string(t.size) + "]";
  const std::string type = c_type(t);
  if (type == "void") return "char " + std::string(name) + "[" + std::to_string(t.size) + "]";
  return type + (type.ends_with('*') ? "" : " ") + std::string(name);
}

void Structures::define(const type::Type& any, std::string& out) {
  const type::Type& structure = *same(any);
  Used& used = used_[&structure];
  if (used.is_written) return;
  used.is_written = true;
  for (const auto& [place, t] : used.fields) {
    const type::Type* inner = t->is(Kind::array) ? t->element : t;
    if (inner && inner->is(Kind::structure) && !is_kernels(*inner)) define(*inner, out);
  }
  uint32_t end = 0;
  bool overlap = false;
  for (const auto& [place, t] : used.fields) {
    overlap |= place.first < end;
    end = std::max(end, place.first + t->size);
  }
  std::string text = name(structure) + " {\n";
  uint32_t at = 0, pads = 0;
  const auto pad = [&](uint32_t bytes) { return "char _pad" + std::to_string(pads++) + "[" + std::to_string(bytes) + "];"; };
  if (overlap) text += "  union {\n";
  for (const auto& [place, t] : used.fields) {
    const auto& [offset, field] = place;
    if (overlap) {
      text += "    struct { " + (offset ? pad(offset) + " " : "") + member(*t, field) + "; };\n";
      continue;
    }
    if (offset > at) text += "  " + pad(offset - at) + "\n";
    text += "  " + member(*t, field) + ";\n";
    at = offset + t->size;
  }
  if (overlap) text += "  };\n";
  if (!overlap && structure.has_size && structure.size > at) text += "  " + pad(structure.size - at) + "\n";
  out += text + "};\n\n";
}

std::string Structures::definitions() {
  std::string out;
  // define() may add structures that are members of others.
  for (bool more = true; more;) {
    more = false;
    std::vector<const type::Type*> open;
    for (const auto& [t, used] : used_)
      if (!used.is_written) open.push_back(t);
    for (const type::Type* t : open) define(*t, out), more = true;
  }
  return out;
}

} // namespace emit
