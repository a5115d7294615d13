// The host that acu runs on: each question goes to the kernel when it is asked.
#include "host/environment.h"

#include "base/privilege.h"
#include "base/text.h"
#include "format/btf.h"
#include "format/tracefs.h"
#include "host/cpus.h"
#include "symbol/kallsyms.h"

#include <ctime>
#include <sys/utsname.h>
#include <unistd.h>

namespace host {

namespace {

uint64_t now_ns(clockid_t clock) {
  timespec t = {};
  ::clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

class ThisHost : public Environment {
public:
  bool is_this_host() const override { return true; }
  Kernel kernel() override {
    utsname about = {};
    ::uname(&about);
    return {about.release, about.version, about.machine};
  }
  uint32_t possible_cpus() override { return host::possible_cpus(); }
  Clocks clocks() override {
    return {now_ns(CLOCK_BOOTTIME), static_cast<int64_t>(now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME))};
  }
  base::Result<std::string> read(const std::string& path) override { return base::read_file(path); }
  bool can_read(const std::string& path) override { return base::is_accessible(path.c_str(), R_OK); }
  base::Result<std::unique_ptr<format::Btf>> types() override { return format::Btf::open(kernel_types_path); }
  base::Result<std::unique_ptr<format::Btf>> module_types(const std::string& module, const format::Btf& kernel) override {
    return format::Btf::open_split("/sys/kernel/btf/" + module, kernel);
  }
  base::Result<format::Tracefs> tracefs() override { return format::Tracefs::open(); }
  std::vector<std::optional<uint64_t>> addresses(std::span<const std::string_view> names) override {
    return symbol::Kallsyms().addresses(names);
  }
  std::vector<std::byte> build_id() override { return symbol::kernel_build_id(); }
  int64_t answer(std::string_view, int64_t, const std::function<int64_t()>& trial) override { return trial(); }
};

} // namespace

Environment& this_host() {
  static ThisHost host;
  return host;
}

} // namespace host
