#include "base/privilege.h"

#include "base/confinement.h"
#include "base/text.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace base {

namespace {

struct Sets {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  bool read() { return ::syscall(SYS_capget, &header, data) == 0; }
};

constexpr std::pair<Capability, std::string_view> names[] = {
    {Capability::dac_override, "CAP_DAC_OVERRIDE"}, {Capability::dac_read_search, "CAP_DAC_READ_SEARCH"}, {Capability::sys_ptrace, "CAP_SYS_PTRACE"},
    {Capability::sys_admin, "CAP_SYS_ADMIN"},       {Capability::sys_resource, "CAP_SYS_RESOURCE"},       {Capability::syslog, "CAP_SYSLOG"},
    {Capability::perfmon, "CAP_PERFMON"},           {Capability::bpf, "CAP_BPF"},
};

bool includes(uint64_t set, Capability c) { return set >> static_cast<unsigned>(c) & 1; }

} // namespace

std::string_view name_of(Capability capability) {
  for (const auto& [c, name] : names)
    if (c == capability) return name;
  return "";
}

uint64_t effective_capabilities() {
  Sets sets;
  if (!sets.read()) return 0;
  return sets.data[0].effective | uint64_t{sets.data[1].effective} << 32;
}

bool has_capability(Capability capability) {
  const uint64_t set = effective_capabilities();
  const bool is_part_of_admin = capability == Capability::bpf || capability == Capability::perfmon || capability == Capability::syslog;
  return includes(set, capability) || (is_part_of_admin && includes(set, Capability::sys_admin)) ||
         (capability == Capability::dac_read_search && includes(set, Capability::dac_override));
}

std::string missing_of(std::initializer_list<Capability> needed) {
  std::string out;
  size_t count = 0;
  for (Capability c : needed) {
    if (has_capability(c)) continue;
    out += (count++ ? " and " : "") + std::string(name_of(c));
  }
  return out.empty() ? out : out + (count > 1 ? " are missing" : " is missing");
}

std::string not_permitted(std::initializer_list<Capability> needed) {
  const std::string missing = missing_of(needed);
  if (missing.empty()) return missing;
  std::string set = "cap_bpf,cap_perfmon,cap_dac_read_search";
  for (Capability c : needed)
    if (const std::string name = lower(name_of(c)); set.find(name) == set.npos) set += "," + name;
  return ": not permitted: " + missing + ". Run acu as root, or give it these: setcap " + set + "+ep ACU" + permitted_by_capabilities();
}

bool is_accessible(const char* path, int mode) { return ::faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0; }

void keep_session_capabilities() {
  constexpr int kept[] = {CAP_CHOWN,      CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_KILL,    CAP_SETGID,  CAP_SETUID,
                          CAP_SYS_CHROOT, CAP_SYS_PTRACE,   CAP_SYS_ADMIN,       CAP_SYSLOG, CAP_PERFMON, CAP_BPF,     CAP_SYS_RESOURCE,
                          CAP_NET_ADMIN,  CAP_IPC_LOCK,     CAP_SYS_NICE,        CAP_CHECKPOINT_RESTORE};
  uint32_t mask[2] = {};
  for (int c : kept) mask[c / 32] |= uint32_t{1} << c % 32;
  Sets sets;
  if (!sets.read()) return;
  for (int i : {0, 1}) {
    sets.data[i].effective &= mask[i];
    sets.data[i].permitted &= mask[i];
    sets.data[i].inheritable &= mask[i];
  }
  ::syscall(SYS_capset, &sets.header, sets.data); // fewer rights than before: never refused
}

} // namespace base
