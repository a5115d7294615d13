// Types as objects of Python that print values, and members of structures.
#include "emit/debugger.h"

#include "dwarf/types.h"
#include "probe/stopped_program.h"

#include <algorithm>

namespace emit {

using type::Kind;

bool DebuggerScript::is_of_program(const Type& t) const {
  if (!t.is(Kind::structure) || t.name.empty() || !t.provider || !job_.machine.stopped) return false;
  return std::ranges::any_of(job_.machine.stopped->binaries(), [&](symbol::Binary* b) { return b->types(job_.machine.types()) == t.provider; });
}

std::string DebuggerScript::name_of_type(const Type& t) const {
  std::string_view name = t.name;
  for (std::string_view word : {"struct ", "union ", "class "})
    if (name.starts_with(word)) name.remove_prefix(word.size());
  return std::string(name);
}

// lldb 14 takes the names in a template's arguments for its own.
bool DebuggerScript::is_found_by_name(const Type& t) {
  if (debugger_ != "lldb" || t.name.find('<') == t.name.npos) return true;
  refuse(where_, "a member of " + type::to_string(t), "lldb does not find templates by their names", "--to gdb");
  return false;
}

// What the sizes in the result rely on.
void DebuggerScript::expect(const Type& t) {
  if (!t.has_size || !is_of_program(t) || !is_found_by_name(t)) return;
  const std::string name = name_of_type(t);
  if (expected_.insert(name).second) declarations_.push_back("expect_size(" + python_string(name) + ", " + std::to_string(t.size) + ")");
}

std::string DebuggerScript::field_object(const Type& of, std::string_view path, const type::Field& field) {
  const Type& t = *field.type;
  const uint32_t size = t.is(Kind::pointer) ? 8 : t.is(Kind::array) || t.is(Kind::structure) || t.is(Kind::string) ? 0 : std::max(1u, t.size);
  const bool is_signed = t.is_signed && t.is_integer();
  if (is_of_program(of) && !is_found_by_name(of)) return "None";
  std::string made;
  std::string more = size ? ", " + std::to_string(size) + (is_signed ? ", True" : "") : "";
  if (is_of_program(of)) {
    made = "Field(" + python_string(name_of_type(of)) + ", " + python_string(path) + more + ")";
  } else {
    made = "OwnField(" + std::to_string(field.offset) + more;
    if (field.bit_size) made += (is_signed ? ", (" : ", False, (") + std::to_string(field.bit_offset) + ", " + std::to_string(field.bit_size) + ")";
    made += ")";
  }
  auto [known, is_new] = declared_.try_emplace(made + "/" + std::string(path));
  if (is_new) {
    std::string wish = (t.name.empty() && of.name.empty() ? std::string() : name_of_type(of) + "_") + std::string(path);
    known->second = names_.fresh(wish);
    declarations_.push_back(known->second + " = " + made);
  }
  return known->second;
}

static std::string number_type(const type::Type& t) { return (t.is_signed ? "I" : "U") + std::to_string(8 * t.size); }

std::string DebuggerScript::type_text(const Type& t) {
  auto declare = [&](std::string_view wish, const std::string& made) {
    auto [known, is_new] = declared_.try_emplace(made);
    if (is_new) {
      known->second = names_.fresh(wish);
      declarations_.push_back(known->second + " = " + made);
    }
    return known->second;
  };
  switch (t.kind) {
  case Kind::boolean: return "BOOLEAN";
  case Kind::integer: return number_type(t);
  case Kind::floating: return "Floating(" + std::to_string(t.size) + ")";
  case Kind::pointer: return "POINTER";
  case Kind::string: return "TEXT";
  case Kind::probe_name: return "TEXT";
  case Kind::buffer: return "BUFFER";
  case Kind::usym: uses_symbols_ = true; return "SYMBOL";
  case Kind::ustack:
    uses_symbols_ = true;
    return t.stack_mode == type::StackMode::raw ? "StackType(\"raw\")" : "StackType()";
  case Kind::enumeration: {
    std::string made = "Enumeration(" + std::to_string(t.size) + ", " + (t.is_signed ? "True" : "False") + ", {";
    for (const type::Enumerator& e : t.enumerators())
      made += (made.ends_with('{') ? "" : ", ") + std::to_string(e.value) + ": " + python_string(e.name);
    return declare(t.name.empty() ? "enumeration" : name_of_type(t), made + "})");
  }
  case Kind::array:
    if (t.element->is_char) return "Text(" + std::to_string(t.size) + ")";
    return "Array(" + type_text(*t.element) + ", " + std::to_string(t.count) + ")";
  case Kind::tuple: {
    std::string names, elements;
    for (const type::Field& f : t.fields()) {
      names += (names.empty() ? "" : ", ") + python_string(f.name);
      elements += (elements.empty() ? "" : ", ") + type_text(*f.type);
    }
    return t.is_named ? "Record((" + names + (t.fields().size() == 1 ? ",), " : "), ") + elements + ")" : "Tuple(" + elements + ")";
  }
  case Kind::structure: {
    if (t.name.find("::") != t.name.npos)
      return refuse(where_, "the contents of " + type::to_string(t), "such types are shown by their contents in acu only", "print its members");
    expect(t);
    std::string made = "Structure(" + std::to_string(t.size);
    for (const type::Field& f : t.fields()) {
      std::string member = type_text(*f.type);
      if (f.type->is(Kind::string)) member = "Text(" + std::to_string(f.type->size) + ")";
      made += ",\n    (" + python_string(f.name) + ", " + member + ", " + std::to_string(f.offset + (f.bit_size ? f.bit_offset / 8 : 0));
      if (f.bit_size) made += ", " + std::to_string(f.bit_offset % 8) + ", " + std::to_string(f.bit_size);
      made += ")";
    }
    return declare(t.name.empty() ? "structure" : name_of_type(t), made + ")");
  }
  default: return refuse(where_, "a value of type " + type::to_string(t), "there are none of this kind");
  }
}

std::string DebuggerScript::map_type_text(const Type& t) {
  const std::string sign = t.is_signed ? "True" : "";
  switch (t.kind) {
  case Kind::count: return "Count(" + sign + ")";
  case Kind::sum: return "Sum(" + sign + ")";
  case Kind::min: return "Min(" + sign + ")";
  case Kind::max: return "Max(" + sign + ")";
  case Kind::avg: return "Average(" + sign + ")";
  case Kind::stats: return "Stats(" + sign + ")";
  case Kind::hist: return "Histogram(" + (t.step ? std::to_string(t.step) : "") + ")";
  case Kind::lhist: return "Linear(" + std::to_string(t.low) + ", " + std::to_string(t.high) + ", " + std::to_string(t.step) + ")";
  case Kind::integer: return t.is_signed ? "I64" : "U64";
  default: return type_text(t);
  }
}

std::string DebuggerScript::zero_of(const Type& t) {
  if (t.is(Kind::string) || t.is(Kind::buffer)) return "b\"\"";
  if (t.is(Kind::tuple) || t.is(Kind::structure) || t.is(Kind::array)) return type_text(t) + ".zero";
  return t.is(Kind::ustack) ? "()" : "0";
}

} // namespace emit
