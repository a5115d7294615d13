// Search order of #include: the folder of the including file for "name", -I, CPATH, C_INCLUDE_PATH, the
// system's folders, and last the few headers that a compiler brings along (spec/c_headers.h).
#include "lang/include.h"

#include "base/fd.h"
#include "base/text.h"
#include "spec/c_headers.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

namespace lang {

namespace {

constexpr size_t max_file_bytes = 16 << 20;
constexpr uint32_t max_bytes = 256 << 20; // of all files together

#if defined(__aarch64__)
constexpr std::string_view system_folders[] = {"/usr/local/include", "/usr/include/aarch64-linux-gnu",
                                               "/usr/include"};
#else
constexpr std::string_view system_folders[] = {"/usr/local/include", "/usr/include/x86_64-linux-gnu",
                                               "/usr/include"};
#endif

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? std::string() : path.substr(0, slash + 1);
}

std::string joined(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.ends_with('/') ? folder + name : folder + "/" + name;
}

enum class Kind : uint8_t { missing, file, folder, neither };
Kind kind_of(const std::string& path) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) < 0) return Kind::missing;
  return S_ISREG(about.st_mode) ? Kind::file : S_ISDIR(about.st_mode) ? Kind::folder : Kind::neither;
}

// Whether others could put a file there in place of the one that is meant.
bool is_writable_by_all(const std::string& folder) {
  struct stat about = {};
  return ::stat(folder.empty() ? "." : folder.c_str(), &about) == 0 && (about.st_mode & S_IWOTH) != 0;
}

base::Error refuse(const std::string& path, std::string_view why) {
  return {base::Failure::usage, "`" + path + "`: " + std::string(why)};
}

base::Result<std::string> read_text(const std::string& path) {
  base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about = {};
  if (!file.valid() || ::fstat(file.get(), &about) < 0) return refuse(path, std::strerror(errno));
  if (static_cast<size_t>(about.st_size) > max_file_bytes) return refuse(path, "it is larger than 16 MiB");
  auto text = base::read_up_to(file, static_cast<uint64_t>(about.st_size), path);
  if (!text.ok()) return refuse(path, std::strerror(errno));
  if (text->find('\0') != text->npos) return refuse(path, "it is not text (it holds a zero byte)");
  return text;
}

} // namespace

Files::Files(base::Source& source, base::Arena& arena, const std::vector<std::string>& include_dirs)
    : source_(source), arena_(arena), include_dirs_(include_dirs) {
  script_.path = source.name();
  if (source.text().size() <= max_file_bytes) script_.text = arena.copy(source.text());
}

void Files::find_folders() {
  if (!folders_.empty()) return;
  for (const std::string& d : include_dirs_) folders_.push_back({d, false});
  for (const char* name : {"CPATH", "C_INCLUDE_PATH"}) {
    const char* list = std::getenv(name);
    if (!list || !*list) continue;
    for (std::string_view d : base::split(list, ':'))
      folders_.push_back({d.empty() ? "." : std::string(d), name[1] == '_'});
  }
  for (std::string_view d : system_folders) folders_.push_back({std::string(d), true});
}

base::Result<SourceFile*> Files::header(const std::string& name, bool quoted, const SourceFile& from) {
  if (name.starts_with('/')) return kind_of(name) == Kind::missing ? nullptr : read(name, false, 0);
  find_folders();
  if (quoted) {
    std::string beside = folder_of(from.path) + name;
    if (kind_of(beside) == Kind::file) return read(beside, from.is_system, from.folder);
  }
  return search(name, 0);
}

base::Result<SourceFile*> Files::next_header(const std::string& name, const SourceFile& from) {
  find_folders();
  return search(name, from.folder + 1);
}

base::Result<SourceFile*> Files::search(const std::string& name, size_t first_folder) {
  for (size_t i = first_folder; i < folders_.size(); i++) {
    std::string path = joined(folders_[i].path, name);
    Kind kind = kind_of(path);
    if (kind == Kind::file) return read(path, folders_[i].is_system, i);
    if (kind == Kind::neither) return refuse(path, "it is no regular file");
  }
  std::string_view text = spec::builtin_header(name);
  if (text.empty()) return nullptr;
  std::string shown = "<" + name + ">";
  SourceFile*& made = builtin_[shown];
  if (made) return made;
  made = add(shown, text);
  made->is_system = true;
  made->folder = folders_.size();
  return made;
}

SourceFile* Files::own(const std::string& name, std::string_view text) {
  SourceFile*& made = builtin_[name];
  if (!made) made = add(name, text);
  return made;
}

SourceFile* Files::add(std::string name, std::string_view text) {
  SourceFile& made = files_.emplace_back();
  made.path = name;
  made.begin = source_.add(std::move(name), std::string(text));
  made.text = arena_.copy(text);
  return &made;
}

base::Result<SourceFile*> Files::read(const std::string& path, bool is_system, size_t folder) {
  struct stat about = {};
  if (::stat(path.c_str(), &about) < 0) return refuse(path, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return refuse(path, "it is no regular file");
  SourceFile*& made = read_[{about.st_dev, about.st_ino}];
  if (made) return made;
  ACU_TRY(std::string text, read_text(path));
  if (source_.size() + text.size() > max_bytes)
    return refuse(path, "all files together are larger than 256 MiB");
  made = add(path, text);
  made->is_system = is_system;
  made->folder = folder;
  return made;
}

base::Result<std::vector<SourceFile*>> Files::import(const std::string& name, const SourceFile& from) {
  find_folders();
  std::vector<std::string> places = {folder_of(from.path), ""};
  for (const std::string& d : include_dirs_) places.push_back(d);
  if (name.starts_with('/')) places = {""};
  struct stat about = {};
  if (::stat(script_.path.c_str(), &about) == 0) read_[{about.st_dev, about.st_ino}] = &script_;
  for (const std::string& place : places) {
    std::string path = joined(place, name);
    Kind kind = kind_of(path);
    if (kind == Kind::missing) continue;
    if (kind == Kind::neither) return refuse(path, "it is no regular file");
    if (is_writable_by_all(kind == Kind::folder ? path : folder_of(path))) return refuse(path, "all users can write to its directory");
    if (kind == Kind::folder) return read_folder(path);
    ACU_TRY(SourceFile * file, read(path, false, 0));
    return std::vector<SourceFile*>{file};
  }
  return std::vector<SourceFile*>{};
}

base::Result<std::vector<SourceFile*>> Files::read_folder(const std::string& path) {
  std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (!folder) return refuse(path, std::strerror(errno));
  std::vector<std::string> names;
  while (dirent* entry = ::readdir(folder.get())) {
    std::string name = entry->d_name;
    // The parser refuses .bpf.c, which bpftrace compiles.
    const bool is_meant = name.ends_with(".bt") || name.ends_with(".h") || name.ends_with(".bpf.c");
    if (is_meant && !name.starts_with('.')) names.push_back(joined(path, name));
  }
  if (names.empty()) return refuse(path, "no *.bt or *.h file is in this folder");
  std::ranges::sort(names, {}, [](const std::string& name) { return std::pair(!name.ends_with(".h"), std::string_view(name)); });
  std::vector<SourceFile*> files;
  for (const std::string& n : names) {
    ACU_TRY(SourceFile * file, read(n, false, 0));
    files.push_back(file);
  }
  return files;
}

} // namespace lang
