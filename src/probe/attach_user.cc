// Attaching to user code. Links for many places (BPF_TRACE_UPROBE_MULTI): the kernel refuses a link as a
// whole when one of its places cannot be, so the list is halved until those are found. See bpf(2) and the
// kernel's include/uapi/linux/bpf.h, link_create.uprobe_multi.
#include "probe/attach_user.h"
#include "probe/attach_user_events.h"
#include "probe/kinds.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/bpf.h>
#include <sys/syscall.h>

namespace probe {

// What the kernel says of a place, or of all.
base::Error refused_place(const Event& event, int code) {
  if (code == ENOENT || code == ENOTDIR)
    return {base::Failure::nothing_matched,
            "cannot attach " + event.name + ": there is no file " + event.binary};
  if (code == EBADF)
    return {base::Failure::runtime,
            "cannot attach " + event.name + ": " + event.binary + " is no regular file"};
  if (code == EINVAL || code == ENOEXEC || code == 524)
    return {base::Failure::runtime, "cannot attach " + event.name +
                                        ": the kernel can't put a probe on this instruction (offset " +
                                        std::to_string(event.file_offset) + " of " + event.binary + ")"};
  return probe::refused(event, "creating the link", code);
}

namespace {

constexpr uint32_t uprobe_multi_type = 48, uprobe_session_type = 57; // enum bpf_attach_type
constexpr uint32_t multi_return = 1;                                 // BPF_F_UPROBE_MULTI_RETURN

// The part of union bpf_attr that BPF_LINK_CREATE takes for these links.
struct MultiRequest {
  uint32_t program, target, type, flags;
  uint64_t path, offsets, counters, cookies;
  uint32_t count, multi_flags, pid, zero;
};

int link_create(MultiRequest& request) {
  constexpr size_t bytes = offsetof(MultiRequest, zero);
  return static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &request, bytes));
}

std::vector<UserPlaces> by_file(const UserProgram& program) {
  std::vector<UserPlaces> out;
  for (size_t i = 0; i < program.events.size(); i++) {
    const Event& e = *program.events[i];
    bool is_return = e.kind == Kind::uretprobe && !e.at_return_instruction && program.link != UserLink::session;
    auto same = [&](const UserPlaces& p) { return p.is_return == is_return && *p.path == e.binary; };
    auto at = std::find_if(out.rbegin(), out.rend(), same); // most are of the file of the one before
    UserPlaces& to =
        at != out.rend() ? *at : out.emplace_back(UserPlaces{.path = &e.binary, .is_return = is_return});
    to.events.push_back(&e);
    to.offsets.push_back(e.file_offset);
    to.counters.push_back(e.counter_offset);
    if (!program.cookies.empty()) to.cookies.push_back(program.cookies[i]);
  }
  return out;
}

// Of one place, others may still be attached.
bool is_of_one_place(int code) {
  return code == EINVAL || code == ENOEXEC || code == 524 || code == EIO || code == EFAULT || code == EEXIST;
}

class MultiLinks {
public:
  MultiLinks(const UserProgram& program, const Refusal& refused, Attachment& out)
      : program_(program), refused_(refused), out_(out) {}

  // Places from `begin` to `end`.
  base::Status attach(const UserPlaces& places, size_t begin, size_t end) {
    int fd = create(places, begin, end);
    if (fd >= 0) return out_.links.emplace_back(fd), base::Status();
    int code = errno;
    if (end - begin > 1 && is_of_one_place(code)) {
      size_t middle = begin + (end - begin) / 2;
      ACU_CHECK(attach(places, begin, middle));
      return attach(places, middle, end);
    }
    for (size_t i = begin; i < end; i++) {
      base::Error why = refused_place(*places.events[i], code);
      if (!refused_) return why;
      ACU_CHECK(refused_(std::move(why)));
    }
    return {};
  }

private:
  int create(const UserPlaces& places, size_t begin, size_t end) const {
    bool counts = std::any_of(places.counters.begin() + static_cast<ptrdiff_t>(begin),
                              places.counters.begin() + static_cast<ptrdiff_t>(end),
                              [](uint64_t offset) { return offset != 0; });
    MultiRequest request{};
    request.program = static_cast<uint32_t>(program_.fd);
    request.type = attach_type_of(program_.link);
    request.path = reinterpret_cast<uintptr_t>(places.path->c_str());
    request.offsets = reinterpret_cast<uintptr_t>(places.offsets.data() + begin);
    if (counts) request.counters = reinterpret_cast<uintptr_t>(places.counters.data() + begin);
    if (!places.cookies.empty()) request.cookies = reinterpret_cast<uintptr_t>(places.cookies.data() + begin);
    request.count = static_cast<uint32_t>(end - begin);
    request.multi_flags = places.is_return ? multi_return : 0;
    if (program_.pid >= 0) request.pid = static_cast<uint32_t>(program_.pid);
    return link_create(request);
  }

  const UserProgram& program_;
  const Refusal& refused_;
  Attachment& out_;
};

} // namespace

int try_user_link(UserLink link, int program_fd, int pid) {
  const std::string path = "/";
  uint64_t offset = 0;
  MultiRequest request{};
  request.program = static_cast<uint32_t>(program_fd);
  request.type = attach_type_of(link);
  request.path = reinterpret_cast<uintptr_t>(path.c_str());
  request.offsets = reinterpret_cast<uintptr_t>(&offset);
  request.count = 1;
  request.pid = static_cast<uint32_t>(pid);
  int fd = link_create(request);
  if (fd < 0) return errno;
  ::close(fd);
  return 0;
}

uint32_t attach_type_of(UserLink link) {
  switch (link) {
  case UserLink::event: return 0;
  case UserLink::multi: return uprobe_multi_type;
  case UserLink::session: return uprobe_session_type;
  }
  return 0;
}

base::Result<Attachment> attach_user(const UserProgram& program, const Refusal& refused) {
  Attachment out;
  MultiLinks links(program, refused, out);
  for (const UserPlaces& places : by_file(program)) {
    if (program.link == UserLink::event) {
      ACU_CHECK(attach_events(places, program.fd, refused, out));
    } else {
      ACU_CHECK(links.attach(places, 0, places.offsets.size()));
    }
  }
  return out;
}

} // namespace probe
