// What is done when a file that user probes are in is replaced (probed_files.h): the script is compiled
// again, and where that gives the same programs they are attached to the new file too. Processes that run the
// old file stay probed. Where the programs differ (arguments lie elsewhere, functions are gone) it is told
// that processes which start from now on are not seen.
#pragma once

#include "session/backend.h"
#include "session/compile.h"
#include "session/output.h"
#include "watch/probed_files.h"

#include <functional>
#include <set>

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
  // Containers came: those of a name that probes have a file in, or of the one whose files are meant. Their files are probed, unless
  // they are of the same image, whose files are probed already.
  void follow_containers();
  // Names of containers, as probes and options have them, in whose files there are probes.
  std::vector<std::string> containers() const;
  // How often it happened, for the end: lines, or nothing.
  std::string describe() const;

private:
  void warn(const std::string& text);
  void replaced(const std::string& path);
  // The probes of the new compilation that are in these files, attached; failure: why the programs do not fit.
  using WantsFile = std::function<bool(const std::string& path)>;
  base::Result<size_t> attach(const Compiled& fresh, const WantsFile& wants);
  bool is_in_container(const probe::Event& event) const;

  const Compiled& compiled_;
  const base::Source& source_;
  const CompileOptions& options_;
  Backend& backend_;
  Output& output_;
  bool warnings_;
  watch::ProbedFiles files_;
  std::set<base::FileId> probed_; // in containers
  size_t followed_ = 0, lost_ = 0; // files whose replacement is probed, and is not
};

} // namespace session
