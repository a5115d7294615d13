// iter:KIND[:PIN]: once for each object of the kernel of one kind (tasks, open files, mappings, sockets, …),
// by a program that the kernel runs while a file is read (BPF iterators: Documentation/bpf/bpf_iterators.rst
// of the kernel). A kind is a function bpf_iter_KIND of the kernel's types, whose parameters are the members
// of the context, and a structure bpf_iter__KIND. With a PIN the program stays in the BPF file system, and
// runs whenever somebody reads that file: what it prints is the file's text.
#include "format/btf.h"
#include "format/btf_declaration.h"
#include "probe/kinds.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/bpf.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

namespace probe {

namespace {

constexpr std::string_view function_prefix = "bpf_iter_", structure_prefix = "bpf_iter__";
constexpr std::string_view pin_folder = "/sys/fs/bpf/";

// ------------------------------------------------------------------------------------------------- match

std::vector<format::Btf::Parameter> parameters_of(format::Btf& btf, std::string_view kind) {
  uint32_t function = btf.find(std::string(function_prefix) + std::string(kind), format::BtfKind::function);
  return function ? btf.parameters(function) : std::vector<format::Btf::Parameter>();
}

bool is_kind(format::Btf& btf, std::string_view kind) {
  std::string structure = std::string(structure_prefix) + std::string(kind);
  return btf.has_name(structure) && btf.find(structure, format::BtfKind::structure) &&
         !parameters_of(btf, kind).empty();
}

// Those that go through the entries of one map, which has to be given to the kernel.
bool needs_map(format::Btf& btf, std::string_view kind) {
  std::vector<format::Btf::Parameter> all = parameters_of(btf, kind);
  return all.size() > 2 && all[1].name == "map";
}

// All that a script can name, sorted; they live as long as the machine.
std::vector<std::string_view> all_kinds(Machine& machine) {
  std::vector<std::string_view> out;
  if (!machine.btf()) return out;
  for (std::string_view name : machine.btf()->names(structure_prefix)) {
    name.remove_prefix(structure_prefix.size());
    if (is_kind(*machine.btf(), name) && !needs_map(*machine.btf(), name)) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Event make_event(std::string_view kind, std::string_view pin) {
  Event e{.kind = Kind::iterator, .provider = "iter"};
  e.name.append("iter:").append(kind);
  e.event = kind;
  if (!pin.empty()) {
    e.name.append(1, ':').append(pin);
    e.pin = pin.starts_with('/') ? std::string(pin) : std::string(pin_folder) + std::string(pin);
  }
  return e;
}

std::vector<Event> no_such_kind(Machine& machine, std::string_view kind, Mismatch& mismatch) {
  mismatch = {Mismatch::missing, "the kernel has no iterator over `" + std::string(kind) + "`",
              "`acu list 'iter:*'` shows what there is"};
  if (!machine.btf())
    mismatch.hint = "iterators need the kernel's type information (" + std::string(kernel_types_path()) + ")";
  else if (std::string_view near = base::nearest(kind, all_kinds(machine)); !near.empty())
    mismatch.hint = "did you mean `iter:" + std::string(near) + "`?";
  return {};
}

std::vector<Event> match_iterator(Machine& machine, Parts parts, Mismatch& mismatch) {
  if (parts.size() < 2 || parts.size() > 3 || parts[1].empty() || parts.back().empty())
    return malformed(mismatch, "iter", "`" + join(parts) + "` must name a kind of object");
  std::string_view kind = parts[1], pin = parts.size() == 3 ? parts[2] : std::string_view();
  if (base::has_glob(kind)) {
    std::vector<Event> out;
    if (!pin.empty())
      return malformed(mismatch, "iter", "`" + join(parts) + "`: only one kind can have a name");
    for (std::string_view name : all_kinds(machine))
      if (base::glob_match(kind, name)) out.push_back(make_event(name, {}));
    return out.empty() ? no_such_kind(machine, kind, mismatch) : out;
  }
  if (!machine.btf() || !is_kind(*machine.btf(), kind)) return no_such_kind(machine, kind, mismatch);
  if (needs_map(*machine.btf(), kind))
    return malformed(mismatch, "iter",
                     "`" + join(parts) +
                         "` goes through one map of a BPF program, which a script has no name for");
  if (pin.substr(pin.rfind('/') + 1).find('.') != pin.npos)
    return malformed(mismatch, "iter", "`" + join(parts) + "`: names in the BPF file system have no `.`");
  return {make_event(kind, pin)};
}

void list_iterators(Machine& machine, std::vector<Event>& to) {
  for (std::string_view kind : all_kinds(machine)) to.push_back(make_event(kind, {}));
}

// --------------------------------------------------------------------------------------------- arguments

// The context: a word for each parameter.
const type::Type* arguments_of_iterator(Machine& machine, Event& event) {
  if (event.args || !machine.btf()) return event.args;
  format::Btf& btf = *machine.btf();
  type::Table& table = machine.types();
  std::vector<type::Field> fields;
  for (const format::Btf::Parameter& p : parameters_of(btf, event.event)) {
    const type::Type* type = btf.type(table, p.type);
    fields.push_back({.name = table.keep(std::string(p.name)),
                      .type = type ? type : table.uint64(),
                      .offset = static_cast<uint32_t>(fields.size()) * 8});
  }
  std::string_view name = table.keep(std::string(structure_prefix) + event.event);
  event.args = table.structure(name, false, static_cast<uint32_t>(fields.size()) * 8, 8, fields);
  return event.args;
}

std::vector<std::string> describe_iterator(Machine& machine, Event& event) {
  std::vector<std::string> out;
  if (!machine.btf()) return out;
  for (const format::Btf::Parameter& p : parameters_of(*machine.btf(), event.event))
    out.push_back(format::type_name(*machine.btf(), p.type) + " " + std::string(p.name));
  return out;
}

// ------------------------------------------------------------------------------------- context and access

Context choose_iterator(Machine&, const Event&, Fields) { return Context::iterator; }

Access access_iterator(Machine& machine, const Event& event, Context, std::string_view field) {
  Event known = event;
  const type::Type* args = arguments_of_iterator(machine, known);
  auto declared = args ? args->find(field) : std::nullopt;
  Access access{.kind = Access::raw};
  access.argument = declared ? declared->offset / 8 : 0;
  return access;
}

// ------------------------------------------------------------------------------------------------ attach

int call(bpf_cmd command, bpf_attr& attr) {
  return static_cast<int>(syscall(SYS_bpf, command, &attr, sizeof attr));
}

// The link to a kind of object; -1: errno tells.
int create_link(const Event& event, int program_fd, int pid) {
  bpf_iter_link_info info;
  std::memset(&info, 0, sizeof info);
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.link_create.prog_fd = static_cast<uint32_t>(program_fd);
  attr.link_create.attach_type = BPF_TRACE_ITER;
  bool has_order = event.event == "cgroup"; // all control groups, a parent before its children
  if (has_order) info.cgroup.order = BPF_CGROUP_ITER_DESCENDANTS_PRE;
  if (pid >= 0) info.task.pid = static_cast<uint32_t>(pid);
  if (has_order || pid >= 0) {
    attr.link_create.iter_info = reinterpret_cast<uintptr_t>(&info);
    attr.link_create.iter_info_len = sizeof info;
  }
  return call(BPF_LINK_CREATE, attr);
}

base::Error cannot_pin(const Event& event, int code) {
  std::string message = "cannot keep " + event.name + " as " + event.pin + ": ";
  base::Failure kind = base::Failure::runtime;
  switch (code) {
  case EEXIST: message += "there is such a file already; remove it, or take another name"; break;
  case ENOENT: message += "there is no such folder"; break;
  case EPERM:
  case EACCES:
    kind = base::Failure::permission;
    message += "permission denied: it must be in a BPF file system that you may write to; `mount -t bpf bpf "
               "/sys/fs/bpf` makes one";
    break;
  default: message += strerror(code); break;
  }
  return {kind, std::move(message)};
}

// Mounts the BPF file system at its usual place, where no other program has done so yet. False: it was there,
// or it cannot be mounted.
bool mount_pin_folder() {
  struct statfs what;
  bool is_there = statfs(pin_folder.data(), &what) != 0 || what.f_type == BPF_FS_MAGIC;
  return !is_there && mount("bpf", pin_folder.data(), "bpf", 0, "mode=0700") == 0;
}

base::Status pin(const Event& event, int link) {
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.pathname = reinterpret_cast<uintptr_t>(event.pin.c_str());
  attr.bpf_fd = static_cast<uint32_t>(link);
  if (call(BPF_OBJ_PIN, attr) == 0) return {};
  int error = errno;
  if (event.pin.starts_with(pin_folder) && mount_pin_folder()) {
    if (call(BPF_OBJ_PIN, attr) == 0) return {};
    error = errno;
  }
  return cannot_pin(event, error);
}

base::Result<Attachment> attach_iterator(const Event& event, Context, int program_fd,
                                         const AttachOptions& options) {
  int pid = event.event.starts_with("task") ? options.pid : -1;
  base::Fd link(create_link(event, program_fd, pid));
  if (!link.valid() && pid >= 0 && (errno == EINVAL || errno == E2BIG))
    return base::Error{base::Failure::unsupported,
                       "cannot attach " + event.name +
                           ": iterators of this kernel go through all processes; leave -p out, and " +
                           "choose with a predicate: /ctx.task.tgid == " + std::to_string(pid) + "/"};
  if (!link.valid()) return refused(event, "making the iterator", errno);
  Attachment out;
  if (!event.pin.empty()) {
    ACU_CHECK(pin(event, link.get()));
  } else {
    bpf_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.iter_create.link_fd = static_cast<uint32_t>(link.get());
    out.iterator = base::Fd(call(BPF_ITER_CREATE, attr));
    if (!out.iterator.valid()) return refused(event, "starting the iterator", errno);
  }
  out.links.push_back(std::move(link));
  return out;
}

} // namespace

constinit const KindFunctions iterator_kind{
    .match = match_iterator,
    .list = list_iterators,
    .arguments = arguments_of_iterator,
    .describe = describe_iterator,
    .choose_context = choose_iterator,
    .access = access_iterator,
    .attach = attach_iterator,
};

} // namespace probe
