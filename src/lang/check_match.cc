// match(text, "pattern").
#include "lang/checker.h"

#include "lang/regex.h"

namespace lang {

using namespace spec;

// A mistake in the pattern is shown where it is, if the literal has no escapes before it; else the whole literal is.
const type::Type* Checker::check_match(Call& e) {
  const Expr& pattern = *e.arguments[1];
  const std::string_view text = pattern.constant.text_value;
  RegexMistake mistake;
  if (compile_regex(text, mistake)) return nullptr;
  Range where = pattern.where;
  const bool is_as_written = pattern.kind == ExprKind::string && where.end - where.begin == text.size() + 2;
  if (is_as_written && mistake.end > mistake.begin)
    where = {where.begin + 1 + static_cast<uint32_t>(mistake.begin), where.begin + 1 + static_cast<uint32_t>(mistake.end)};
  return this->mistake(tag::bad_pattern, where, "match: " + mistake.message, mistake.hint);
}

} // namespace lang
