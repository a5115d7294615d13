#include "lang/c_macro.h"

#include "probe/probe.h"
#include "spec/c_macros.h"

#include <algorithm>

namespace lang {

namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\\'; }

std::string squeezed(std::string_view text) {
  std::string out;
  for (char c : text)
    if (!is_blank(c))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

} // namespace

CMacro* CMacroTable::find(std::string_view name) {
  if (!macros_.empty())
    if (auto it = macros_.find(name); it != macros_.end()) return it->second;
  // All that is defined from the start begins so: other names are not looked for.
  if (!name.starts_with('_') && !name.starts_with("BPF")) return nullptr;
  return predefined(name);
}

CMacro* CMacroTable::predefined(std::string_view name) {
  const auto row = spec::find_c_macro(name);
  if (!row) return nullptr;
  if (row->name == spec::have_btf_macro && !probe::has_kernel_types(host_)) return nullptr;
  CMacro m;
  m.name = row->name;
  m.text = row->body;
  m.is_foreign = true;
  if (name == "__LINE__") m.special = CMacro::line;
  if (name == "__FILE__") m.special = CMacro::file;
  if (name == "__COUNTER__") m.special = CMacro::counter;
  m.is_operator = name.starts_with("__has_include");
  return define(m);
}

CMacro* CMacroTable::define(const CMacro& macro) {
  CMacro* made = arena_.make<CMacro>(macro);
  made->is_empty = squeezed(made->text).empty();
  macros_[made->name] = made;
  return made;
}

void CMacroTable::undefine(std::string_view name) { macros_[name] = nullptr; }

bool is_same(const CMacro& a, const CMacro& b) {
  return a.is_function == b.is_function && a.is_variadic == b.is_variadic &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end()) &&
         squeezed(a.text) == squeezed(b.text);
}

} // namespace lang
