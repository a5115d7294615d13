// One ELF file that addresses are looked up in: its functions, and behind them its debug information, which
// is looked for and opened when lines are first asked for.
#pragma once

#include "symbol/cache.h"
#include "symbol/debug_files.h"
#include "symbol/frame.h"
#include "symbol/function_names.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace symbol {

// How the frames of an address are told.
struct FrameOptions {
  bool inlines = true;  // false: only the outermost
  bool mangled = false; // names as the files have them
};

class Module {
public:
  // `path`: as it is shown, and as seen in search.root.
  Module(format::ElfFile file, std::string path, DebugSearch search);
  // Debug information alone, such as the kernel's.
  Module(DebugFile debug, std::string path);
  ~Module();
  Module(const Module&) = delete;

  const std::string& path() const { return path_; }
  const format::ElfFile* file() const { return file_ ? &*file_ : nullptr; }
  // Read at the first call.
  FunctionNames& names(const Cache& cache);
  const DebugFile& debug();
  // The names of the file, where somebody else has them: they spare a search for what is not there.
  void take_hints(const FunctionNames& names) { is_go_tried_ |= !may_be_go(names); }

  using TakeFrames = std::function<void(size_t index, std::span<const Frame> frames)>;
  // Calls take for each address that there is debug information for, or that the runtime of Go knows, with
  // the frames that begin with the innermost; texts live as long as this, frames do not. `addresses` are
  // sorted and differ.
  void find_lines(std::span<const uint64_t> addresses, const FrameOptions& options, const TakeFrames& take);
  // Gives the memory of the debug information back (texts of frames too); it is opened again when it is needed.
  void close_debug();

private:
  struct Lines;
  struct GoCode;
  bool open_lines();
  bool may_be_go(const FunctionNames& names) const;
  bool open_go();
  void find_go_lines(std::span<const uint64_t> addresses, const FrameOptions& options,
                     const TakeFrames& take);

  std::string path_;
  DebugSearch search_;
  std::optional<format::ElfFile> file_;
  std::optional<FunctionNames> names_;
  std::optional<DebugFile> debug_;
  std::unique_ptr<Lines> lines_;
  std::unique_ptr<GoCode> go_; // where there is no debug information
  bool is_go_tried_ = false;
};

// The address of a symbol of any kind in a file; nothing if it has none of this name.
std::optional<uint64_t> symbol_address(const format::ElfFile& file, std::string_view name);

} // namespace symbol
