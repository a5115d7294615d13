// A recording in a table: what is in it, by kind and by thread.
#pragma once

#include "profile/profile.h"
#include "recording/reader.h"

#include <string>

namespace recording {

struct ReportOptions {
  size_t top = 20; // threads
};

// Failure: a chunk is damaged.
base::Result<std::string> report_text(const Reader& reader, const Part& part, const ReportOptions& options = {});
base::Result<std::string> report_json(const Reader& reader, const Part& part, const ReportOptions& options = {});

// The CPU samples as a profile, for flame graphs and tables. Failure: there are none, or a chunk is damaged.
base::Result<profile::Profile> profile_of(const Reader& reader, const Part& part);

// The same of a file, which may be any that profile::read_profile() reads.
base::Result<profile::Profile> read_profile(const std::string& path);

} // namespace recording
