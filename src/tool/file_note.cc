#include "tool/file_note.h"

#include "base/counted.h"
#include "base/text.h"
#include "base/unopened_files.h"
#include "tool/tool.h"

#include <cstring>

namespace tool {

void note_unopened_files() {
  const base::UnopenedFiles files = base::unopened_files();
  if (!files.count) return;
  complain("note: " + base::counted(files.count, "file") + " could not be opened or mapped, so that lines, arguments or names may be missing (" +
           (files.first.empty() ? "" : base::printable(files.first) + ": ") + std::strerror(files.error) + ")\n");
}

} // namespace tool
