// Attaching to functions of the kernel.
//
// Links for many functions (BPF_TRACE_KPROBE_MULTI) name them; the kernel refuses a link as a whole when one
// of them cannot be probed, so the list is halved until those are found. Where the kernel has no such links,
// and for instructions within functions, one event of tracefs stands for all places: a line
//   p:GROUP/NAME [MODULE:]FUNCTION+OFFSET      or      rMAX:GROUP/NAME [MODULE:]FUNCTION
// for each in kprobe_events (Linux 5.5), then one event of perf for all of them. MAX is how many calls that
// have not returned yet the kernel can keep; those beyond are missed, and told in kprobe_profile. Where
// tracefs can't be written, perf makes an event for each place.
//
// See bpf(2), the kernel's include/uapi/linux/bpf.h (link_create.kprobe_multi),
// Documentation/trace/kprobetrace.rst.
#include "probe/attach_kernel.h"
#include "probe/kernel_refusal.h"
#include "probe/kinds.h"
#include "probe/trace_definitions.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/bpf.h>
#include <map>
#include <sys/syscall.h>
#include <unistd.h>
#include <unordered_map>

namespace probe {

namespace {

constexpr uint32_t multi_type = 42, session_type = 56; // enum bpf_attach_type
constexpr uint32_t multi_return = 1;                   // BPF_F_KPROBE_MULTI_RETURN

// The part of union bpf_attr that BPF_LINK_CREATE takes for links of many functions.
struct MultiRequest {
  uint32_t program, target, type, flags;
  uint32_t multi_flags, count;
  uint64_t names, addresses, cookies;
};

int link_create(MultiRequest& request) {
  return static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &request, sizeof request));
}

bool is_return(const Event& e) { return e.kind == Kind::kretprobe; }

// "[MODULE:]FUNCTION+OFFSET", as tracefs wants it.
std::string place_of(const Event& e) {
  std::string out = e.category.empty() ? e.function : e.category + ":" + e.function;
  return e.offset ? out + "+" + std::to_string(e.offset) : out;
}

base::Error refused_function(const Event& e, int code) {
  std::string start = "cannot attach " + e.name + ": ";
  switch (code) {
  case ENOENT:
  case ESRCH:
    return {base::Failure::nothing_matched, start + "the kernel has no code of its own for " +
                                                base::quoted(e.function) +
                                                " that can be probed: it was put into its callers, belongs "
                                                "to a module that is gone, or is kept from "
                                                "tracers"};
  case EPERM:
  case EACCES: return refused_by_kernel(e, "cannot attach " + e.name);
  case EOPNOTSUPP:
  case 524: // ENOTSUPP, which has no name outside the kernel
    return {base::Failure::unsupported, start + why_no_kernel_functions(e) + tracepoint_instead(e)};
  case EILSEQ: return {base::Failure::usage, start + "no instruction begins at " + base::quoted(place_of(e))};
  case EADDRNOTAVAIL:
    return {base::Failure::usage, start + "several functions are called " + base::quoted(e.function) +
                                      ", and the kernel does not choose among them"};
  case EINVAL:
    return {base::Failure::runtime, start + "the kernel does not let " + base::quoted(place_of(e)) +
                                        " be probed (see /sys/kernel/debug/kprobes/blacklist); its callers "
                                        "and most of what it calls can be"};
  }
  return refused(e, "creating the link", code);
}

// Of one function, others may still be attached.
bool is_of_one(int code) {
  return code == EINVAL || code == ENOENT || code == ESRCH || code == EBUSY || code == EADDRNOTAVAIL ||
         code == EILSEQ || code == EEXIST;
}

class Links {
public:
  Links(const KernelProgram& program, const Refusal& refused, Attachment& out)
      : program_(program), refused_(refused), out_(out) {}

  // The functions `which` (indices); all entries, or all returns.
  base::Status attach(std::span<const size_t> which) {
    int fd = create(which);
    if (fd >= 0) return out_.links.emplace_back(fd), base::Status();
    int code = errno;
    if (which.size() > 1 && is_of_one(code)) {
      ACU_CHECK(attach(which.first(which.size() / 2)));
      return attach(which.subspan(which.size() / 2));
    }
    for (size_t i : which) {
      base::Error why = refused_function(*program_.events[i], code);
      if (!refused_) return why;
      ACU_CHECK(refused_(std::move(why)));
    }
    return {};
  }

private:
  int create(std::span<const size_t> which) const {
    std::vector<uint64_t> names, cookies;
    for (size_t i : which) {
      names.push_back(reinterpret_cast<uintptr_t>(program_.events[i]->function.c_str()));
      if (!program_.cookies.empty()) cookies.push_back(program_.cookies[i]);
    }
    bool at_return = program_.link != KernelLink::session && is_return(*program_.events[which.front()]);
    MultiRequest request{};
    request.program = static_cast<uint32_t>(program_.fd);
    request.type = attach_type_of(program_.link);
    request.multi_flags = at_return ? multi_return : 0;
    request.count = static_cast<uint32_t>(names.size());
    request.names = reinterpret_cast<uintptr_t>(names.data());
    if (!cookies.empty()) request.cookies = reinterpret_cast<uintptr_t>(cookies.data());
    return link_create(request);
  }

  const KernelProgram& program_;
  const Refusal& refused_;
  Attachment& out_;
};

// Calls that have not returned yet, of each of so many functions: the kernel takes at most 4096, and keeps
// some 100 bytes for each from the start.
std::string most_active(size_t functions) {
  return std::to_string(std::clamp<size_t>(65536 / functions, 64, 4096));
}

class Events {
public:
  Events(const KernelProgram& program, const Refusal& refused, Attachment& out)
      : program_(program), refused_(refused), out_(out) {}

  base::Status attach(std::span<const size_t> which) {
    if (TraceDefinitions::of_kernel().may_define()) return attach_together(which);
    for (size_t i : which)
      if (int code = attach_one(*program_.events[i], cookie_of(i))) ACU_CHECK(refuse(i, code));
    return {};
  }

private:
  const uint64_t* cookie_of(size_t i) const {
    return program_.cookies.empty() ? nullptr : &program_.cookies[i];
  }

  base::Status refuse(size_t i, int code) {
    base::Error why = refused_function(*program_.events[i], code);
    if (!refused_) return why;
    return refused_(std::move(why));
  }

  base::Status attach_together(std::span<const size_t> which) {
    TraceDefinitions& definer = TraceDefinitions::of_kernel();
    std::string name = definer.next_name();
    bool at_return = is_return(*program_.events[which.front()]);
    std::string start = (at_return ? "r" + most_active(which.size()) + ":" : "p:") + name + " ";
    std::vector<size_t> defined;
    for (size_t i : which) {
      int code = definer.write(start + place_of(*program_.events[i]) + "\n");
      // The same place again, by another name of it.
      if (code && code != EEXIST) ACU_CHECK(refuse(i, code));
      if (code) continue;
      if (defined.empty()) {
        out_.definitions.file = definer.file_name();
        out_.definitions.undo.push_back("-:" + name + "\n");
      }
      defined.push_back(i);
    }
    if (defined.empty()) return {};
    perf_event_attr attr{};
    attr.type = PERF_TYPE_TRACEPOINT;
    attr.config = definer.id_of(name);
    base::Fd perf(attr.config ? open_perf_event(attr) : -1);
    int code = !perf.valid()
                   ? (attr.config ? errno : ENOENT)
                   : start_perf_event(std::move(perf), program_.fd, cookie_of(defined.front()), out_);
    if (code)
      for (size_t i : defined) ACU_CHECK(refuse(i, code));
    else
      out_.defined.push_back(name.substr(name.find('/') + 1));
    return {};
  }

  // 0, or an errno.
  int attach_one(const Event& e, const uint64_t* cookie) {
    perf_event_attr attr = kernel_function_event(e);
    if (!attr.type) return EOPNOTSUPP;
    base::Fd perf(open_perf_event(attr));
    if (!perf.valid()) return errno;
    return start_perf_event(std::move(perf), program_.fd, cookie, out_);
  }

  const KernelProgram& program_;
  const Refusal& refused_;
  Attachment& out_;
};

// "  e0_123      1000      3": name, hits, misses.
uint64_t misses_in_profile(const std::vector<std::string>& names) {
  std::string file = TraceDefinitions::of_kernel().file_name();
  file.replace(file.rfind('/') + 1, file.npos, "kprobe_profile");
  auto text = base::read_file(file);
  uint64_t out = 0;
  if (!text.ok()) return out;
  for (std::string_view line : base::split(*text, '\n')) {
    line = base::trim(line);
    size_t name_end = line.find(' '), last = line.rfind(' ');
    if (name_end == line.npos) continue;
    if (std::find(names.begin(), names.end(), line.substr(0, name_end)) == names.end()) continue;
    out += base::parse_integer(line.substr(last + 1)).value_or(0);
  }
  return out;
}

// The start of struct bpf_link_info, as far as it tells of misses (Linux 6.7).
struct LinkInfo {
  uint32_t type, id, program, zero;
  union {
    struct {
      uint64_t addresses;
      uint32_t count, flags;
      uint64_t missed;
    } multi;
    struct {
      uint32_t type, zero;
      uint64_t name;
      uint32_t name_length, offset;
      uint64_t address, missed;
    } perf;
  };
};

uint64_t misses_of_link(int fd) {
  constexpr uint32_t perf_link = 7, multi_link = 8;       // enum bpf_link_type
  constexpr uint32_t perf_kprobe = 3, perf_kretprobe = 4; // enum bpf_perf_event_type
  LinkInfo info{};
  struct {
    uint32_t fd, length;
    uint64_t info;
  } request{static_cast<uint32_t>(fd), sizeof info, reinterpret_cast<uintptr_t>(&info)};
  if (::syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &request, sizeof request) != 0) return 0;
  if (info.type == multi_link) return info.multi.missed;
  bool is_probe = info.perf.type == perf_kprobe || info.perf.type == perf_kretprobe;
  return info.type == perf_link && is_probe ? info.perf.missed : 0;
}

} // namespace

uint32_t attach_type_of(KernelLink link) {
  switch (link) {
  case KernelLink::event: return 0;
  case KernelLink::multi: return multi_type;
  case KernelLink::session: return session_type;
  }
  return 0;
}

int try_kernel_link(KernelLink link, int program_fd) {
  MultiRequest request{};
  request.program = static_cast<uint32_t>(program_fd);
  request.type = attach_type_of(link);
  request.count = 1;
  request.addresses = sizeof(uint64_t); // in the lowest page, where nothing is
  int fd = link_create(request);
  if (fd < 0) return errno;
  ::close(fd);
  return 0;
}

base::Result<Attachment> attach_kernel(const KernelProgram& program, const Refusal& refused) {
  Attachment out;
  Links links(program, refused, out);
  Events events(program, refused, out);
  // Entries and returns are attached apart, and what one event of tracefs tells the program is the same for
  // all of its places.
  std::map<std::pair<bool, uint64_t>, std::vector<size_t>> groups;
  bool by_event = program.link == KernelLink::event;
  for (size_t i = 0; i < program.events.size(); i++) {
    bool at_return = program.link != KernelLink::session && is_return(*program.events[i]);
    groups[{at_return, by_event && !program.cookies.empty() ? program.cookies[i] : 0}].push_back(i);
  }
  for (auto& [key, which] : groups) ACU_CHECK(by_event ? events.attach(which) : links.attach(which));
  return out;
}

// Where functions begin with an instruction that marks them as targets of jumps (endbr64), the kernel puts a
// probe behind it.
std::vector<std::pair<uint64_t, size_t>> addresses_of(std::span<const Event* const> events) {
  constexpr uint64_t mark_bytes = 4;
  std::unordered_map<std::string_view, std::vector<size_t>> by_name;
  for (size_t i = 0; i < events.size(); i++) by_name[events[i]->function].push_back(i);
  std::vector<std::pair<uint64_t, size_t>> out;
  auto text = base::read_file("/proc/kallsyms");
  if (!text.ok()) return out;
  // "ffffffff81000000 T name" and perhaps a tab and "[module]"
  for (std::string_view rest = *text; !rest.empty();) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    uint64_t address = 0;
    if (!base::take_hex(line, ' ', address) || line.size() < 3) continue;
    line.remove_prefix(2);
    std::string_view name = line.substr(0, line.find_first_of(" \t"));
    auto at = by_name.find(name);
    if (at == by_name.end()) continue;
    bool has_module = line.size() > name.size();
    for (size_t i : at->second) {
      const Event& e = *events[i];
      if (!e.category.empty() && line.find("[" + e.category + "]") == line.npos) continue;
      if (e.category.empty() && has_module && line.ends_with("[bpf]")) continue;
      out.emplace_back(address + e.offset, i);
      if (!e.offset && !is_return(e)) out.emplace_back(address + mark_bytes, i);
    }
  }
  return out;
}

base::Result<Attachment> attach_function(const Event& event, Context context, int program_fd,
                                         const AttachOptions&) {
  Attachment out;
  // The same system call as for typed tracepoints: the program carries its function itself (Linux 5.5).
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.raw_tracepoint.prog_fd = static_cast<uint32_t>(program_fd);
  int fd = context == Context::function
               ? static_cast<int>(::syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof attr))
               : (errno = EINVAL, -1);
  if (fd >= 0) return out.links.emplace_back(fd), std::move(out);
  int code = errno;
  std::string start = "cannot attach " + event.name + ": ";
  bool is_other = event.kind == Kind::kprobe || event.kind == Kind::kretprobe; // chosen by acu
  std::string instead = is_other ? "; try it with `config = { prefer_fentry = false }`" : "";
  if (code == EBUSY || code == ENOENT || code == EINVAL)
    return base::Error{base::Failure::runtime,
                       start + base::quoted(event.function) +
                           " does not begin with room for a tracer, or its module is gone" + instead};
  base::Error why = code == EPERM || code == EACCES
                        ? refused_by_kernel(event, "cannot attach " + event.name)
                        : refused(event, "creating the link", code);
  why.message += instead;
  return why;
}

uint64_t missed_hits(const Attachment& a) {
  uint64_t out = a.defined.empty() ? 0 : misses_in_profile(a.defined);
  for (const base::Fd& link : a.links) out += misses_of_link(link.get());
  // Those of events that were defined are in both.
  if (a.defined.empty())
    for (const base::Fd& link : a.slow_links) out += misses_of_link(link.get());
  return out;
}

} // namespace probe
