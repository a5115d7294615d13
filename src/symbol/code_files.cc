#include "symbol/code_files.h"

#include "symbol/file_names.h"
#include "symbol/vdso.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>

namespace symbol {

namespace {

constexpr std::string_view deleted = " (deleted)";
// A file that could not be opened is tried again when other processes map it, but not for ever.
constexpr uint8_t most_tries = 8;
// Each is a mapping of this process, of which the kernel allows 65530.
constexpr size_t most_open = 8192;
constexpr size_t most_files = 1 << 18;
// Files above this take a noticeable time to be read.
constexpr size_t most_bytes_soon = 8 << 20;

// Memory that the kernel gives a file's name; see memfd_create(2), shm_open(3).
bool is_memory_path(std::string_view path) {
  for (std::string_view start : {"/memfd:", "/dev/zero", "/anon_hugepage", "/SYSV", "/dev/shm/"})
    if (path.starts_with(start)) return true;
  return false;
}

std::string proc(pid_t pid, std::string_view what) {
  return "/proc/" + std::to_string(pid) + std::string(what);
}

// A mapping leads to its file whatever became of the name.
std::string link_of_mapping(const CodeFiles::Way& way) {
  char range[64];
  std::snprintf(range, sizeof range, "/map_files/%lx-%lx", way.begin, way.end);
  return proc(way.pid, range);
}

bool is_same(const MappedFileId& wanted, const format::ElfFile& file) {
  // Devices are not compared: some file systems give stat(2) another one than mappings.
  if (wanted.build_id_size) return std::ranges::equal(wanted.build_id_bytes(), file.build_id());
  return !wanted.inode || wanted.inode == file.id().inode;
}

} // namespace

uint32_t CodeFiles::index_of(std::string_view path, const MappedFileId& id, const Way& way) {
  bool is_vdso = path == "[vdso]";
  if (!is_vdso && (path.empty() || path[0] != '/' || path.starts_with("//"))) return none;
  bool is_deleted = path.ends_with(deleted);
  if (is_deleted) path.remove_suffix(deleted.size());
  std::string key(path);
  key += '\0';
  if (id.build_id_size) {
    auto bytes = id.build_id_bytes();
    key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  } else {
    const uint64_t numbers[] = {id.device, id.inode, id.generation};
    key.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  }
  if (files_.size() >= most_files && !indices_.contains(key)) return none;
  auto [at, is_new] = indices_.try_emplace(std::move(key), static_cast<uint32_t>(files_.size()));
  if (!is_new && files_.size() < most_files && is_rewritten(files_[at->second], way)) {
    at->second = static_cast<uint32_t>(files_.size());
    is_new = true;
  }
  if (is_new)
    files_.push_back(
        {.path = std::string(path), .id = id, .is_memory = is_memory_path(path), .is_vdso = is_vdso});
  files_[at->second].is_deleted |= is_deleted;
  return at->second;
}

// Whether a file known by its inode has other bytes now than when it was opened.
bool CodeFiles::is_rewritten(const File& file, const Way& way) const {
  if (file.id.build_id_size || !file.content || file.is_vdso || file.is_memory || !way.pid || !way.begin)
    return false;
  base::Fd fd(::open(link_of_mapping(way).c_str(), O_PATH | O_CLOEXEC));
  if (!fd.valid()) { // the process is gone: where the file was found
    auto found = base::open_regular(file.path, file.content->root);
    if (!found.ok()) found = base::open_regular(file.path);
    if (!found.ok()) return false;
    fd = std::move(*found);
  }
  auto now = base::file_id(fd.get());
  const base::FileId& then = file.content->id;
  // Devices are not compared: an overlay has another one under its paths.
  return now.ok() && now->inode == then.inode && (now->size != then.size || now->changed_ns != then.changed_ns);
}

// The file that lies there now, if it is the one that was mapped.
bool CodeFiles::take(File& file, const std::string& path, const std::string& root) {
  auto fd = base::open_regular(path, root);
  if (!fd.ok()) return false;
  auto id = base::file_id(fd->get());
  if (!id.ok()) return false;
  if (auto at = contents_.find(*id); at != contents_.end()) {
    const std::shared_ptr<Content>& known = at->second;
    bool fits = file.id.build_id_size ? std::ranges::equal(file.id.build_id_bytes(), known->build_id)
                                      : !file.id.inode || file.id.inode == id->inode;
    if (fits) file.content = known;
    return fits;
  }
  auto map = base::FileMap::of(fd->get());
  auto elf = map.ok() ? format::ElfFile::of(std::move(*map)) : base::Result<format::ElfFile>(map.error());
  auto content = std::make_shared<Content>();
  content->id = *id;
  content->root = root;
  if (elf.ok()) {
    if (!is_same(file.id, *elf)) return false;
    auto build_id = elf->build_id();
    content->build_id.assign(build_id.begin(), build_id.end());
    content->elf.emplace(std::move(*elf));
  } else {
    // Not a program: a dump of code, or damaged. There are no names in it, and no other way leads to more.
    if (file.id.build_id_size || (file.id.inode && file.id.inode != id->inode)) return false;
    content->is_read = true;
  }
  file.content = contents_[*id] = std::move(content);
  return true;
}

bool CodeFiles::open(uint32_t index, const Way& way) {
  if (files_[index].content) return true;
  if (!open_anywhere(index, way)) return false;
  opened_.push_back(index);
  if (opened_.size() > most_open) close_oldest();
  return true;
}

// Of the many programs of a large build few show a stack. Their names may still lead to them.
void CodeFiles::close_oldest() {
  File& file = files_[opened_.front()];
  opened_.pop_front();
  if (!file.content || file.content->is_read) return;
  contents_.erase(file.content->id);
  file.content.reset();
  file.tries = 0;
}

bool CodeFiles::open_anywhere(uint32_t index, const Way& way) {
  File& file = files_[index];
  if (file.is_vdso) {
    if (way.end <= UINT32_MAX) return false; // that of a 32-bit process is another one
    auto image = format::ElfFile::view(vdso_image());
    if (!image.ok()) return false;
    file.content = std::make_shared<Content>();
    auto build_id = image->build_id();
    file.content->build_id.assign(build_id.begin(), build_id.end());
    file.content->elf.emplace(std::move(*image));
    return true;
  }
  if (file.tries >= most_tries) return false;
  file.tries++;
  // Without the privilege to follow the link, or when the process is gone, the name may still lead there,
  // from the root of somebody who has the same one.
  if (way.pid && way.begin && take(file, link_of_mapping(way), {})) {
    file.content->root = proc(way.pid, "/root");
    return true;
  }
  if (file.is_memory) return false;
  if (way.pid && take(file, file.path, proc(way.pid, "/root"))) return true;
  if (take(file, file.path, {})) return true;
  return way.parent && take(file, file.path, proc(way.parent, "/root"));
}

const Cache& CodeFiles::cache() {
  if (!cache_) cache_ = Cache::of_user();
  return *cache_;
}

void CodeFiles::read(Content& content, const std::string& path) {
  if (content.is_read) return;
  content.is_read = true;
  if (!content.elf) return;
  // Somebody may have written other code into the file since it was opened: better no names than wrong ones.
  bool is_same = std::ranges::equal(content.elf->build_id(), content.build_id);
  if (is_same && !content.elf->damaged())
    content.names = names_of_file(*content.elf, path, {.root = content.root, .folders = debug_folders_}, cache());
  if (!keeps_ && (!is_same || content.elf->damaged() || !keeps_open_)) content.elf.reset();
  if (content.elf) content.elf->release_pages(); // the names are elsewhere
}

void CodeFiles::find_lines(uint32_t index, std::span<const uint64_t> addresses,
                           const Module::TakeFrames& take) {
  File& file = files_[index];
  if (!file.content) return;
  Content& content = *file.content;
  read(content, file.path);
  if (content.elf && !content.module) {
    DebugSearch search = {.root = content.root, .folders = debug_folders_};
    // Who keeps it reads it where it is.
    auto elf = keeps_ ? format::ElfFile::view(content.elf->bytes())
                      : base::Result<format::ElfFile>(std::move(*content.elf));
    if (!elf.ok()) return;
    content.module = std::make_unique<Module>(std::move(*elf), file.path, std::move(search));
    content.module->take_hints(content.names);
    if (!keeps_) content.elf.reset();
  }
  if (!content.module) return;
  content.module->find_lines(addresses, {}, take);
  content.module->close_debug();
}

std::shared_ptr<const format::ElfFile> CodeFiles::elf(uint32_t file) const {
  const std::shared_ptr<Content>& content = files_[file].content;
  if (!keeps_ || !content || !content->elf) return nullptr;
  return {content, &*content->elf};
}

std::optional<CodeFiles::Function> CodeFiles::find(uint32_t index, uint64_t offset, bool demangle) {
  File& file = files_[index];
  if (!file.content) return std::nullopt;
  Content& content = *file.content;
  read(content, file.path);
  auto address = content.names.address_of_offset(offset);
  auto found = address ? content.names.find(*address) : std::nullopt;
  if (!found) return std::nullopt;
  return Function{demangle ? content.names.shown(*found) : found->name, found->offset, found->is_derived};
}

uint64_t CodeFiles::address_of(uint32_t index, uint64_t offset) {
  File& file = files_[index];
  if (!file.content) return 0;
  read(*file.content, file.path);
  return file.content->names.address_of_offset(offset).value_or(0);
}

bool CodeFiles::read_soon(uint32_t index) {
  File& file = files_[index];
  if (!file.content || file.content->is_read) return false;
  if (file.content->elf && file.content->elf->bytes().size() > most_bytes_soon) return false;
  read(*file.content, file.path);
  return true;
}

} // namespace symbol
