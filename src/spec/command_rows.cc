#include "spec/command_rows.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace spec {

namespace {

constexpr CommandCall calls[] = {{"prctl", 0},  {"ptrace", 0},  {"keyctl", 0},   {"quotactl", 0, 8}, {"quotactl_fd", 1, 8}, {"syslog", 0},
                                 {"kcmp", 2},   {"seccomp", 0}, {"fsconfig", 1}, {"reboot", 2},      {"ioctl", 1},       {"arch_prctl", 0},
                                 {"futex", 1, 0, 127}};

// clang-format off
namespace written {
constexpr CommandRow rows[] = {
    // PR_GET_DUMPABLE, PR_GET_KEEPCAPS, PR_GET_TIMING, PR_GET_SECCOMP, PR_GET_SECUREBITS, PR_GET_TIMERSLACK, PR_TASK_PERF_EVENTS_*
    {"prctl", "3 7 13 21 27 30 31 32", "prctl_option"},
    {"prctl", "1", "prctl_option death_signal"},
    {"prctl", "2", "prctl_option signal_out"},
    {"prctl", "4", "prctl_option dumpable"},
    {"prctl", "9 11 19 37", "prctl_option int_out"},
    {"prctl", "8 10 12 14 20 36", "prctl_option ulong"},
    {"prctl", "15 16 23 24", "prctl_option prctl_argument"},
    {"prctl", "22", "prctl_option seccomp_mode hex hex hex"},
    {"prctl", "25", "prctl_option ptr"},
    {"prctl", "26", "prctl_option time_stamp_counter"},
    {"prctl", "28", "prctl_option secure_bits"},
    {"prctl", "29", "prctl_option long"},
    {"prctl", "33", "prctl_option machine_check_kill machine_check_argument hex hex"},
    {"prctl", "35", "prctl_option memory_field hex hex hex"},
    {"prctl", "38 41 57", "prctl_option ulong hex hex hex"},
    {"prctl", "40", "prctl_option pointer_out"},
    {"prctl", "47", "prctl_option ambient_capability ambient_argument hex hex"},
    {"prctl", "52", "prctl_option speculation"},
    {"prctl", "53", "prctl_option speculation speculation_argument"},
    {"prctl", "59", "prctl_option dispatch hex hex ptr"},
    {"prctl", "62", "prctl_option core_scheduling pid hex32 ptr"},
    {"prctl", "0x53564d41", "prctl_option vma_attribute ptr ulong text"},
    {"prctl", "0x59616d61", "prctl_option ptracer"},
    // ARCH_SET_GS, ARCH_SET_FS; ARCH_GET_FS, ARCH_GET_GS
    {"arch_prctl", "0x1001 0x1002", "arch_code ptr"},
    {"arch_prctl", "0x1003 0x1004", "arch_code pointer_out"},
    // ARCH_GET_XCOMP_SUPP, ARCH_GET_XCOMP_PERM, ARCH_GET_XCOMP_GUEST_PERM; ARCH_REQ_XCOMP_PERM, ARCH_REQ_XCOMP_GUEST_PERM
    {"arch_prctl", "0x1021 0x1022 0x1024", "arch_code pointer_out"},
    {"arch_prctl", "0x1023 0x1025", "arch_code cpu_feature_number"},
    {"arch_prctl", "*", "arch_code hex"},
    {"ptrace", "0", "ptrace_request"},
    // PTRACE_KILL, PTRACE_ATTACH, PTRACE_INTERRUPT, PTRACE_LISTEN
    {"ptrace", "8 16 0x4207 0x4208", "ptrace_request pid"},
    // What continues, with a signal.
    {"ptrace", "7 9 17 24 31 32 33", "ptrace_request pid ptr signal"},
    {"ptrace", "12 13 14 15", "ptrace_request pid left_out ptr"},
    {"ptrace", "21 0x4200 0x4206", "ptrace_request pid ptr ptrace_options"},
    {"ptrace", "3 6", "ptrace_request pid user_offset ptr"},
    {"ptrace", "0x4204 0x4205", "ptrace_request pid core_note ptr"},
    {"ptrace", "0x420a 0x420b 0x420c 0x420d 0x420e", "ptrace_request pid ulong ptr"},
    {"keyctl", "0", "keyctl_operation key_serial int"},
    {"keyctl", "1", "keyctl_operation text"},
    {"keyctl", "2 6 11 17", "keyctl_operation key_serial ptr ulong"},
    {"keyctl", "3 7 16 21", "keyctl_operation key_serial"},
    {"keyctl", "4", "keyctl_operation key_serial id id"},
    {"keyctl", "5", "keyctl_operation key_serial key_permissions"},
    {"keyctl", "8 9", "keyctl_operation key_serial key_serial"},
    {"keyctl", "10", "keyctl_operation key_serial text text key_serial"},
    {"keyctl", "12 20", "keyctl_operation key_serial ptr ulong key_serial"},
    {"keyctl", "13", "keyctl_operation key_serial uint key_serial"},
    {"keyctl", "14", "keyctl_operation int"},
    {"keyctl", "15", "keyctl_operation key_serial uint"},
    {"keyctl", "18", "keyctl_operation"},
    {"keyctl", "19", "keyctl_operation key_serial uint uint key_serial"},
    {"keyctl", "22", "keyctl_operation id key_serial"},
    {"keyctl", "23", "keyctl_operation hex ptr ulong ptr"},
    {"keyctl", "24", "keyctl_operation key_serial hex ptr ptr"},
    {"keyctl", "29", "keyctl_operation key_serial text text"},
    {"keyctl", "30", "keyctl_operation key_serial key_serial key_serial key_move_flags"},
    {"keyctl", "31", "keyctl_operation ptr ulong"},
    // FUTEX_WAIT; FUTEX_WAKE, FUTEX_FD; FUTEX_REQUEUE; FUTEX_CMP_REQUEUE, also of PI; FUTEX_WAKE_OP
    {"futex", "0", "ptr futex_operation uint futex_timeout"},
    {"futex", "1 2", "ptr futex_operation uint"},
    {"futex", "3", "ptr futex_operation uint uint ptr"},
    {"futex", "4 12", "ptr futex_operation uint uint ptr uint"},
    {"futex", "5", "ptr futex_operation uint uint ptr futex_wake_operation"},
    // FUTEX_LOCK_PI, FUTEX_LOCK_PI2; FUTEX_UNLOCK_PI, FUTEX_TRYLOCK_PI; FUTEX_WAIT_BITSET; FUTEX_WAKE_BITSET; FUTEX_WAIT_REQUEUE_PI
    {"futex", "6 13", "ptr futex_operation left_out futex_timeout"},
    {"futex", "7 8", "ptr futex_operation"},
    {"futex", "9", "ptr futex_operation uint futex_timeout left_out futex_bits"},
    {"futex", "10", "ptr futex_operation uint left_out left_out futex_bits"},
    {"futex", "11", "ptr futex_operation uint futex_timeout ptr"},
    {"futex", "*", "ptr futex_operation uint ptr ptr hex32"},
    // Q_SYNC, Q_QUOTAOFF, Q_XQUOTASYNC; then those of the whole file system, which take no id.
    {"quotactl", "0x800001 0x800003 0x5807", "quota_code path"},
    {"quotactl", "0x800004 0x800005 0x800006 0x5801 0x5802 0x5805 0x5806 0x5808", "quota_code path left_out ptr"},
    {"quotactl", "0x800002", "quota_code path quota_format path"},
    {"quotactl_fd", "0x800001 0x800003 0x5807", "fd quota_code"},
    {"quotactl_fd", "0x800004 0x800005 0x800006 0x5801 0x5802 0x5805 0x5806 0x5808", "fd quota_code left_out ptr"},
    {"syslog", "0 1 5 6 7 9 10", "syslog_type"},
    {"syslog", "8", "syslog_type ptr console_level"},
    {"kcmp", "0", "pid pid kcmp_type fd fd"},
    {"kcmp", "7", "pid pid kcmp_type fd ptr"},
    {"kcmp", "1 2 3 4 5 6", "pid pid kcmp_type"},
    {"seccomp", "1", "seccomp_operation seccomp_filter_flags ptr"},
    {"fsconfig", "0 2", "fd fsconfig_command text ptr int"},
    {"fsconfig", "3 4", "fd fsconfig_command text text dirfd"},
    {"fsconfig", "5", "fd fsconfig_command text ptr fd"},
    {"fsconfig", "6 7 *", "fd fsconfig_command ptr ptr int"},
    {"fsconfig", "1", "fd fsconfig_command text text int"},
    {"reboot", "0xa1b2c3d4", "reboot_magic reboot_magic_2 reboot_command text"},
    {"reboot", "*", "reboot_magic reboot_magic_2 reboot_command"},
    // Of terminals and descriptors: TIOCEXCL, TIOCNXCL, TIOCCONS, TIOCNOTTY, TIOCSBRK, TIOCCBRK, TIOCVHANGUP, TIOCSSERIAL, FIONCLEX, FIOCLEX
    {"ioctl", "0x540c 0x540d 0x541d 0x5422 0x5427 0x5428 0x5437 0x541f 0x5450 0x5451", "fd ioctl_code"},
    // TCSBRK, TCSBRKP, TIOCSCTTY; TCXONC; TCFLSH; those of serial lines that strace does not know more about
    {"ioctl", "0x5409 0x5425 0x540e", "fd ioctl_code int"},
    {"ioctl", "0x540a", "fd ioctl_code line_flow"},
    {"ioctl", "0x540b", "fd ioctl_code line_queue"},
    {"ioctl", "0x541c 0x541e 0x542e 0x542f 0x5432 0x5433 0x5434 0x5435 0x5441 0x5453 0x5454 0x5455 0x5458 0x5459 0x545a 0x545b 0x545c 0x545d 0x5460", "fd ioctl_code hex"},
};
} // namespace written
constexpr CommandTable rows = CommandTable::of<written::rows>();
// clang-format on

bool names(const CommandRow& row, uint32_t command) {
  for (std::string_view word : base::split(row.commands, ' ')) {
    const bool is_hex = word.starts_with("0x");
    const std::string_view digits = is_hex ? word.substr(2) : word;
    uint32_t number = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), number, is_hex ? 16 : 10).ec == std::errc() && number == command) return true;
  }
  return false;
}

} // namespace

CommandTable command_rows() { return rows; }

const CommandCall* find_command_call(std::string_view name) {
  const auto* at = std::find_if(std::begin(calls), std::end(calls), [&](const CommandCall& c) { return c.name == name; });
  return at == std::end(calls) ? nullptr : at;
}

std::optional<size_t> find_command_row(std::string_view call, uint32_t command) {
  std::optional<size_t> others;
  for (size_t i = 0; i < rows.size(); i++) {
    const CommandRow row = rows[i];
    if (row.call != call) continue;
    if (names(row, command)) return i;
    if (row.commands.ends_with('*')) others = i;
  }
  return others;
}

} // namespace spec
