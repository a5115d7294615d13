// Builtins that are decided when the script is compiled: parameters, assertions, what is known of the machine.
#include "lang/checker.h"

#include "base/text.h"
#include "host/environment.h"
#include "type/format_string.h"

#include <algorithm>
#include <sys/stat.h>

namespace lang {

using type::Kind;
using namespace spec;

const type::Type* Checker::check_getopt(Call& e) {
  std::string_view name = e.arguments[0]->constant.text_value;
  const std::string* given = nullptr;
  for (auto& [key, value] : options_.named)
    if (key == name) given = &value;
  const Expr* fallback = e.arguments.size() > 1 ? e.arguments[1] : nullptr;
  if (tells()) {
    std::string shown = !fallback ? "false"
                        : fallback->constant.kind == Constant::text
                            ? std::string(fallback->constant.text_value)
                            : std::to_string(fallback->constant.integer_value);
    std::string help = e.arguments.size() > 2 ? std::string(e.arguments[2]->constant.text_value) : "";
    bool known = std::any_of(parameters_.begin(), parameters_.end(), [&](auto& p) { return p.name == name; });
    if (!known) parameters_.push_back({std::string(name), shown, help});
  }
  auto wrong = [&](std::string_view wanted) {
    return mistake(tag::bad_parameter, e.where,
                   "--" + std::string(name) + "=" + *given + ": this parameter takes " + std::string(wanted));
  };
  if (!fallback || fallback->type->is(Kind::boolean)) {
    bool value = fallback && fallback->constant.integer_value;
    if (given) {
      const std::optional<bool> flag = given->empty() ? true : base::parse_boolean(*given);
      if (!flag) return wrong("true or false");
      value = *flag;
    }
    set_integer(e, value);
    return types_.boolean();
  }
  if (fallback->constant.kind == Constant::text) {
    std::string_view value = given ? types_.keep(*given) : fallback->constant.text_value;
    set_text(e, value);
    return types_.string(static_cast<uint32_t>(value.size()) + 1);
  }
  if (fallback->constant.kind != Constant::integer)
    return mistake(tag::bad_argument, fallback->where, "the default of a parameter must be a literal");
  int64_t value = fallback->constant.integer_value;
  if (given) {
    bool negative = given->starts_with("-");
    auto number = base::parse_integer(std::string_view(*given).substr(negative));
    if (!number) return wrong("a number");
    value = static_cast<int64_t>(negative ? 0 - *number : *number);
  }
  set_integer(e, value);
  e.adapts = true;
  return types_.int64();
}

void Checker::check_static_assert(Call& e) {
  const Constant& c = e.arguments[0]->constant;
  if (c.kind != Constant::integer)
    error(tag::bad_argument, e.arguments[0]->where,
          "static_assert needs a condition that is known when the script is compiled");
  else if (!c.integer_value)
    error(tag::user_failure, e.where, std::string(e.arguments[1]->constant.text_value));
}

// fail(format, …)
void Checker::check_fail(Call& e) {
  std::string problem, message;
  size_t next = 1;
  for (const type::Conversion& c : type::parse_format(e.arguments[0]->constant.text_value, problem)) {
    message += c.text;
    if (!c.conversion || next >= e.arguments.size()) continue;
    const Constant& value = e.arguments[next++]->constant;
    message +=
        value.kind == Constant::text ? std::string(value.text_value) : std::to_string(value.integer_value);
  }
  error(tag::user_failure, e.where, message);
}

const type::Type* Checker::check_cgroup_id(Call& e) {
  struct stat st = {};
  std::string path(e.arguments[0]->constant.text_value);
  if (!machine_.host().is_this_host())
    return mistake(tag::unresolved, e.arguments[0]->where, "the ids of control groups are not known of a saved host",
                   "give the number: a parameter of the script can hold it");
  if (::stat(path.c_str(), &st) != 0)
    return mistake(tag::unresolved, e.arguments[0]->where, "there is no cgroup at " + path);
  set_integer(e, static_cast<int64_t>(st.st_ino));
  return nullptr;
}

} // namespace lang
