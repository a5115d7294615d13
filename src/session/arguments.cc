// The command line by getopt_long(3), whose tables are made from spec/options.h. The option string begins
// with
// `-`: words that are no options come back in their place, so that those after `--` can be distinguished.
#include "session/arguments.h"

#include "base/rounded.h"
#include "base/text.h"
#include "session/permission.h"
#include "spec/durations.h"

#include <algorithm>
#include <getopt.h>

namespace session {

using spec::Option;
using spec::OptionId;

namespace {

constexpr int first_long = 256; // getopt's values of long options: index of the row plus this

int kind_of(const Option& o) {
  return o.argument.empty() ? no_argument : o.optional ? optional_argument : required_argument;
}

// The two tables that getopt wants. Names in our table end with a NUL.
struct GetoptTables {
  std::string letters = "-:";
  std::vector<option> names;

  explicit GetoptTables(const spec::OptionTable& options) {
    for (size_t i = 0; i < options.size(); i++) {
      const Option o = options[i];
      if (o.letter) letters += o.letter;
      if (o.letter) letters.append(static_cast<size_t>(kind_of(o)), ':');
      if (!o.name.empty())
        names.push_back({o.name.data(), kind_of(o), nullptr, first_long + static_cast<int>(i)});
    }
    names.push_back({});
  }
};

base::Error unknown_option(const spec::Subcommand& subcommand, std::string_view written) {
  std::string message = "unknown option `" + std::string(written) + "`";
  if (written.starts_with("--")) {
    std::vector<std::string_view> names;
    for (const Option& o : subcommand.options) names.push_back(o.name);
    std::string_view near = base::nearest(written.substr(2, written.find('=') - 2), names);
    if (!near.empty()) return base::usage_error(message + "; did you mean `--" + std::string(near) + "`?");
  }
  if (subcommand.name == "run") message += "; options of the script go after `--`";
  return base::usage_error(message + " (see `acu help " + std::string(subcommand.name) + "`)");
}

std::string shown(const Option& o) {
  return o.name.empty() ? std::string("-") + o.letter : "--" + std::string(o.name);
}

base::Status check_word(const Option& o, std::string_view value) {
  if (o.allowed.empty()) return {};
  std::vector<std::string_view> words = base::split(o.allowed, '|');
  std::string_view wrong;
  bool fine = true;
  for (std::string_view word : o.several ? base::split(value, ',') : std::vector{value})
    if (std::find(words.begin(), words.end(), word) == words.end()) wrong = word, fine = false;
  if (fine) return {};
  std::string message =
      "`" + shown(o) + "` takes " + std::string(o.allowed) + ", not `" + std::string(wrong) + "`";
  std::string_view near = base::nearest(wrong, words);
  if (!near.empty()) message += "; did you mean `" + std::string(near) + "`?";
  return base::usage_error(message);
}

// The words after `--`.
void take_rest(Arguments& into, std::string_view word) {
  if (!word.starts_with("--") || word.size() == 2) {
    into.words.emplace_back(word);
    return;
  }
  word.remove_prefix(2);
  size_t equals = word.find('=');
  if (equals == word.npos)
    into.named.emplace_back(word, "true");
  else
    into.named.emplace_back(word.substr(0, equals), word.substr(equals + 1));
}

} // namespace

size_t Arguments::count(OptionId id) const {
  return static_cast<size_t>(
      std::count_if(options.begin(), options.end(), [&](auto& g) { return g.id == id; }));
}

const std::string* Arguments::value(OptionId id) const {
  for (size_t i = options.size(); i-- > 0;)
    if (options[i].id == id) return &options[i].value;
  return nullptr;
}

base::Result<Arguments> parse_arguments(const spec::Subcommand& subcommand, std::span<char* const> words) {
  GetoptTables tables(subcommand.options);
  std::vector<char*> argv = {const_cast<char*>("acu")};
  argv.insert(argv.end(), words.begin(), words.end());
  argv.push_back(nullptr);
  int argc = static_cast<int>(argv.size()) - 1;

  Arguments out;
  opterr = 0;
  optind = 0; // tests parse more than one command line in a process
  for (;;) {
    int before = optind ? optind : 1;
    int got = getopt_long(argc, argv.data(), tables.letters.c_str(), tables.names.data(), nullptr);
    if (got == -1) break;
    if (got == 1) {
      out.words.emplace_back(optarg);
      continue;
    }
    std::optional<Option> row;
    for (size_t i = 0; i < subcommand.options.size(); i++)
      if (const Option o = subcommand.options[i]; got == first_long + static_cast<int>(i) || got == o.letter)
        row = o;
    std::string_view written = argv[static_cast<size_t>(std::min(before, argc - 1))];
    if (got == ':') return base::usage_error("`" + std::string(written) + "` needs an argument");
    if (!row && optopt >= first_long) return base::usage_error("`" + std::string(written) + "` takes no argument");
    if (!row && written.starts_with("--")) return unknown_option(subcommand, written);
    if (!row) return unknown_option(subcommand, std::string("-") + static_cast<char>(optopt));
    std::string value = optarg ? optarg : "";
    if (!row->argument.empty() && !(row->optional && !optarg)) ACU_CHECK(check_word(*row, value));
    out.options.push_back({row->id, std::move(value), *row});
  }
  out.words_before = out.words.size();
  for (int i = optind; i < argc; i++) {
    out.behind.emplace_back(argv[static_cast<size_t>(i)]);
    take_rest(out, out.behind.back());
  }
  ACU_CHECK(check_permission(subcommand, out));
  return out;
}

std::string help_text(const spec::Subcommand& subcommand) {
  std::string out = "usage: acu " + std::string(subcommand.name) + " " + std::string(subcommand.usage) +
                    "\n" + std::string(subcommand.doc) + "\n\noptions:\n";
  constexpr size_t doc_column = 30;
  for (const Option& o : subcommand.options) {
    std::string left = o.letter ? std::string("  -") + o.letter : "    ";
    if (!o.name.empty()) left += (o.letter ? ", --" : "  --") + std::string(o.name);
    if (!o.argument.empty())
      left += (o.optional ? "[=" : " ") + std::string(o.argument) + (o.optional ? "]" : "");
    if (left.size() + 1 >= doc_column)
      left += "\n" + std::string(doc_column, ' ');
    else
      left.resize(doc_column, ' ');
    out += left + std::string(o.doc) + "\n";
  }
  std::vector<std::string_view> examples = base::split(subcommand.example, '\n');
  if (examples.size() == 1) return out + "\nexample: " + std::string(subcommand.example) + "\n";
  out += "\nexamples:\n";
  for (std::string_view example : examples) out.append("  ").append(example).append("\n");
  return out;
}

static base::Error bad_value(std::string_view option, std::string_view wanted, std::string_view text) {
  return base::usage_error("`" + std::string(option) + "` takes " + std::string(wanted) + ", not `" + std::string(text) + "`");
}

base::Result<uint64_t> read_count(std::string_view option, const std::string& text, uint64_t max) {
  const auto number = base::parse_integer(text);
  if (number && *number > 0 && *number <= max) return *number;
  return bad_value(option, max == UINT32_MAX ? "a number above 0" : "a number from 1 to " + std::to_string(max), text);
}

base::Result<int> read_pid(std::string_view option, const std::string& text) {
  const auto pid = base::parse_integer(text);
  if (!pid || *pid == 0 || *pid > INT_MAX) return bad_value(option, "a process ID", text);
  return static_cast<int>(*pid);
}

base::Result<double> read_percent(std::string_view option, const std::string& text) {
  char* end = nullptr;
  const double percent = std::strtod(text.c_str(), &end);
  constexpr double max = 10'000; // a hundred CPUs
  const bool is_plain = !text.empty() && text.find_first_not_of("0123456789.") == text.npos;
  if (!is_plain || *end || percent > max) return bad_value(option, "a percentage of a CPU, such as 5 or 0.5", text);
  return percent;
}

base::Result<uint64_t> read_time(std::string_view option, const std::string& text, uint64_t min) {
  size_t digits = 0;
  while (digits < text.size() && (text[digits] == '.' || (text[digits] >= '0' && text[digits] <= '9'))) digits++;
  const spec::DurationUnit* unit = spec::find_duration_unit(digits == text.size() ? "s" : std::string_view(text).substr(digits));
  const std::string number = text.substr(0, digits);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  const double ns = unit ? value * static_cast<double>(unit->nanoseconds) : 0;
  if (!digits || !unit || *end || ns < static_cast<double>(min) || ns > 1e9 * 86400 * 366)
    return bad_value(option, "a time such as 10s, 500ms or 2m", text);
  return static_cast<uint64_t>(base::rounded(ns));
}

} // namespace session
