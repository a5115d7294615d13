// The host that a script is compiled for: what the compiler's stages ask of its kernel. Nothing is read before it is
// asked for, and nothing is kept but by a saved host: who asks often keeps the answer (probe::Machine, bpf::Features).
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace format {
class Btf;
class Tracefs;
} // namespace format

namespace host {

// As uname(2) tells.
struct Kernel {
  std::string release; // "6.1.0-18-amd64"
  std::string version; // "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)"
  std::string machine; // "x86_64"
};

struct Clocks {
  uint64_t boot_ns = 0;        // CLOCK_BOOTTIME
  int64_t boot_to_wall_ns = 0; // what that lacks to the wall clock
};

inline constexpr const char* kernel_types_path = "/sys/kernel/btf/vmlinux";

class Environment {
public:
  virtual ~Environment() = default;
  // The kernel that runs here: programs may be tried in it.
  virtual bool is_this_host() const = 0;
  virtual Kernel kernel() = 0;
  virtual uint32_t possible_cpus() = 0;
  virtual Clocks clocks() = 0;
  // A file of /proc or /sys, whole.
  virtual base::Result<std::string> read(const std::string& path) = 0;
  virtual bool can_read(const std::string& path) = 0;
  // The kernel's types, and those of a module with them in front. The name of the module is part of a path.
  virtual base::Result<std::unique_ptr<format::Btf>> types() = 0;
  virtual base::Result<std::unique_ptr<format::Btf>> module_types(const std::string& module, const format::Btf& kernel) = 0;
  // Trace events; lives no longer than this.
  virtual base::Result<format::Tracefs> tracefs() = 0;
  // Addresses of the kernel's symbols, in the order of the names.
  virtual std::vector<std::optional<uint64_t>> addresses(std::span<const std::string_view> names) = 0;
  // What is told of this kernel may be kept between runs under this name; empty: it is not kept.
  virtual std::vector<std::byte> build_id() = 0;
  // What can only be found out by a trial: on this host `trial` runs; a saved one has what it gave there, or `otherwise`
  // where nobody tried.
  virtual int64_t answer(std::string_view question, int64_t otherwise, const std::function<int64_t()>& trial) = 0;
};

// The host that acu runs on.
Environment& this_host();

// One that `acu info --save` wrote to a file. Failures name the file, say what is wrong and what to do.
base::Result<std::unique_ptr<Environment>> open_saved(const std::string& path);

} // namespace host
