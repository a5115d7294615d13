// `acu list`: what can be probed.
#include "session/arguments.h"
#include "session/listing.h"
#include "tool/tool.h"

#include "base/text.h"


namespace tool {

int list(Words words) {
  const spec::Subcommand& self = *spec::find_subcommand("list");
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(spec::OptionId::help)) return say(session::help_text(self)), 0;
  int pid = -1;
  if (const std::string* text = arguments->value(spec::OptionId::pid)) {
    auto given = session::read_pid("-p", *text);
    if (!given.ok()) return refuse(given.error().message);
    pid = *given;
  }
  const bool shows_arguments = arguments->has(spec::OptionId::verbose);
  const std::string* file = arguments->value(spec::OptionId::for_host);
  if (!file) return session::list_probes(arguments->words, shows_arguments, pid);
  if (pid >= 0) return refuse("`--for` and `-p` exclude each other: processes are those of this host");
  auto host = host::open_saved(*file);
  return host.ok() ? session::list_probes(arguments->words, shows_arguments, pid, **host) : fail(host.error());
}

} // namespace tool
