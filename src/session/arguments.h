// A command line, taken apart by the table of options (spec/options.h): which options were given, and what
// else was. Nothing is interpreted here; session/options.h does that for `acu run`.
#pragma once

#include "base/result.h"
#include "spec/options.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace session {

struct Given {
  spec::OptionId id;
  std::string value;
  spec::Option option; // its row
};

struct Arguments {
  std::vector<Given> options;                             // in their order
  std::vector<std::string> words;                         // what is no option, before and after `--`
  size_t words_before = 0;                                // how many of them stand before it
  std::vector<std::string> behind;                        // all that stands behind it, as it is: a command
  std::vector<std::pair<std::string, std::string>> named; // `--name=value` after `--`; "true" without a value

  bool has(spec::OptionId id) const { return count(id) != 0; }
  size_t count(spec::OptionId id) const;
  // The last value given, or nullptr.
  const std::string* value(spec::OptionId id) const;
  // The same, or nothing.
  std::string_view text(spec::OptionId id) const {
    const std::string* given = value(id);
    return given ? std::string_view(*given) : std::string_view();
  }
};

// `words`: the command line after the subcommand. Mistakes (Failure::usage) name the nearest option or word.
// Options and other words may be mixed; everything after `--` is for the script. Failure (permission): the policy of the host does
// not permit the command to this user (session/permission.h).
base::Result<Arguments> parse_arguments(const spec::Subcommand& subcommand, std::span<char* const> words);

// The values of options, read alike in all commands. `option` is its name in messages (Failure::usage).
// A time in ns: "10s", "1.5s", "500ms"; seconds without a unit; from `min` to a year.
base::Result<uint64_t> read_time(std::string_view option, const std::string& text, uint64_t min = 1'000'000);
// A number from 1 to `max`.
base::Result<uint64_t> read_count(std::string_view option, const std::string& text, uint64_t max = UINT32_MAX);
base::Result<int> read_pid(std::string_view option, const std::string& text);
// Percent of a CPU: "30", "1.5", up to 10000.
base::Result<double> read_percent(std::string_view option, const std::string& text);

// Usage and options of a subcommand, for a person.
std::string help_text(const spec::Subcommand& subcommand);

} // namespace session
