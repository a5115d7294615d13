// `acu list`: what can be probed.
#include "session/arguments.h"
#include "session/listing.h"
#include "tool/tool.h"

namespace tool {

int list(Words words) {
  const spec::Subcommand& self = *spec::find_subcommand("list");
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(spec::OptionId::help)) return say(session::help_text(self)), 0;
  return session::list_probes(arguments->words, arguments->has(spec::OptionId::verbose));
}

} // namespace tool
