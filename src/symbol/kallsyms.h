// Names of kernel code: /proc/kallsyms, read at the first question and kept in compact arrays.
//
// A line is `ADDRESS TYPE NAME` with an optional `[module]` behind a tab; see proc(5). Without the permission
// to see addresses all of them are 0: then nothing has a name. To print the list costs the kernel some 40 ms,
// so the part that is the kernel itself is kept between runs (symbol/cache.h, kind "kernel"): as distances
// from the first function, which are the same wherever this build of the kernel was put. Modules and BPF
// programs are always asked.
#pragma once

#include "base/reader.h"
#include "symbol/cache.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace symbol {

// Of the kernel that runs; empty: not known.
std::vector<std::byte> kernel_build_id(const std::string& notes = "/sys/kernel/notes");

class Kallsyms {
public:
  // Of the kernel that runs.
  Kallsyms() : path_("/proc/kallsyms"), notes_("/sys/kernel/notes"), cache_(Cache::of_user()) {}
  // Of another file, or with another cache: in tests. `notes` has the build-id; empty: nothing is kept.
  explicit Kallsyms(std::string path, std::string notes = {}, Cache cache = Cache({}))
      : path_(std::move(path)), notes_(std::move(notes)), cache_(std::move(cache)) {}

  struct Symbol {
    std::string_view name;   // ends with a NUL; lives as long as this Kallsyms
    uint64_t offset = 0;     // bytes from its start
    std::string_view module; // "nf_tables", "bpf"; empty: the kernel itself
  };
  // The function that holds `address`.
  std::optional<Symbol> find(uint64_t address);
  // Where a symbol is, functions and data alike. Reads the file again: meant for the few names of a script.
  std::optional<uint64_t> address(std::string_view name) const;
  // The same of several names in one go, in their order.
  std::vector<std::optional<uint64_t>> addresses(std::span<const std::string_view> names) const;
  // Functions known; 0 also where the kernel hides addresses.
  size_t size();

private:
  // Sorted by address. Kept apart, so that a search touches addresses only. The spans are those of the
  // vectors, or of the cached file.
  struct Core {
    uint64_t base = 0;                       // address of the first function
    std::span<const uint32_t> starts, names; // bytes after the base; where the name starts in text
    base::ByteSpan text;                     // names, each ended by a NUL
  };
  struct Other { // of modules and the like
    uint64_t address = 0;
    uint32_t name = 0, module = 0; // in other_text_
  };
  enum class Loaded : uint8_t { nothing, core, all };

  void load_core();
  void load_all();
  bool load_cached(base::ByteSpan build_id);
  void take_line(uint64_t address, std::string_view name, std::string_view module);
  std::optional<Symbol> find_core(uint64_t address) const;
  std::optional<Symbol> find_other(uint64_t address) const;

  std::string path_, notes_;
  Cache cache_;
  Loaded loaded_ = Loaded::nothing;
  Core core_;
  std::optional<CachedFile> cached_;
  std::vector<uint32_t> core_starts_, core_names_;
  std::string core_text_;
  std::vector<Other> others_;
  std::string other_text_;
};

} // namespace symbol
