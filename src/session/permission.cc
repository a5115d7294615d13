#include "session/permission.h"

#include "base/text.h"
#include "policy/enforce.h"

#include <algorithm>

namespace session {

namespace {

using spec::OptionId;

// Options whose values are code, or lead to code; of --traceable-functions any file is listed line by line.
constexpr OptionId code_options[] = {OptionId::execute, OptionId::filter, OptionId::weight, OptionId::when, OptionId::clause, OptionId::script_file, OptionId::rules, OptionId::traceable_functions};
constexpr OptionId action_options[] = {OptionId::unsafe, OptionId::destructive, OptionId::preprocess}; // cpp runs and reads files with the rights of acu

std::string named(const Given& given) {
  const spec::Option& o = given.option;
  return "`" + (o.name.empty() ? std::string("-") + o.letter : "--" + std::string(o.name)) + "`";
}

// Probes may have conditions and actions; names do not have these characters, but for signatures of C++.
bool is_code(std::string_view word) { return word.find_first_of("{}()=<>;\"' \t\n") != word.npos; }

std::vector<int> numbers(const Arguments& arguments, OptionId id) {
  std::vector<int> out;
  for (const Given& given : arguments.options) {
    if (given.id != id) continue;
    for (std::string_view word : base::split(given.value, ','))
      if (const auto number = base::parse_integer(base::trim(word)); number && *number <= INT32_MAX) out.push_back(static_cast<int>(*number));
  }
  return out;
}

} // namespace

base::Status check_permission(const spec::Subcommand& subcommand, const Arguments& arguments) {
  policy::Asked asked;
  asked.command = subcommand.name;
  asked.processes = numbers(arguments, OptionId::pid);
  asked.threads = numbers(arguments, OptionId::thread);
  asked.user = arguments.text(OptionId::user);
  asked.group = arguments.text(OptionId::cgroup);
  asked.container = arguments.text(OptionId::container);
  const bool takes_command = subcommand.usage.find("-- CMD") != std::string_view::npos;
  asked.starts_command = (arguments.has(OptionId::command) || (takes_command && !arguments.behind.empty())) && !arguments.has(OptionId::all);
  asked.has_words = takes_command ? arguments.words_before > 0 : !arguments.words.empty();
  asked.is_help = arguments.has(OptionId::help) && arguments.words.empty() && arguments.options.size() == 1;
  for (const Given& given : arguments.options) {
    if (asked.code.empty() && std::ranges::find(code_options, given.id) != std::end(code_options)) asked.code = named(given);
    if (asked.code.empty() && given.id == OptionId::event && is_code(given.value)) asked.code = "a probe with a condition";
    if (asked.action.empty() && std::ranges::find(action_options, given.id) != std::end(action_options)) asked.action = named(given);
  }
  const auto before = arguments.words.begin() + static_cast<std::ptrdiff_t>(arguments.words_before);
  asked.has_code_words = std::any_of(arguments.words.begin(), before, is_code);
  return policy::enforce(asked);
}

} // namespace session
