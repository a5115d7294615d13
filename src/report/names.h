// The names of this machine's addresses, and of the frames of its stacks.
#pragma once

#include "report/report.h"
#include "runtime/code_names.h"
#include "symbol/cgroups.h"
#include "symbol/containers.h"
#include "symbol/frame_source.h"
#include "symbol/kallsyms.h"
#include "symbol/process_map.h"
#include "symbol/user_symbols.h"

#include <unordered_map>

namespace report {

// Kernel names from /proc/kallsyms, those of processes from their files; nothing is read before it is asked for.
class SystemNames : public Names {
public:
  // demangle: C++ names as they are written, not as the linker knows them.
  explicit SystemNames(bool demangle = true) {
    users_.set_demangle(demangle);
    runtime::add_language_frames(sources_, codes_);
  }
  std::string kernel(uint64_t address, bool with_offset) override;
  std::string user(uint32_t pid, uint64_t address, bool with_offset) override;
  symbol::Frame frame(const symbol::RawFrame& raw) override { return sources_.of(raw).function_of(raw); }
  std::string file_place(const symbol::RawFrame& raw) override;
  // Of data: "g_cache_lock"; without a symbol "libpq.so.5+0x4e0c8", or "/dev/shm/pool+0x1040" where a file is mapped.
  std::string variable(uint32_t pid, uint64_t address, bool with_offset);
  void seen(uint32_t pid, std::span<const uint64_t> words, uint64_t stack, uint64_t time) override;
  std::string cgroup(uint64_t id, const std::string& filter) override;
  // A control group of version 2 that is there now: it can be named when it is gone.
  void learn_group(uint64_t id, const std::string& path);
  symbol::UserSymbols& users() { return users_; }
  runtime::CodeNames& codes() { return codes_; }
  symbol::FrameSources& sources() { return sources_; }

private:
  symbol::Kallsyms kallsyms_;
  symbol::UserSymbols users_;
  runtime::CodeNames codes_;
  symbol::FrameSources sources_{kallsyms_, users_};
  symbol::Cgroups cgroups_;
  symbol::Containers containers_;
  std::vector<std::byte> kernel_id_;           // its build id, and the address of its first byte; once they were asked for
  std::optional<uint64_t> kernel_start_;
  std::unordered_map<uint32_t, std::vector<symbol::Mapping>> mappings_; // of processes whose data were asked for
};

} // namespace report
