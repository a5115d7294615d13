// The table of formats, and files that are written whole or not at all.
#include "profile/formats.h"

#include "base/fd.h"
#include "base/file_map.h"
#include "base/text.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>

namespace profile {

namespace {

constexpr std::array<Format, 7> table = {{
    {"html", ".html|.htm", "a page with everything in it", write_page, nullptr, nullptr, true},
    {"svg", ".svg", "a picture", write_svg, nullptr, nullptr},
    {"acu", ".acu", "acu's own, small", write_recording, is_recording, read_recording, true},
    {"pprof", ".pb.gz|.pb|.pprof", "for go tool pprof", write_pprof, is_pprof, read_pprof},
    {"speedscope", ".json", "for speedscope", write_speedscope, nullptr, nullptr},
    {"perf", ".perf|.script", "text as perf script writes it", write_perf_script, is_perf_script,
     read_perf_script},
    {"folded", ".folded|.txt|.collapsed", "a line for each stack", write_folded, is_folded, read_folded},
}};

std::string endings_of_all() {
  std::string out;
  for (const Format& f : table)
    for (std::string_view ending : base::split(f.endings, '|'))
      out.append(out.empty() ? "" : ", ").append(ending);
  return out;
}

} // namespace

std::span<const Format> formats() { return table; }

base::Result<const Format*> format_of_file(std::string_view path) {
  for (const Format& f : table)
    for (std::string_view ending : base::split(f.endings, '|'))
      if (path.ends_with(ending)) return &f;
  return base::Error{base::Failure::usage,
                     "`" + std::string(path) +
                         "`: the end of the name chooses the format: " + endings_of_all()};
}

base::Result<const Format*> format_of_name(std::string_view name) {
  std::string all;
  std::vector<std::string_view> names;
  for (const Format& f : table) {
    if (f.name == name) return &f;
    names.push_back(f.name);
    all.append(all.empty() ? "" : ", ").append(f.name);
  }
  std::string_view near = base::nearest(name, names);
  return base::Error{base::Failure::usage,
                     "there is no format `" + std::string(name) + "`; " +
                         (near.empty() ? "there are " + all : "did you mean `" + std::string(near) + "`?")};
}

base::Result<Profile> read_profile(const std::string& path) {
  ACU_TRY(std::string bytes, base::read_file(path));
  if (bytes.empty()) return base::Error{base::Failure::runtime, path + ": it is empty"};
  for (const Format& f : table) {
    if (!f.read || !f.is_this(bytes)) continue;
    auto profile = f.read(bytes);
    if (!profile.ok()) return std::move(profile.error()).with(path);
    return std::move(*profile);
  }
  return base::Error{
      base::Failure::runtime,
      path + ": it is no recording; acu reads its own, pprof, the text of perf script, and folded stacks"};
}

// Beside the old file, on the same disk; a link is followed, so that what it points to is replaced.
base::Status write_file(const std::string& given, std::string_view bytes) {
  struct stat about = {};
  const bool exists = ::stat(given.c_str(), &about) == 0;
  std::string path = given;
  if (char* real = exists ? ::realpath(given.c_str(), nullptr) : nullptr) {
    path = real;
    std::free(real);
  }
  const bool is_plain =
      !exists || S_ISREG(about.st_mode); // else a pipe or a device, which is written to as it is
  std::string beside = is_plain ? path + ".XXXXXX" : path;
  base::Fd file(is_plain ? ::mkostemp(beside.data(), O_CLOEXEC) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return base::errno_error("cannot write `" + given + "`", errno);
  int error = 0;
  while (!bytes.empty() && !error) {
    ssize_t n = ::write(file.get(), bytes.data(), bytes.size());
    if (n >= 0)
      bytes.remove_prefix(static_cast<size_t>(n));
    else if (errno != EINTR)
      error = errno;
  }
  if (is_plain && !error) {
    mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(file.get(), exists ? about.st_mode & 07777 : 0666 & ~mask) != 0) error = errno;
    // Some file systems only tell here that there was no room.
    if (!error && ::close(file.release()) != 0) error = errno;
    if (!error && ::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  }
  if (!error) return {};
  if (is_plain) ::unlink(beside.c_str());
  return base::errno_error("cannot write `" + given + "`" + (exists && is_plain ? " (it is as it was)" : ""),
                           error);
}

} // namespace profile
