// Structures of signals, scheduling, capabilities and of what processes share: struct siginfo, sched_attr, sembuf, mq_attr and
// their like.
#include "trace/structures.h"

#include "spec/numbers.h"
#include "spec/syscalls.h"

#include <algorithm>
#include <csignal>
#include <sys/ipc.h>

namespace trace {

using base::ByteSpan;

namespace {

std::string flags(std::string_view set, uint64_t value) { return spec::flags_text(*spec::find_flag_set(set), value); }

std::string signal_code(uint32_t number, int32_t code) {
  struct Code {
    uint32_t signal; // 0: any
    int32_t code;
    std::string_view name;
  };
  static constexpr Code codes[] = {{0, SI_USER, "SI_USER"},           {0, SI_KERNEL, "SI_KERNEL"},       {0, SI_QUEUE, "SI_QUEUE"},
                                   {0, SI_TIMER, "SI_TIMER"},         {0, SI_MESGQ, "SI_MESGQ"},         {0, SI_ASYNCIO, "SI_ASYNCIO"},
                                   {0, SI_SIGIO, "SI_SIGIO"},         {0, SI_TKILL, "SI_TKILL"},         {SIGCHLD, CLD_EXITED, "CLD_EXITED"},
                                   {SIGCHLD, CLD_KILLED, "CLD_KILLED"}, {SIGCHLD, CLD_DUMPED, "CLD_DUMPED"}, {SIGCHLD, CLD_TRAPPED, "CLD_TRAPPED"},
                                   {SIGCHLD, CLD_STOPPED, "CLD_STOPPED"}, {SIGCHLD, CLD_CONTINUED, "CLD_CONTINUED"}, {SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR"},
                                   {SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR"}, {SIGSEGV, SEGV_PKUERR, "SEGV_PKUERR"}, {SIGBUS, BUS_ADRALN, "BUS_ADRALN"},
                                   {SIGBUS, BUS_ADRERR, "BUS_ADRERR"}, {SIGBUS, BUS_OBJERR, "BUS_OBJERR"}, {SIGFPE, FPE_INTDIV, "FPE_INTDIV"},
                                   {SIGFPE, FPE_INTOVF, "FPE_INTOVF"}, {SIGILL, ILL_ILLOPC, "ILL_ILLOPC"}, {SIGILL, ILL_ILLOPN, "ILL_ILLOPN"},
                                   {SIGILL, ILL_PRVOPC, "ILL_PRVOPC"}, {SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT"}, {SIGTRAP, TRAP_TRACE, "TRAP_TRACE"},
                                   {SIGPOLL, POLL_IN, "POLL_IN"},     {SIGPOLL, POLL_OUT, "POLL_OUT"},   {SIGPOLL, POLL_HUP, "POLL_HUP"},
                                   {SIGSYS, 1, "SYS_SECCOMP"}};
  for (const Code& c : codes)
    if (c.code == code && (c.signal == 0 || c.signal == number)) return std::string(c.name);
  return hexadecimal(static_cast<uint32_t>(code));
}

std::string value_text(uint64_t value) {
  return ", si_int=" + std::to_string(static_cast<int32_t>(value)) + ", si_ptr=" + pointer(value);
}

} // namespace

// struct siginfo of asm-generic/siginfo.h; which members hold is in the code, and for those of the kernel in the signal.
std::string signal_information(ByteSpan bytes) {
  enum : size_t { error = 4, code_at = 8, first = 16, second = 20, third = 24, fourth = 32, fifth = 40 };
  const auto number = number_at<uint32_t>(bytes, 0);
  const auto code = number_at<int32_t>(bytes, code_at);
  if (!number) return "{}";
  auto integer = [&](size_t at) { return std::to_string(number_at<int32_t>(bytes, at)); };
  std::string out = "{si_signo=" + signal(number) + ", si_code=" + signal_code(number, code);
  if (const auto failure = number_at<uint32_t>(bytes, error)) {
    const std::string_view name = spec::error_name(static_cast<int>(failure));
    out += ", si_errno=" + (name.empty() ? std::to_string(failure) : std::string(name));
  }
  const bool is_fault = number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGTRAP;
  const std::string sender = ", si_pid=" + integer(first) + ", si_uid=" + integer(second);
  const std::string file = ", si_band=" + std::to_string(number_at<int64_t>(bytes, first)) + ", si_fd=" + integer(third);
  const auto pointed = number_at<uint64_t>(bytes, third);
  if (code == SI_USER || code == SI_TKILL) {
    out += sender;
  } else if (code == SI_TIMER) {
    out += ", si_timerid=" + hexadecimal(number_at<uint32_t>(bytes, first)) + ", si_overrun=" + integer(second) + value_text(pointed);
  } else if (code == SI_SIGIO) {
    out += file;
  } else if (code < 0) {
    out += sender + (pointed ? value_text(pointed) : "");
  } else if (number == SIGCHLD) {
    const auto status = number_at<uint32_t>(bytes, third);
    auto ticks = [&](size_t at) { return std::to_string(number_at<int64_t>(bytes, at)); };
    out += sender + ", si_status=" + (code == CLD_EXITED ? std::to_string(static_cast<int32_t>(status)) : signal(status)) + ", si_utime=" + ticks(fourth) +
           ", si_stime=" + ticks(fifth);
  } else if (is_fault) {
    out += ", si_addr=" + pointer(number_at<uint64_t>(bytes, first));
  } else if (number == SIGPOLL) {
    if (code >= POLL_IN && code <= POLL_HUP) out += file;
  } else if (number == SIGSYS) {
    out += ", si_call_addr=" + pointer(number_at<uint64_t>(bytes, first)) + ", si_syscall=" + call_name(number_at<int32_t>(bytes, third)) +
           ", si_arch=" + flags("audit_machine", number_at<uint32_t>(bytes, third + 4));
  } else {
    out += (number_at<uint64_t>(bytes, first) ? sender : "") + (pointed ? value_text(pointed) : "");
  }
  return out + "}";
}

void show_siginfo(std::string& out, const Shown& v) { out += signal_information(v.bytes); }

// struct sched_attr of linux/sched/types.h; as much of it as its size says.
void show_sched_attr(std::string& out, const Shown& v) {
  enum : size_t { policy = 4, bits = 8, nice = 16, priority = 20, runtime = 24, deadline = 32, period = 40, least = 48, most = 52, all = 56 };
  const uint32_t size = v.call.number == spec::syscall_named("sched_getattr") ? static_cast<uint32_t>(std::min<uint64_t>(v.call.arguments[2], all)) : number_at<uint32_t>(v.bytes, 0);
  auto whole = [&](size_t at) { return std::to_string(number_at<uint64_t>(v.bytes, at)); };
  auto half = [&](size_t at) { return std::to_string(number_at<uint32_t>(v.bytes, at)); };
  out += "{size=" + half(0) + ", sched_policy=" + flags("sched_policy", number_at<uint32_t>(v.bytes, policy)) +
         ", sched_flags=" + flags("sched_flags", number_at<uint64_t>(v.bytes, bits)) + ", sched_nice=" + std::to_string(number_at<int32_t>(v.bytes, nice)) +
         ", sched_priority=" + half(priority) + ", sched_runtime=" + whole(runtime) + ", sched_deadline=" + whole(deadline) + ", sched_period=" + whole(period);
  if (size >= all) out += ", sched_util_min=" + half(least) + ", sched_util_max=" + half(most);
  out += "}";
}

// struct __user_cap_header_struct, and the data: two structures from version 2 on, whose bits belong together.
void show_cap_header(std::string& out, const Shown& v) {
  out += "{version=" + flags("cap_version", number_at<uint32_t>(v.bytes, 0)) + ", pid=" + std::to_string(number_at<int32_t>(v.bytes, 4)) + "}";
}

void show_cap_data(std::string& out, const Shown& v) {
  constexpr uint32_t first_version = 0x19980330; // has one structure
  const bool has_upper = number_at<uint32_t>(v.call.copied[0], 0) != first_version;
  auto set = [&](size_t at) {
    const uint64_t bits = number_at<uint32_t>(v.bytes, at) | (has_upper ? uint64_t{number_at<uint32_t>(v.bytes, at + 12)} << 32 : 0);
    std::string text;
    uint64_t rest = bits;
    for (const spec::NamedValue& c : spec::find_flag_set("capability")->values)
      if (bits >> c.value & 1) {
        text.append(text.empty() ? "1<<" : "|1<<").append(c.name);
        rest &= ~(uint64_t{1} << c.value);
      }
    if (rest) text += (text.empty() ? "" : "|") + hexadecimal(rest);
    return text.empty() ? std::string("0") : text;
  };
  out += "{effective=" + set(0) + ", permitted=" + set(4) + ", inheritable=" + set(8) + "}";
}

void show_groups(std::string& out, const Shown& v) {
  if (!v.count) return void(out += "[]");
  constexpr size_t shown = 32; // as strace has it
  out += "[";
  size_t n = 0;
  for (; n < shown && 4 * n + 4 <= v.bytes.size(); n++) out.append(n ? ", " : "").append(std::to_string(number_at<int32_t>(v.bytes, 4 * n)));
  out += v.count > n ? ", ...]" : "]";
}

// struct sembuf, three halves of a word each.
void show_semaphore_operations(std::string& out, const Shown& v) {
  out += "[";
  for (size_t at = 0; at + 6 <= v.bytes.size(); at += 6)
    out += (at ? ", {sem_num=" : "{sem_num=") + std::to_string(number_at<uint16_t>(v.bytes, at)) + ", sem_op=" + std::to_string(number_at<int16_t>(v.bytes, at + 2)) +
           ", sem_flg=" + flags("semaphore_flags", number_at<uint16_t>(v.bytes, at + 4)) + "}";
  out += v.count * 6 > v.bytes.size() ? ", ...]" : "]";
}

// struct msgbuf: its type, and as many bytes of text as the third argument or the result says.
void show_queued_message(std::string& out, const Shown& v) {
  const bool is_received = v.call.number == spec::syscall_named("msgrcv");
  const uint64_t length = is_received ? static_cast<uint64_t>(std::max<int64_t>(v.call.result, 0)) : v.call.arguments[2];
  const ByteSpan text = v.bytes.subspan(std::min<size_t>(8, v.bytes.size()));
  const size_t shown = std::min<uint64_t>({length, text.size(), v.options.data});
  out += "{mtype=" + std::to_string(number_at<int64_t>(v.bytes, 0)) + ", mtext=" + quoted(text.first(shown), length > shown) + "}";
}

static std::string permissions(ByteSpan bytes) {
  enum : size_t { key = 0, uid = 4, gid = 8, cuid = 12, cgid = 16, mode = 20 };
  auto id = [&](size_t at) { return std::to_string(number_at<uint32_t>(bytes, at)); };
  return "{uid=" + id(uid) + ", gid=" + id(gid) + ", mode=" + octal(number_at<uint16_t>(bytes, mode) & 0777) + ", key=" + id(key) + ", cuid=" + id(cuid) +
         ", cgid=" + id(cgid) + "}";
}

// struct shmid64_ds and msqid64_ds of asm-generic, behind struct ipc64_perm of 48 bytes.
static bool has_status(const Shown& v) { return (v.call.arguments[1] & 0xff) == IPC_STAT || (v.call.arguments[1] & 0xff) == IPC_SET; }

void show_shm_status(std::string& out, const Shown& v) {
  if (!has_status(v) || v.bytes.size() < 104 || v.call.failed()) return void(out += pointer(v.value));
  auto time = [&](size_t at) { return std::to_string(number_at<int64_t>(v.bytes, at)); };
  out += "{shm_perm=" + permissions(v.bytes);
  if ((v.call.arguments[1] & 0xff) == IPC_STAT)
    out += ", shm_segsz=" + time(48) + ", shm_cpid=" + std::to_string(number_at<int32_t>(v.bytes, 80)) + ", shm_lpid=" + std::to_string(number_at<int32_t>(v.bytes, 84)) +
           ", shm_nattch=" + time(88) + ", shm_atime=" + time(56) + ", shm_dtime=" + time(64) + ", shm_ctime=" + time(72);
  out += "}";
}

void show_msg_status(std::string& out, const Shown& v) {
  if (!has_status(v) || v.bytes.size() < 104 || v.call.failed()) return void(out += pointer(v.value));
  auto number = [&](size_t at) { return std::to_string(number_at<int64_t>(v.bytes, at)); };
  out += "{msg_perm=" + permissions(v.bytes);
  if ((v.call.arguments[1] & 0xff) == IPC_STAT)
    out += ", msg_stime=" + number(48) + ", msg_rtime=" + number(56) + ", msg_ctime=" + number(64) + ", msg_qnum=" + number(80) + ", msg_qbytes=" + number(88) +
           ", msg_lspid=" + std::to_string(number_at<int32_t>(v.bytes, 96)) + ", msg_lrpid=" + std::to_string(number_at<int32_t>(v.bytes, 100));
  else
    out += ", msg_qbytes=" + number(88);
  out += "}";
}

// A number for SETVAL, else an address.
void show_semaphore_argument(std::string& out, const Shown& v) { out += pointer(v.value); }

void show_queue_attributes(std::string& out, const Shown& v) {
  auto number = [&](size_t at) { return std::to_string(number_at<int64_t>(v.bytes, at)); };
  out += "{mq_flags=" + flags("queue_flags", number_at<uint64_t>(v.bytes, 0)) + ", mq_maxmsg=" + number(8) + ", mq_msgsize=" + number(16) +
         ", mq_curmsgs=" + number(24) + "}";
}

void show_process_times(std::string& out, const Shown& v) {
  auto ticks = [&](size_t at) { return std::to_string(number_at<int64_t>(v.bytes, at)); };
  out += "{tms_utime=" + ticks(0) + ", tms_stime=" + ticks(8) + ", tms_cutime=" + ticks(16) + ", tms_cstime=" + ticks(24) + "}";
}

} // namespace trace
