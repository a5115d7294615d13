#include "symbol/debug_files.h"

#include "base/text.h"
#include "symbol/debug_places.h"
#include "symbol/debuginfod.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <libdeflate.h>
#include <memory>
#include <sys/stat.h>
#include <sys/utsname.h>

namespace symbol {

using base::ByteSpan;
using format::ElfFile;

// A CRC needs all bytes of a file: a larger one must be known by its build-id.
static constexpr uint64_t most_for_crc = uint64_t{1} << 30;
static uint32_t crc_of(const ElfFile& file) {
  constexpr size_t step = 16 << 20;
  uint32_t crc = 0;
  for (ByteSpan rest = file.bytes(); !rest.empty(); rest = rest.subspan(std::min(step, rest.size()))) {
    ByteSpan part = rest.first(std::min(step, rest.size()));
    crc = libdeflate_crc32(crc, part.data(), part.size());
    file.release_pages();
  }
  return crc;
}

// Sections keep address and size in a debug file, though not their bytes.
static bool has_same_text(const ElfFile& file, const DebugWanted& wanted) {
  const format::ElfSection* text = file.elf().section(".text");
  return text && wanted.text_size && text->address == wanted.text_address && text->size == wanted.text_size;
}

// "" if the file belongs to what is wanted, else why not.
static std::string misfit(const ElfFile& file, const DebugWanted& wanted, DebugFile::Source source) {
  using Source = DebugFile::Source;
  if (wanted.id.inode && file.id() == wanted.id) return "it is the file itself";
  ByteSpan id = file.build_id();
  if (!wanted.build_id.empty() && !id.empty())
    return std::ranges::equal(id, wanted.build_id) ? "" : wrong_id(id, wanted.build_id);
  if (wanted.link && (source == Source::debug_link || source == Source::folder)) {
    if (file.bytes().size() > most_for_crc)
      return "it has no build-id, and is too large (" + std::to_string(file.bytes().size() >> 20) +
             " MiB) to check its CRC";
    if (crc_of(file) == wanted.link->crc) return "";
    return "its CRC is not the one that the link asks for: it is of another build";
  }
  if (!wanted.build_id.empty()) return "it has no build-id";
  if (source != Source::folder) return "there is neither a build-id nor a CRC to tell whether it fits";
  return has_same_text(file, wanted) ? "" : "its code has another address or size: it is of another build";
}

// ---- the search

// /lib is /usr/lib on most machines, and packages of debug files were made for either.
static std::vector<std::string> with_and_without_usr(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    if (path.empty() || path[0] != '/') continue;
    out.push_back(path);
    std::string_view rest = path;
    bool has_usr = rest.starts_with("/usr/");
    if (has_usr) rest.remove_prefix(4);
    if (rest.starts_with("/lib") || rest.starts_with("/bin/") || rest.starts_with("/sbin/"))
      out.push_back(has_usr ? std::string(rest) : "/usr" + path);
  }
  return out;
}

namespace {

class Search {
public:
  Search(const DebugWanted& wanted, const DebugSearch& search, DebugFile& out)
      : wanted_(wanted), search_(search), out_(out), places_(out.debug),
        paths_(with_and_without_usr(wanted.paths)) {}

  void run() {
    for (const std::string& folder : search_.folders)
      if (in_folder(folder)) return;
    if (!search_.root.empty() && in_root(search_.root)) return;
    if (in_root("")) return;
    if (search_.download && !wanted_.build_id.empty() && download()) return;
    if (symbols_only_) take(std::move(*symbols_only_));
  }

private:
  using Source = DebugFile::Source;
  struct Candidate {
    std::string path, root;
    Source source;
    ElfFile file;
  };

  // Whether the search is over.
  bool look_at(const std::string& path, const std::string& root, Source source) {
    auto file = places_.open(path, root);
    return file && judge({path, root, source, std::move(*file)});
  }

  bool judge(Candidate c) {
    std::string problem = misfit(c.file, wanted_, c.source);
    bool has_dwarf = c.file.has_section(".debug_info");
    if (problem.empty() && !has_dwarf && !c.file.has_section(".symtab"))
      problem = "it has neither debug information nor symbols";
    if (!problem.empty()) {
      places_.refuse(c.path, c.root, std::move(problem));
    } else if (has_dwarf) {
      take(std::move(c));
      return true;
    } else if (!symbols_only_) {
      symbols_only_ = std::move(c);
    }
    return false;
  }

  void take(Candidate c) {
    out_.source = c.source;
    out_.has_dwarf = c.file.has_section(".debug_info");
    places_.take(c.path, c.root, std::move(c.file));
  }

  // A folder of the user: a copy of /usr/lib/debug, an unpacked package, or just the files; or one file.
  bool in_folder(const std::string& folder) {
    struct stat about = {};
    if (::stat(folder.c_str(), &about) != 0) {
      places_.refuse(folder, "", std::strerror(errno)); // a mistake of the user, to be told
      return false;
    }
    if (!S_ISDIR(about.st_mode)) return look_at(folder, "", Source::folder);
    std::vector<std::string> names;
    for (const char* below : {"/", "/usr/lib/debug/"}) {
      if (!wanted_.build_id.empty()) names.push_back(below + build_id_name(wanted_.build_id));
      for (const std::string& path : paths_) {
        names.push_back(below + path.substr(1) + ".debug");
        names.push_back(below + path.substr(1));
        if (wanted_.link)
          names.push_back(below + folder_of(path).substr(1) + std::string(wanted_.link->name));
      }
    }
    for (const std::string& path : wanted_.paths) {
      if (wanted_.link) names.push_back("/" + std::string(wanted_.link->name));
      names.push_back("/" + name_of(path) + ".debug");
      names.push_back("/" + name_of(path));
    }
    return std::ranges::any_of(
        names, [&](const std::string& name) { return look_at(folder + name, "", Source::folder); });
  }

  bool in_root(const std::string& root) {
    std::vector<std::pair<std::string, Source>> places;
    if (!wanted_.build_id.empty())
      places.emplace_back(std::string(usual_folder) + "/" + build_id_name(wanted_.build_id),
                          Source::build_id);
    if (wanted_.link) {
      std::string name(wanted_.link->name);
      for (const std::string& path : wanted_.paths) {
        places.emplace_back(folder_of(path) + name, Source::debug_link);
        places.emplace_back(folder_of(path) + ".debug/" + name, Source::debug_link);
      }
      for (const std::string& path : paths_)
        places.emplace_back(usual_folder + folder_of(path) + name, Source::debug_link);
    }
    for (const std::string& path : wanted_.paths) {
      places.emplace_back(path + ".debug", Source::name);
      if (!wanted_.id.inode) places.emplace_back(path, Source::name); // it was not looked at yet
    }
    for (const std::string& path : paths_) {
      places.emplace_back(usual_folder + path + ".debug", Source::name);
      places.emplace_back(usual_folder + path, Source::name);
    }
    return std::ranges::any_of(places,
                               [&](const auto& place) { return look_at(place.first, root, place.second); });
  }

  bool download() {
    auto got = download_debug_file(wanted_.build_id);
    auto map = got ? base::FileMap::of(got->fd.get()) : base::Result<base::FileMap>(got.error());
    auto file = map ? ElfFile::of(std::move(*map)) : base::Result<ElfFile>(map.error());
    if (file) return judge({got->path, "", Source::download, std::move(*file)});
    places_.refuse("debuginfod", "", file.error().message);
    return false;
  }

  const DebugWanted& wanted_;
  const DebugSearch& search_;
  DebugFile& out_;
  Places places_;
  std::vector<std::string> paths_; // also with /usr, or without
  std::optional<Candidate> symbols_only_;
};

} // namespace

// ---- what is asked from outside

static std::string kernel_release() {
  struct utsname kernel = {};
  ::uname(&kernel);
  return kernel.release;
}

// The names under which there may be something in the usual folders.
static std::vector<std::string> names_of_module(const std::string& path, const std::string& root) {
  if (path == "[vdso]") return {"/lib/modules/" + kernel_release() + "/vdso/vdso64.so"};
  if (path.starts_with('[')) return {};
  std::vector<std::string> out = {path};
  if (!root.empty()) return out;
  std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  if (real && path != real.get()) out.emplace_back(real.get());
  return out;
}

DebugWanted wanted_by(const ElfFile& module, const std::string& path, const std::string& root) {
  DebugWanted wanted = {.paths = names_of_module(path, root),
                        .build_id = module.build_id(),
                        .link = module.debug_link(),
                        .id = module.id()};
  if (wanted.link && wanted.link->name.find('/') != std::string_view::npos)
    wanted.link.reset(); // only a name may be
  if (const format::ElfSection* text = module.elf().section(".text")) {
    wanted.text_address = text->address;
    wanted.text_size = text->size;
  }
  return wanted;
}

DebugFile find_debug_file(const ElfFile& module, const std::string& path, const DebugSearch& search) {
  DebugFile out;
  if (module.has_section(".debug_info")) {
    out.source = DebugFile::Source::module;
    out.has_dwarf = true;
    find_alt(module, path, search.root, search, out);
    return out;
  }
  return find_debug_file(wanted_by(module, path, search.root), search);
}

DebugFile find_debug_file(const DebugWanted& wanted, const DebugSearch& search) {
  DebugFile out;
  Search(wanted, search, out).run();
  if (out.debug.file) find_alt(*out.debug.file, out.debug.path, out.debug.root, search, out);
  return out;
}

DebugFile find_kernel_debug_file(const DebugSearch& search) {
  std::string release = kernel_release();
  auto notes = base::read_file("/sys/kernel/notes");
  DebugWanted wanted = {.paths = {"/boot/vmlinux-" + release, "/lib/modules/" + release + "/vmlinux",
                                  "/lib/modules/" + release + "/build/vmlinux"}};
  if (notes) wanted.build_id = format::build_id_in_notes(std::as_bytes(std::span(*notes)), 4);
  return find_debug_file(wanted, search);
}

std::string summary(const std::vector<TriedPlace>& tried) {
  for (const TriedPlace& t : tried)
    if (!t.is_missing) return t.path + ": " + t.problem;
  return "";
}

} // namespace symbol
