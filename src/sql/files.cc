// Open files and mappings of processes, from /proc (proc_pid_fd(5), proc_pid_maps(5), proc_pid_smaps(5)).
#include "base/privilege.h"
#include "sql/proc.h"
#include "sql/sources.h"

#include "base/text.h"
#include "proc/text.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace sql {

namespace {

struct File {
  int64_t pid = 0, fd = 0;
  std::string type, path;
  std::optional<int64_t> inode, size, position;
  std::optional<bool> is_deleted;
  std::optional<std::string> access;
};

constexpr Column file_columns[] = {
    column<&File::pid>("pid", "", "The process.", Role::pushed),
    column<&File::fd>("fd", "", "The descriptor's number."),
    column<&File::type>("type", "", "file, directory, character device, block device, fifo, socket, pipe, or the kind of an anonymous one: eventpoll, eventfd, …"),
    column<&File::path>("path", "", "Its path, as the process sees it; of others, what /proc shows: socket:[4711]."),
    column<&File::inode>("inode", "", "Inode; of sockets and pipes, their identity."),
    column<&File::size>("size", "bytes", "Size of a file."),
    column<&File::position>("position", "bytes", "Where the next read or write happens."),
    column<&File::access>("access", "", "r, w or rw."),
    column<&File::is_deleted>("deleted", "", "1: the file has no name any more, and its space is kept by this descriptor."),
};

std::string type_of(mode_t mode) {
  switch (mode & S_IFMT) {
  case S_IFREG: return "file";
  case S_IFDIR: return "directory";
  case S_IFCHR: return "character device";
  case S_IFBLK: return "block device";
  case S_IFIFO: return "fifo";
  case S_IFSOCK: return "socket";
  default: return "other";
  }
}

void add_status(const std::string& link, File& to) {
  struct stat about = {};
  if (::stat(link.c_str(), &about) != 0) return;
  to.inode = static_cast<int64_t>(about.st_ino);
  if (to.type.empty()) to.type = type_of(about.st_mode);
  if (S_ISREG(about.st_mode)) to.size = about.st_size;
  if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) to.is_deleted = about.st_nlink == 0;
}

// "pos:\t0\nflags:\t0100002\n…"
void add_description(const std::string& text, File& to) {
  for (std::string_view line : base::split(text, '\n')) {
    const std::vector<std::string_view> words = proc::words_of(line);
    if (words.size() < 2) continue;
    if (words[0] == "pos:") to.position = static_cast<int64_t>(proc::decimal(words[1]).value_or(0));
    if (words[0] != "flags:") continue;
    const auto flags = base::parse_integer(words[1]).value_or(0); // octal, with a 0 before it
    to.access = (flags & O_ACCMODE) == O_RDONLY ? "r" : (flags & O_ACCMODE) == O_WRONLY ? "w" : "rw";
  }
}

std::optional<File> read_file_of(const Request& request, int pid, const std::string& folder, int fd, bool& is_denied) {
  const std::string link = folder + "/fd/" + std::to_string(fd);
  std::error_code gone;
  File out = {.pid = pid, .fd = fd, .path = std::filesystem::read_symlink(link, gone).native()};
  is_denied |= gone == std::errc::permission_denied;
  if (gone) return {};
  const size_t colon = out.path.find(':'), open = out.path.find('[');
  if (!out.path.starts_with('/') && colon != out.path.npos) {
    const std::string_view name = std::string_view(out.path).substr(0, colon);
    out.type = name != "anon_inode" ? std::string(name) : open == out.path.npos ? out.path.substr(colon + 1) : out.path.substr(open + 1, out.path.size() - open - 2);
  }
  if (request.uses("inode") || request.uses("size") || request.uses("deleted") || (request.uses("type") && out.type.empty())) add_status(link, out);
  if (request.uses("position") || request.uses("access")) add_description(proc::text_of(folder + "/fdinfo/" + std::to_string(fd)), out);
  return out;
}

void report_denied(const Request& request, std::string_view what, size_t processes) {
  if (processes) request.note(std::string(what) + " of " + std::to_string(processes) + (processes == 1 ? " process" : " processes") + " could not be read (no permission)");
}

base::Result<std::vector<File>> read_files(const Request& request) {
  std::vector<File> out;
  size_t denied = 0;
  for_each_process(request, [&](int pid, const std::string& folder) {
    bool is_denied = base::is_accessible(folder.c_str(), F_OK) && !base::is_accessible((folder + "/fd").c_str(), R_OK);
    for (int fd : numbers_in(folder + "/fd"))
      if (auto file = read_file_of(request, pid, folder, fd, is_denied)) out.push_back(std::move(*file));
    denied += is_denied;
  });
  report_denied(request, "open files", denied);
  return out;
}

struct Mapping {
  int64_t pid = 0;
  uint64_t begin = 0, end = 0, offset = 0, inode = 0;
  std::string permissions;
  std::optional<std::string> path;
  std::optional<int64_t> resident, proportional, private_dirty, swapped;
  std::string begin_text() const { return in_hex(begin); }
  std::string end_text() const { return in_hex(end); }
  uint64_t size() const { return end - begin; }
  static std::string in_hex(uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%lx", address);
    return text;
  }
};

constexpr Column mapping_columns[] = {
    column<&Mapping::pid>("pid", "", "The process.", Role::pushed),
    column<&Mapping::begin_text>("begin", "", "First address, in hexadecimal."),
    column<&Mapping::end_text>("end", "", "First address behind it."),
    column<&Mapping::size>("size", "bytes", "Size of the address range."),
    column<&Mapping::permissions>("permissions", "", "r, w and x; p: private, s: shared."),
    column<&Mapping::offset>("offset", "bytes", "Where it begins in the file."),
    column<&Mapping::inode>("inode", "", "Inode of the file; 0: it is none."),
    column<&Mapping::path>("path", "", "Path of the file, or [heap], [stack], …; NULL: anonymous memory."),
    column<&Mapping::resident>("resident", "bytes", "Memory in RAM. This column and the next ones take the kernel some milliseconds for a large process."),
    column<&Mapping::proportional>("proportional", "bytes", "The same, where shared pages are divided among those who share them."),
    column<&Mapping::private_dirty>("private_dirty", "bytes", "Memory of this process alone that it has written."),
    column<&Mapping::swapped>("swapped", "bytes", "Memory in swap."),
};

// "55d0c6a00000-55d0c6a02000 r--p 00000000 fe:01 1234   /usr/bin/cat"
std::optional<Mapping> read_mapping(int pid, std::string_view line) {
  const std::vector<std::string_view> words = proc::words_of(line);
  Mapping out = {.pid = pid};
  std::string_view text = line;
  if (words.size() < 5 || !base::take_hex(text, '-', out.begin) || !base::take_hex(text, ' ', out.end)) return {};
  out.permissions = words[1];
  std::string_view offset = words[2];
  const std::string with_end = std::string(offset) + ' ';
  offset = with_end;
  base::take_hex(offset, ' ', out.offset);
  out.inode = proc::decimal(words[4]).value_or(0);
  if (words.size() > 5) out.path = std::string(line.substr(static_cast<size_t>(words[5].data() - line.data())));
  return out;
}

// A line of smaps behind that of its mapping: "Rss:    12 kB".
void add_memory(std::string_view line, Mapping& to) {
  const std::vector<std::string_view> words = proc::words_of(line);
  if (words.size() != 3) return;
  const int64_t bytes = static_cast<int64_t>(proc::decimal(words[1]).value_or(0)) * 1024;
  if (words[0] == "Rss:") to.resident = bytes;
  if (words[0] == "Pss:") to.proportional = bytes;
  if (words[0] == "Private_Dirty:") to.private_dirty = bytes;
  if (words[0] == "Swap:") to.swapped = bytes;
}

base::Result<std::vector<Mapping>> read_mappings(const Request& request) {
  std::vector<Mapping> out;
  size_t denied = 0;
  const bool wants_memory = request.uses("resident") || request.uses("proportional") || request.uses("private_dirty") || request.uses("swapped");
  for_each_process(request, [&](int pid, const std::string& folder) {
    const base::Result<std::string> text = base::read_file(folder + (wants_memory ? "/smaps" : "/maps"));
    denied += !text.ok() && text.error().kind == base::Failure::permission;
    if (!text.ok()) return;
    for (std::string_view line : base::split(*text, '\n'))
      if (auto mapping = read_mapping(pid, line)) out.push_back(std::move(*mapping));
      else if (!out.empty()) add_memory(line, out.back());
  });
  report_denied(request, "mappings", denied);
  return out;
}

} // namespace

const Table files = {.name = "files", .doc = "Open files of processes: descriptors of files, sockets, pipes.", .example = "select type, count(*) from files where pid = 1 group by type",
                     .columns = file_columns, .read = rows_of<read_files>, .expected_rows = 10'000};
const Table mappings = {.name = "mappings", .doc = "Memory mappings of processes.", .example = "select path, sum(resident) from mappings where pid = 1 group by path order by 2 desc limit 5",
                        .columns = mapping_columns, .read = rows_of<read_mappings>, .expected_rows = 20'000};

} // namespace sql
