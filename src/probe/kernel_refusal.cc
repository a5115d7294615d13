#include "probe/kernel_refusal.h"

#include "base/confinement.h"
#include "base/fd.h"
#include "base/privilege.h"
#include "base/text.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace probe {

namespace {

struct Same {
  std::string_view function; // or a pattern
  std::string_view category, event;
};
constexpr Same tracepoints[] = {
    {"vfs_read", "syscalls", "sys_exit_read"},
    {"vfs_write", "syscalls", "sys_exit_write"},
    {"vfs_open", "syscalls", "sys_exit_openat"},
    {"do_sys_open*", "syscalls", "sys_exit_openat"},
    {"do_filp_open", "syscalls", "sys_exit_openat"},
    {"vfs_unlink", "syscalls", "sys_exit_unlinkat"},
    {"do_unlinkat", "syscalls", "sys_exit_unlinkat"},
    {"vfs_mkdir", "syscalls", "sys_exit_mkdirat"},
    {"vfs_fsync*", "syscalls", "sys_exit_fsync"},
    {"vfs_stat*", "syscalls", "sys_exit_newfstatat"},
    {"tcp_v*_connect", "sock", "inet_sock_set_state"},
    {"tcp_set_state", "sock", "inet_sock_set_state"},
    {"inet_csk_accept", "sock", "inet_sock_set_state"},
    {"tcp_close", "sock", "inet_sock_set_state"},
    {"tcp_retransmit_skb", "tcp", "tcp_retransmit_skb"},
    {"__tcp_retransmit_skb", "tcp", "tcp_retransmit_skb"},
    {"tcp_drop*", "skb", "kfree_skb"},
    {"kfree_skb*", "skb", "kfree_skb"},
    {"tcp_sendmsg*", "sock", "sock_send_length"},
    {"tcp_recvmsg*", "sock", "sock_recv_length"},
    {"tcp_cleanup_rbuf", "sock", "sock_recv_length"},
    {"ip_rcv", "net", "netif_receive_skb"},
    {"netif_receive_skb*", "net", "netif_receive_skb"},
    {"__netif_receive_skb*", "net", "netif_receive_skb"},
    {"*dev_queue_xmit", "net", "net_dev_queue"},
    {"dev_hard_start_xmit", "net", "net_dev_start_xmit"},
    {"schedule", "sched", "sched_switch"},
    {"finish_task_switch*", "sched", "sched_switch"},
    {"try_to_wake_up", "sched", "sched_wakeup"},
    {"wake_up_new_task", "sched", "sched_wakeup_new"},
    {"kernel_clone", "sched", "sched_process_fork"},
    {"do_exit", "sched", "sched_process_exit"},
    {"*do_execve*", "sched", "sched_process_exec"},
    {"bprm_execve", "sched", "sched_process_exec"},
    {"submit_bio*", "block", "block_bio_queue"},
    {"blk_mq_start_request", "block", "block_rq_issue"},
    {"blk_account_io_done", "block", "block_rq_complete"},
    {"blk_mq_end_request", "block", "block_rq_complete"},
    {"oom_kill_process", "oom", "mark_victim"},
    {"*kmalloc*", "kmem", "kmalloc"},
    {"kfree", "kmem", "kfree"},
    {"kmem_cache_alloc*", "kmem", "kmem_cache_alloc"},
    {"kmem_cache_free", "kmem", "kmem_cache_free"},
    {"handle_mm_fault", "exceptions", "page_fault_user"},
    {"do_user_addr_fault", "exceptions", "page_fault_user"},
    {"add_to_page_cache_lru", "filemap", "mm_filemap_add_to_page_cache"},
    {"filemap_add_folio", "filemap", "mm_filemap_add_to_page_cache"},
    {"send_signal*", "signal", "signal_generate"},
    {"get_signal", "signal", "signal_deliver"},
};

bool is_there(const std::string& category, const std::string& event) {
  for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
    if (base::is_accessible((std::string(root) + "/events/" + category + "/" + event).c_str(), F_OK)) return true;
  return false;
}

// A file of securityfs; where that is not mounted, by a mount that nobody else sees (fsmount(2), Linux 5.2).
base::Result<std::string> read_of_security(const std::string& name) {
  auto text = base::read_file("/sys/kernel/security/" + name);
  if (text.ok()) return text;
  constexpr unsigned create = 6; // FSCONFIG_CMD_CREATE
  const base::Fd context(static_cast<int>(::syscall(SYS_fsopen, "securityfs", 1U)));
  if (!context.valid() || ::syscall(SYS_fsconfig, context.get(), create, nullptr, nullptr, 0) != 0) return text;
  const base::Fd mount(static_cast<int>(::syscall(SYS_fsmount, context.get(), 1U, 0U)));
  const base::Fd file(mount.valid() ? ::openat(mount.get(), name.c_str(), O_RDONLY | O_CLOEXEC) : -1);
  return file.valid() ? base::read_up_to(file, 4096, name) : text;
}

} // namespace

// "none [integrity] confidentiality"
std::string lockdown() {
  auto text = read_of_security("lockdown");
  if (!text.ok()) return {};
  size_t open = text->find('['), close = text->find(']');
  if (open == text->npos || close == text->npos || close < open) return {};
  std::string word = text->substr(open + 1, close - open - 1);
  return word == "none" ? "" : word;
}

std::string tracepoint_instead(const Event& event) {
  bool at_return = event.kind == Kind::kretprobe || event.kind == Kind::fexit;
  const std::string start = "; a tracepoint that tells the same: tracepoint:";
  // Entry points of system calls: __x64_sys_openat, ksys_read.
  for (std::string_view prefix : {"__x64_sys_", "__se_sys_", "__do_sys_", "ksys_", "__arm64_sys_"}) {
    if (!std::string_view(event.function).starts_with(prefix)) continue;
    std::string name = (at_return ? "sys_exit_" : "sys_enter_") + event.function.substr(prefix.size());
    if (is_there("syscalls", name)) return start + "syscalls:" + name;
  }
  for (const Same& row : tracepoints) {
    if (!base::glob_match(row.function, event.function)) continue;
    std::string name(row.event);
    if (!at_return && row.category == "syscalls") name = "sys_enter_" + name.substr(name.find("exit_") + 5);
    if (is_there(std::string(row.category), name)) return start + std::string(row.category) + ":" + name;
  }
  return {};
}

std::string why_no_kernel_functions(const Event& event) {
  // The kernel lists what perf can open: kprobes if their events are built in.
  constexpr const char* sources = "/sys/bus/event_source/devices";
  if (base::is_accessible(sources, F_OK) && !base::is_accessible((std::string(sources) + "/kprobe").c_str(), F_OK))
    return "this kernel is built without kprobes (CONFIG_KPROBE_EVENTS)";
  if (std::string level = lockdown(); !level.empty()) return "kernel lockdown=" + level + " refuses " + event.provider;
  if (!base::is_accessible("/sys/kernel/tracing/kprobe_events", F_OK) && !base::is_accessible("/sys/kernel/debug/tracing/kprobe_events", F_OK))
    return "tracefs is not mounted, or has no kprobe_events";
  return "this kernel has no such probes";
}

// Modules that check more than capabilities: "selinux, bpf".
static std::string security_modules() {
  auto text = read_of_security("lsm");
  std::string out;
  if (!text.ok()) return out;
  constexpr std::string_view harmless[] = {"capability", "lockdown", "yama", "landlock", "integrity", "ima", "evm", "loadpin", "safesetid"};
  for (std::string_view name : base::split(base::trim(*text), ','))
    if (!name.empty() && std::ranges::find(harmless, name) == std::end(harmless)) out += (out.empty() ? "" : ", ") + std::string(name);
  return out;
}

std::string why_not_permitted(std::initializer_list<base::Capability> needed) {
  if (std::string missing = base::not_permitted(needed); !missing.empty()) return missing;
  const base::Confinement& confinement = base::confinement();
  if (confinement.has_user_namespace) return ": not permitted" + base::permitted_by_capabilities();
  const std::string start = ": the kernel does not permit it, although the capabilities are there: ";
  if (const std::string level = lockdown(); !level.empty()) return start + "kernel lockdown=" + level;
  if (confinement.has_filter) return start + "a filter of system calls (seccomp) is in force" + base::permitted_by("`--security-opt seccomp=unconfined`");
  if (const std::string modules = security_modules(); !modules.empty()) return start + "a security module refuses it (" + modules + "); its log names the rule";
  return start + "it is not lockdown, seccomp or a security module; the kernel may be built without it";
}

base::Error refused_by_kernel(const Event& event, std::string_view what) {
  if (const std::string level = lockdown(); !level.empty())
    return {base::Failure::permission, std::string(what) + ": kernel lockdown=" + level + " refuses " + event.provider + tracepoint_instead(event)};
  const bool has_privilege = base::has_capability(base::Capability::bpf) && base::has_capability(base::Capability::perfmon);
  return {base::Failure::permission, std::string(what) + why_not_permitted() + (has_privilege ? tracepoint_instead(event) : "")};
}

} // namespace probe
