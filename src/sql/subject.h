// A file that is queried instead of the host: a recording or a core dump.
#pragma once

#include "probe/stopped_program.h"
#include "profile/profile.h"
#include "sql/table.h"
#include "target/stacks.h"
#include "target/target.h"

#include <memory>
#include <optional>
#include <string>

namespace sql {

struct Subject {
  std::optional<profile::Profile> recording;
  // Of a core dump.
  std::unique_ptr<target::Target> core;
  std::unique_ptr<target::Stacks> stacks;
  std::unique_ptr<probe::StoppedProgram> stopped;

  Of of() const { return recording ? Of::recording : Of::core; }
};

// Failure: the file is neither, or damaged.
base::Result<std::unique_ptr<Subject>> open_subject(const std::string& path);

} // namespace sql
