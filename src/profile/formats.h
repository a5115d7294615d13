// The files a profile is written to and read from, one row each. A file's name chooses how it is written, its
// first bytes how it is read.
#pragma once

#include "base/reader.h"
#include "base/result.h"
#include "profile/profile.h"

#include <span>
#include <string>
#include <string_view>

namespace profile {

struct Format {
  std::string_view name;
  std::string_view endings; // of names of files, separated by '|'
  std::string_view doc;
  std::string (*write)(const Profile& profile);
  // `is_this` looks at the first bytes. Both are nullptr where the format is only written.
  bool (*is_this)(std::string_view bytes);
  base::Result<Profile> (*read)(std::string_view bytes);
  bool has_slices = false; // of time are kept
  bool has_links = false; // to requests (Profile::links) are recorded for it; pages and images have those of the recording in them
  bool has_interpreters = false; // frames of interpreters are kept, so that they can be shown or hidden
};

std::span<const Format> formats();
// By a file's name, or by the name of the format. Failure: which there are.
base::Result<const Format*> format_of_file(std::string_view path);
// The same before there is anything to write. Failure: also why the file cannot be written.
base::Result<const Format*> format_of_output(const std::string& path);
base::Result<const Format*> format_of_name(std::string_view name);

// Failure: none of the formats, or damaged.
base::Result<Profile> read_profile(const std::string& path);

// One file each.
std::string write_recording(const Profile& profile); // recording.cc: acu's own
bool is_recording(std::string_view bytes);
base::Result<Profile> read_recording(std::string_view bytes);
std::string write_folded(const Profile& profile); // folded.cc
bool is_folded(std::string_view bytes);
base::Result<Profile> read_folded(std::string_view bytes);
std::string write_pprof(const Profile& profile); // pprof.cc
bool is_pprof(std::string_view bytes);
base::Result<Profile> read_pprof(std::string_view bytes);
std::string write_perf_script(const Profile& profile); // perf_script.cc
bool is_perf_script(std::string_view bytes);
base::Result<Profile> read_perf_script(std::string_view bytes);
std::string write_speedscope(const Profile& profile); // speedscope.cc
bool is_speedscope(std::string_view bytes);
base::Result<Profile> read_speedscope(std::string_view bytes);
std::string write_otlp(const Profile& profile); // otlp.cc
std::string write_svg(const Profile& profile);  // svg.cc
std::string write_page(const Profile& profile); // page.cc
std::string write_page_file(const Profile& profile); // embedded.cc: with the recording in it
std::string write_picture_file(const Profile& profile);
bool is_page(std::string_view bytes);
bool is_picture(std::string_view bytes);
base::Result<Profile> read_embedded(std::string_view bytes);
// The same with colors by change; `changes` by Profile::samples.
std::string write_page(const Profile& profile, std::span<const int64_t> changes);

} // namespace profile
