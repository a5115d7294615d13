// What is done when a file that user probes are in is replaced (probed_files.h): the script is compiled
// again, and where that gives the same programs they are attached to the new file too. Processes that run the
// old file stay probed. Where the programs differ (arguments lie elsewhere, functions are gone) it is told
// that processes which start from now on are not seen.
#pragma once

#include "session/backend.h"
#include "session/compile.h"
#include "session/output.h"
#include "watch/probed_files.h"

namespace session {

class FollowFiles {
public:
  // Everything outlives this; `options` are those that `compiled` was made with.
  FollowFiles(const Compiled& compiled, const base::Source& source, const CompileOptions& options,
              Backend& backend, Output& output, bool warnings);
  // Begins to watch; before anything is attached. A script without user probes watches nothing.
  void start();
  int wait_fd() const { return files_.wait_fd(); }
  uint64_t next_look() const { return files_.next_look(); }
  // Handles pending changes.
  void follow();
  // How often it happened, for the end: lines, or nothing.
  std::string describe() const;

private:
  void warn(const std::string& text);
  void replaced(const std::string& path);
  // The probes of the new compilation that are in the file, attached; failure: why the programs do not fit.
  base::Result<size_t> attach(const Compiled& fresh, const std::string& path);

  const Compiled& compiled_;
  const base::Source& source_;
  const CompileOptions& options_;
  Backend& backend_;
  Output& output_;
  bool warnings_;
  watch::ProbedFiles files_;
  size_t followed_ = 0, lost_ = 0; // files whose replacement is probed, and is not
};

} // namespace session
