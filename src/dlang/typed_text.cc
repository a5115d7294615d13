#include "dlang/typed_text.h"

#include "report/number.h"
#include "report/text.h"
#include "type/type.h"

namespace dlang {

using report::Bytes;
using type::Kind;
using type::Type;

namespace {

// As D and C write it; arrays have their number of elements behind it.
std::string name_of(const Type& t) {
  switch (t.kind) {
  case Kind::boolean: return "bool";
  case Kind::integer: return t.is_char ? "char" : (t.is_signed ? "int" : "uint") + std::to_string(t.size * 8) + "_t";
  case Kind::enumeration: return "enum " + std::string(t.name);
  case Kind::structure: return (t.is_union ? "union " : "struct ") + std::string(t.name.empty() ? "(anonymous)" : t.name);
  case Kind::pointer: return (t.element ? name_of(*t.element) : "void") + (t.element && t.element->is(Kind::pointer) ? "*" : " *");
  case Kind::array: return name_of(*t.element) + " [" + std::to_string(t.count) + "]";
  case Kind::string: return "string";
  default: return type::to_string(t);
  }
}

std::string quoted_text(Bytes bytes) {
  std::string out = "\"";
  for (char c : report::characters(bytes)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

class Writer {
public:
  explicit Writer(report::Printer& printer) : printer_(printer) {}

  std::string value(const Type& t, Bytes bytes, size_t depth) {
    if (t.is(Kind::pointer) || t.is(Kind::integer) || t.is(Kind::boolean)) return number(t, bytes);
    if (t.is(Kind::structure)) return structure(t, bytes, depth);
    if (t.is(Kind::string) || (t.is(Kind::array) && t.element->is_char)) return quoted_text(bytes);
    if (t.is(Kind::array)) return array(t, bytes, depth);
    return printer_.text(t, bytes);
  }

private:
  static std::string number(const Type& t, Bytes bytes) {
    const uint64_t n = report::extend(t, bytes);
    if (n == 0) return t.is(Kind::pointer) ? "NULL" : "0";
    const unsigned unused = t.size < 8 ? 64 - 8 * t.size : 0;
    return report::bare(n << unused >> unused);
  }

  std::string structure(const Type& t, Bytes bytes, size_t depth) {
    const std::string indent(4 * depth, ' ');
    std::string out = "{\n";
    report::for_each_member(t, bytes, [&](std::string_view name, const Type& member, Bytes at) {
      out += indent + "    " + name_of(member) + " " + std::string(name) + " = " + value(member, at, depth + 1) + "\n";
    });
    return out + indent + "}";
  }

  // Numbers are in one line, structures each in lines of their own.
  std::string array(const Type& t, Bytes bytes, size_t depth) {
    const bool has_lines = t.element->is(Kind::structure);
    const std::string between = has_lines ? "\n" + std::string(4 * (depth + 1), ' ') : " ";
    std::string out = "[";
    for (uint32_t i = 0; i < t.count; i++)
      out += (i ? "," : "") + between + value(*t.element, report::part(bytes, size_t{i} * t.element->size, t.element->size), depth + 1);
    return out + (has_lines ? "\n" + std::string(4 * depth, ' ') : " ") + "]";
  }

  report::Printer& printer_;
};

} // namespace

std::string typed_text(report::Printer& printer, const Type& type, Bytes bytes) { return name_of(type) + " " + Writer(printer).value(type, bytes, 0); }

} // namespace dlang
