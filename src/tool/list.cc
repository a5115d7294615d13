// `acu list`: what can be probed.
#include "session/arguments.h"
#include "session/listing.h"
#include "tool/tool.h"

namespace tool {

int list(const session::Arguments& arguments) {
  session::ListRequest request = {.patterns = arguments.words, .arguments = arguments.has(spec::OptionId::verbose)};
  if (const std::string* text = arguments.value(spec::OptionId::pid)) {
    auto given = session::read_pid("-p", *text);
    if (!given.ok()) return refuse(given.error().message);
    request.pid = *given;
  }
  if (const std::string* container = arguments.value(spec::OptionId::container)) request.container = *container;
  if (const std::string* path = arguments.value(spec::OptionId::traceable_functions)) request.traceable_functions = *path;
  for (const session::Given& g : arguments.options)
    if (g.id == spec::OptionId::debuginfo) request.debug_folders.push_back(g.value);
  const std::string* file = arguments.value(spec::OptionId::for_host);
  if (!file) return session::list_probes(request);
  if (request.pid >= 0 || !request.container.empty())
    return refuse(std::string("`--for` and `") + (request.pid >= 0 ? "-p" : "--container") + "` exclude each other: processes are those of this host");
  auto host = host::open_saved(*file);
  return host.ok() ? session::list_probes(request, **host) : fail(host.error());
}

} // namespace tool
