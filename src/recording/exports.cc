#include "recording/exports.h"

#include "base/text.h"

#include <array>

namespace recording {

namespace {

constexpr std::array<Export, 3> table = {{
    {.name = "perfetto", .endings = ".perfetto|.pftrace|.perfetto-trace", .doc = "a trace of Perfetto, for ui.perfetto.dev", .write = write_perfetto},
    {.name = "chrome", .endings = ".json", .doc = "Chrome trace events (JSON), for chrome://tracing and Perfetto", .write = write_chrome},
    {.name = "ctf", .endings = ".ctf|.ctf/", .doc = "Common Trace Format 1.8, a folder, for babeltrace2 and Trace Compass", .write = write_ctf},
}};

} // namespace

std::span<const Export> exports() { return table; }

const Export* export_of_file(std::string_view path) {
  for (const Export& e : table)
    for (std::string_view ending : base::split(e.endings, '|'))
      if (path.ends_with(ending)) return &e;
  return nullptr;
}

} // namespace recording
