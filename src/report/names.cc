// Names as bpftrace writes them: of a module's function the bare name, offsets decimal, and an address that
// belongs to nothing known as a hexadecimal number. User code without a name is told by file and place.
#include "report/names.h"

#include "format/elf_file.h"
#include "report/number.h"
#include "report/text.h"

namespace report {

std::string SystemNames::kernel(uint64_t address, bool with_offset) {
  auto symbol = kallsyms_.find(address);
  if (!symbol) return bare(address);
  std::string out(symbol->name);
  if (with_offset) out += "+" + std::to_string(symbol->offset);
  return out;
}

// "libc.so.6+0x27f01": without a name, but of a place that is the same in each process and for other tools.
static std::string in_module(std::string_view module, uint64_t address) {
  return std::string(module.substr(module.rfind('/') + 1)) + "+" + bare(address);
}

std::string text_of(const symbol::Frame& frame, uint64_t address, bool with_offset) {
  if (frame.name.empty()) return frame.module_address ? in_module(frame.module, frame.module_address) : bare(address);
  std::string out(frame.name);
  out += spec::row_of(frame.kind).remark;
  if (frame.line) return out.append(" ").append(frame.file).append(":").append(std::to_string(frame.line));
  if (with_offset && !spec::row_of(frame.kind).tag) out += "+" + std::to_string(frame.offset);
  return out;
}

std::string SystemNames::user(uint32_t pid, uint64_t address, bool with_offset) {
  symbol::Frame found = users_.find(static_cast<pid_t>(pid), address);
  if (found.name.empty() && !found.module_address) {
    found = users_.find_variable(static_cast<pid_t>(pid), address);
    found.module_address = 0; // without a name it is told by its address
  }
  return text_of(found, address, with_offset);
}

std::string SystemNames::file_place(const symbol::RawFrame& raw) {
  symbol::FrameSource& source = sources_.of(raw);
  std::span<const std::byte> id = source.build_id_of(raw);
  uint64_t offset = source.key_of(raw).second;
  if (raw.is_kernel) {
    if (kernel_id_.empty()) kernel_id_ = symbol::kernel_build_id(), kernel_start_ = kallsyms_.address("_text");
    if (!kernel_start_ || raw.entry.address < *kernel_start_) return {};
    id = kernel_id_;
    offset = raw.entry.address - *kernel_start_;
  }
  if (id.empty()) return {};
  return format::to_hex(id).append(" + ").append(bare(offset));
}

std::string SystemNames::variable(uint32_t pid, uint64_t address, bool with_offset) {
  std::string out = user(pid, address, with_offset);
  if (out != bare(address)) return out;
  const auto in_file = users_.find_variable(static_cast<pid_t>(pid), address);
  if (in_file.module_address) return in_module(in_file.module, in_file.module_address);
  auto known = mappings_.find(pid);
  if (known == mappings_.end())
    known = mappings_.emplace(pid, symbol::read_process_map(static_cast<pid_t>(pid), symbol::MappingsOf::all)).first;
  const symbol::Mapping* mapping = symbol::find_mapping(known->second, address);
  return mapping && mapping->is_file() ? mapping->path + "+" + bare(address - mapping->begin + mapping->offset) : out;
}

void SystemNames::seen(uint32_t pid, std::span<const uint64_t> words, uint64_t stack, uint64_t time) {
  users_.seen(static_cast<pid_t>(pid), words, stack, time);
}

// Where there is no such group (any more), its number is all that is known.
static std::string nameless_cgroup(uint64_t id) { return "(no cgroup with id " + std::to_string(id) + ")"; }

std::string Names::cgroup(uint64_t id, const std::string&) { return nameless_cgroup(id); }

void SystemNames::learn_group(uint64_t id, const std::string& path) {
  cgroups_.add(id, path);
  containers_.of_group(path);
}

std::string SystemNames::cgroup(uint64_t id, const std::string& filter) {
  if (filter == symbol::container_filter) {
    const std::vector<symbol::CgroupPath> paths = cgroups_.find(id, "unified");
    return paths.empty() ? nameless_cgroup(id) : containers_.of_group(std::string(paths.front().path)).title();
  }
  std::string out;
  for (const symbol::CgroupPath& p : cgroups_.find(id, filter)) {
    if (!out.empty()) out += ',';
    out.append(p.hierarchy).append(":").append(p.path);
  }
  return out.empty() ? nameless_cgroup(id) : out;
}

} // namespace report
