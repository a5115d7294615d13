// `acu bpftrace`, and a link to acu of that name: its command line into session::Options. What is printed to standard
// output and the exit status are those of bpftrace; messages are acu's own.
#include "budget/run.h"
#include "tool/tool.h"

namespace tool {

// The language and the options are those of this version.
static constexpr std::string_view language_version = "v0.26.1";

static constexpr int failed = 1; // the only status for failures, apart from exit(n)

static int refuse_as_bpftrace(std::string_view message) { return refuse(message), failed; }

static std::optional<spec::Option> find_refused(const session::Arguments& arguments) {
  for (const session::Given& g : arguments.options)
    if (g.id == spec::OptionId::foreign) return g.option;
  return {};
}

int bpftrace(Words words) {
  auto arguments = session::parse_arguments(*spec::find_subcommand("bpftrace"), words);
  if (!arguments.ok()) return refuse_as_bpftrace(arguments.error().message);
  if (arguments->has(spec::OptionId::version)) return say("bpftrace " + std::string(language_version) + "\n"), 0;
  if (arguments->has(spec::OptionId::info)) return info({});
  if (const auto option = find_refused(*arguments))
    return refuse_as_bpftrace("--" + std::string(option->name) + " is not supported: " +
                              std::string(option->doc.substr(option->doc.find(' ') + 1)));
  auto options = session::read_options(*arguments);
  if (!options.ok()) return refuse_as_bpftrace(options.error().message);
  options->as_bpftrace = true;
  return budget::run(*options);
}

} // namespace tool
