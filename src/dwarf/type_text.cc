// C writes a type around the name it declares: `int (*f[4])(void)`. So the declarator grows from the name
// outwards while the entries are followed inwards, and what is found last stands first.
#include "dwarf/type_text.h"

#include "dwarf/type_entry.h"

namespace dwarf {

namespace {

constexpr int max_depth = 20;
constexpr size_t max_steps = 8'000; // types that hold themselves twice would never end
constexpr size_t max_bytes = 1 << 18;
constexpr size_t max_parameters = 256;
constexpr size_t indentation = 8;

class Texts {
public:
  explicit Texts(Types& types) : types_(types) {}
  std::string declare(std::optional<Die> type, std::string name, size_t indent, int depth = 0);
  std::string body(const Die& die, size_t indent, int depth);
  std::string parameters(const Die& function, size_t indent, int depth);

private:
  std::string pointer(const Die& die, std::string_view sign, std::string name, size_t indent, int depth);
  std::string qualified(std::string_view word, const Die& die, std::string name, size_t indent, int depth);
  std::string array(const Die& die, std::string name, size_t indent, int depth);
  std::string member(const Die& die, size_t indent, int depth);
  std::string named(const Die& die, size_t indent, int depth);
  std::string name_of_type(const Die& die);
  bool is_exhausted() const { return steps_ > max_steps || bytes_ > max_bytes; }

  Types& types_;
  size_t steps_ = 0, bytes_ = 0;
};

std::string join(std::string type, const std::string& name) {
  return name.empty() ? type : type + " " + name;
}

std::string_view keyword_of(uint16_t tag) {
  if (tag == DW_TAG_union_type) return "union";
  if (tag == DW_TAG_enumeration_type) return "enum";
  return tag == DW_TAG_class_type ? "class" : "struct";
}

bool is_pointer(const std::optional<Die>& die) {
  return die && (die->tag() == DW_TAG_pointer_type || die->tag() == DW_TAG_ptr_to_member_type);
}

std::string Texts::name_of_type(const Die& die) {
  std::string name = types_.full_name(die);
  bytes_ += name.size();
  return name;
}

std::string Texts::pointer(const Die& die, std::string_view sign, std::string name, size_t indent,
                           int depth) {
  std::optional<Die> to = type_of(die);
  name = std::string(sign) + name;
  if (to && (to->tag() == DW_TAG_array_type || to->tag() == DW_TAG_subroutine_type)) name = "(" + name + ")";
  return declare(to, std::move(name), indent, depth);
}

// `const` of a pointer stands behind its star, of anything else before the type.
std::string Texts::qualified(std::string_view word, const Die& die, std::string name, size_t indent,
                             int depth) {
  std::optional<Die> of = type_of(die);
  // An array is const where its elements are, and some compilers write down both.
  std::optional<Die> element = of && of->tag() == DW_TAG_array_type ? type_of(*of) : std::nullopt;
  if (element && element->tag() == die.tag()) return declare(of, std::move(name), indent, depth);
  if (is_pointer(of)) return declare(of, " " + join(std::string(word), name), indent, depth);
  return std::string(word) + " " + declare(of, std::move(name), indent, depth);
}

std::string Texts::array(const Die& die, std::string name, size_t indent, int depth) {
  size_t dimensions = 0;
  for_each_child(die, [&](const Die& child) {
    if (child.tag() != DW_TAG_subrange_type || dimensions++ > max_depth) return;
    uint64_t count = elements_of(child);
    name += count ? "[" + std::to_string(count) + "]" : "[]";
  });
  return declare(type_of(die), dimensions ? std::move(name) : name + "[]", indent, depth);
}

std::string Texts::parameters(const Die& function, size_t indent, int depth) {
  std::string out = "(";
  size_t count = 0;
  bool is_c_function = is_c(function.unit->language);
  for_each_child(function, [&](const Die& child) {
    bool is_rest = child.tag() == DW_TAG_unspecified_parameters;
    if ((!is_rest && child.tag() != DW_TAG_formal_parameter) || is_exhausted() || count++ > max_parameters)
      return;
    if (out.size() > 1) out += ", ";
    out += is_rest ? "..." : declare(type_of(child), {}, indent, depth);
  });
  return out + (count || !is_c_function ? ")" : "void)");
}

// A structure, union or enumeration: by its name, or whole where it has none.
std::string Texts::named(const Die& die, size_t indent, int depth) {
  std::string name = name_of_type(die);
  if (!name.empty() && !is_c(die.unit->language)) return name;
  std::string out(keyword_of(die.tag()));
  return out + " " + (name.empty() ? body(die, indent, depth) : name);
}

std::string Texts::member(const Die& die, size_t indent, int depth) {
  TypeEntry e = read_type_entry(die);
  if (e.is_declaration || e.is_external) return {};
  std::string out(indent, ' ');
  out += declare(type_of(die), std::string(name_of(die)), indent, depth);
  if (auto bits = unsigned_of(e.bit_size)) out += " : " + std::to_string(*bits);
  return out + ";\n";
}

std::string Texts::body(const Die& given, size_t indent, int depth) {
  Die die = types_.definition_of(given);
  std::string out = "{\n", margin(indent + indentation, ' ');
  if (die.tag() == DW_TAG_enumeration_type) {
    const type::Type* type = types_.type(die);
    if (type && type->is(type::Kind::enumeration))
      for (const type::Enumerator& e : type->enumerators()) {
        if (is_exhausted()) break;
        bytes_ += e.name.size() + 1;
        out += margin + std::string(e.name) + " = " + std::to_string(e.value) + ",\n";
      }
  } else {
    for_each_child(die, [&](const Die& child) {
      if (child.tag() == DW_TAG_member && !is_exhausted()) out += member(child, indent + indentation, depth);
    });
  }
  return out + std::string(indent, ' ') + "}";
}

std::string Texts::declare(std::optional<Die> die, std::string name, size_t indent, int depth) {
  bytes_ += name.size();
  steps_++;
  if (!die || depth++ > max_depth || is_exhausted()) return join("void", name);
  switch (die->tag()) {
  case DW_TAG_pointer_type: return pointer(*die, "*", std::move(name), indent, depth);
  case DW_TAG_reference_type: return pointer(*die, "&", std::move(name), indent, depth);
  case DW_TAG_rvalue_reference_type: return pointer(*die, "&&", std::move(name), indent, depth);
  case DW_TAG_ptr_to_member_type: {
    Attribute of = find_attribute(*die, DW_AT_containing_type);
    std::optional<Die> owner = of ? reference_of(*die->unit, of) : std::nullopt;
    return pointer(*die, (owner ? name_of_type(*owner) : std::string()) + "::*", std::move(name), indent,
                   depth);
  }
  case DW_TAG_array_type: return array(*die, std::move(name), indent, depth);
  case DW_TAG_subroutine_type:
    return declare(type_of(*die), name + parameters(*die, indent, depth), indent, depth);
  case DW_TAG_const_type: return qualified("const", *die, std::move(name), indent, depth);
  case DW_TAG_volatile_type: return qualified("volatile", *die, std::move(name), indent, depth);
  case DW_TAG_restrict_type: return qualified("restrict", *die, std::move(name), indent, depth);
  case DW_TAG_atomic_type: return qualified("_Atomic", *die, std::move(name), indent, depth);
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
  case DW_TAG_interface_type:
  case DW_TAG_union_type:
  case DW_TAG_enumeration_type: return join(named(skip_modifiers(die).value_or(*die), indent, depth), name);
  default: return join(name_of_type(*die), name);
  }
}

} // namespace

std::string type_text(Types& types, const Die* type, std::string name) {
  return Texts(types).declare(type ? std::optional(*type) : std::nullopt, std::move(name), 0);
}

std::string definition_text(Types& types, const Die& given) {
  std::optional<Die> die = skip_modifiers(given);
  if (!die) return {};
  bool has_body = is_structure(die->tag()) || die->tag() == DW_TAG_enumeration_type;
  if (!has_body) return type_text(types, &given) + ";";
  std::string name = types.full_name(*die);
  return std::string(keyword_of(die->tag())) + (name.empty() ? "" : " " + name) + " " +
         Texts(types).body(*die, 0, 0) + ";";
}

std::string function_text(Types& types, const Die& subprogram) {
  Function function = types.function(subprogram);
  std::string out = types.full_name(subprogram) + "(";
  auto text_at = [&](const Place& place, std::string name) {
    std::optional<Die> type = die_at(place);
    return type_text(types, type ? &*type : nullptr, std::move(name));
  };
  size_t count = 0;
  for (const Variable& v : function.parameters)
    if (!v.is_artificial) out += (count++ ? ", " : "") + text_at(v.type_place, std::string(v.name));
  if (function.is_variadic) out += count++ ? ", ..." : "...";
  if (!count && is_c(subprogram.unit->language)) out += "void";
  return text_at(function.result_place, out + ")");
}

} // namespace dwarf
