#include "tool/snapshot_arguments.h"

#include "tool/standard_output.h"

namespace tool {

using spec::OptionId;

target::Search search_of(const session::Arguments& arguments) {
  target::Search out;
  for (const session::Given& g : arguments.options) {
    if (g.id == OptionId::debuginfo) out.folders.push_back(g.value);
    if (g.id == OptionId::sysroot) out.sysroot = g.value;
    if (g.id == OptionId::debuginfod) out.download = true;
  }
  return out;
}

base::Status open_output(const session::Arguments& arguments) {
  const std::string* file = arguments.value(OptionId::output);
  return file ? say_to(*file) : base::Status();
}

} // namespace tool
