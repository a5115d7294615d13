// From addresses to functions, places in source files and the calls that were inlined there; of a process, of
// files, of the kernel. Many addresses are asked for at once: they are sorted, so that each file and each
// unit of its debug information is gone over once.
//
// Names come first and cost little (file_names.h, kallsyms.h, perf_map_file.h, jitdump.h); debug information
// is opened only when lines are wanted and there are addresses in the file.
#pragma once

#include "base/result.h"
#include "symbol/cache.h"
#include "symbol/jit_code.h"
#include "symbol/kallsyms.h"
#include "symbol/module.h"
#include "symbol/process_map.h"

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

namespace symbol {

struct SymbolizeOptions {
  DebugSearch search;
  bool lines = true;    // places in source files
  bool inlines = true;  // and the calls inlined there
  bool mangled = false; // names as the files have them
};

// What is known of an address: the function that holds it. Views live until the next question.
struct Place : Frame {
  uint64_t address = 0;
  // Innermost first: functions inlined into each other, at last the function. Empty: lines are not known.
  std::span<const Frame> frames;
};

class Symbolizer {
public:
  static constexpr uint32_t no_module = ~uint32_t{0};
  // An address of the process or kernel, or with a module, one as that file counts.
  struct Question {
    uint64_t address = 0;
    uint32_t module = no_module;
  };

  explicit Symbolizer(SymbolizeOptions options);

  // Addresses without a module are of this process from now on. Failure: there is none, or it
  // may not be looked at.
  base::Status set_process(pid_t pid);
  // The module of a file. Failure: it cannot be read.
  base::Result<uint32_t> add_file(const std::string& path);
  // The same, but a path or last part of one that the process has mapped means what it has mapped.
  base::Result<uint32_t> find_file(const std::string& path);

  // In the order of the questions.
  std::span<const Place> find(std::span<const Question> questions);

  // Of the process. A mapping's module: nullptr if it is no file, or cannot be read; `problem` tells why
  // then.
  const std::vector<Mapping>& mappings() const { return map_; }
  Module* module_of(const Mapping& mapping);
  const std::string& problem_of(const Mapping& mapping) const;
  Module& module(uint32_t index) { return *modules_[index]; }
  const Cache& cache() const { return cache_; }

private:
  using Clock = std::chrono::steady_clock;
  struct Opened { // of a mapping
    bool is_tried = false;
    uint32_t module = no_module;
    std::string problem;
  };
  struct Task {
    uint32_t module = no_module;
    uint32_t place = 0;   // index of the question
    uint64_t address = 0; // in the module
  };

  uint32_t open_mapping(const Mapping& mapping);
  base::Result<format::ElfFile> read_mapping(const Mapping& mapping) const;
  uint32_t keep(std::unique_ptr<Module> module);
  void prepare_kernel_lines();
  void locate(std::span<const Question> questions);
  void locate(const Question& question, uint32_t index);
  void find_in_kernel(Place& place, uint32_t index);
  void find_in_jit(Place& place, uint32_t index);
  std::string_view kept(std::string_view text);
  void find_names(Module& module, std::span<const Task> tasks);
  void find_lines(Module& module, std::span<const Task> tasks);
  void add_frames(uint32_t place, std::span<const Frame> frames);
  std::string_view shown(std::string_view name);

  SymbolizeOptions options_;
  Cache cache_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::string, uint32_t> files_; // modules of paths in our root
  // Of the process.
  pid_t pid_ = 0;
  std::string root_;
  std::vector<Mapping> map_;
  Clock::time_point read_;       // when the mappings were
  bool is_any_unmapped_ = false; // of the present questions
  std::vector<Opened> opened_;   // of each mapping
  std::map<base::FileId, uint32_t> mapped_files_;
  std::unique_ptr<JitCode> jit_;
  // Of the kernel.
  Kallsyms kallsyms_;
  bool looked_for_kernel_lines_ = false;
  uint32_t kernel_module_ = no_module;
  uint64_t kernel_moved_ = 0;                              // added to the addresses of its file
  std::set<std::string> texts_;                            // names of the kernel's modules and of JIT code
  std::unordered_map<std::string, std::string> demangled_; // names of the kernel and of JIT code
  // Of the present questions.
  std::vector<Task> tasks_;
  std::vector<Place> places_;
  std::vector<Frame> frames_;
  std::vector<std::pair<uint32_t, uint32_t>> frame_ranges_; // of each place: begin, count
};

} // namespace symbol
