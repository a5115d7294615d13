// What probes need to know of the host, opened when first asked for, see probe.h.
#include "base/privilege.h"
#include "format/btf.h"
#include "format/tracefs.h"
#include "host/environment.h"
#include "probe/attach.h"
#include "probe/kernel_facts.h"
#include "probe/kernel_functions.h"
#include "probe/kinds.h"
#include "probe/stopped_program.h"
#include "probe/user_values.h"
#include "symbol/binaries.h"
#include "symbol/instructions.h"

#include "base/text.h"

#include <cstdlib>
#include <unistd.h>

namespace probe {

using format::BtfKind;

Machine::Machine(type::Table& types, int pid) : Machine(types, host::this_host(), pid) {}
Machine::Machine(type::Table& types, host::Environment& host, int pid) : types_(types), host_(host), pid_(pid) {}
Machine::~Machine() = default;

// The variable names another file, or one that is not there: to see a script fare without the kernel's types.
static const char* given_types() { return ::secure_getenv("BPFTRACE_BTF"); }
const char* kernel_types_path() { return given_types() ? given_types() : host::kernel_types_path; }
bool has_kernel_types(host::Environment& host) {
  return given_types() ? base::is_accessible(given_types(), R_OK) : host.can_read(host::kernel_types_path);
}

format::Btf* Machine::btf() {
  if (!tried_) {
    tried_ = true;
    if (auto btf = given_types() ? format::Btf::open(given_types()) : host_.types(); btf.ok()) btf_ = std::move(*btf);
  }
  return btf_.get();
}

uint32_t Machine::kernel_number(const std::string& name, const std::function<uint32_t(format::Btf&)>& ask) {
  auto tell = [&]() -> uint32_t { return btf() ? ask(*btf()) : 0; };
  if (given_types()) return tell();
  return facts().number(name, tell);
}

KernelFacts& Machine::facts() {
  if (!facts_) facts_ = std::make_unique<KernelFacts>(symbol::Cache::of_user(), host_.build_id());
  return *facts_;
}

void Machine::store_facts() {
  if (facts_) facts_->store();
}

KernelFunctions& Machine::kernel_functions() {
  if (!kernel_functions_) kernel_functions_ = std::make_unique<KernelFunctions>(*this);
  return *kernel_functions_;
}

bool Machine::emulates_nops() {
  if (!emulates_nops_) emulates_nops_ = symbol::emulates_nops(host_.kernel().release);
  return *emulates_nops_;
}

symbol::Binaries& Machine::binaries() {
  if (!binaries_) {
    binaries_ = std::make_unique<symbol::Binaries>(pid_);
    binaries_->search_in(debug_folders);
  }
  return *binaries_;
}

base::Result<std::vector<symbol::Binary*>> Machine::find_binaries(std::string_view name) {
  return stopped ? stopped->find(name) : binaries().find(name);
}

format::Tracefs* Machine::tracefs() {
  if (!tracefs_tried_) {
    tracefs_tried_ = true;
    if (auto fs = host_.tracefs(); fs.ok())
      tracefs_ = std::make_unique<format::Tracefs>(std::move(*fs));
    else
      tracefs_error_ = std::move(fs.error());
  }
  return tracefs_.get();
}

const type::Type* Machine::kernel_type(std::string_view keyword, std::string_view name) {
  if (!btf()) return program_types ? program_types(keyword, name) : nullptr;
  std::string key = std::string(keyword) + " " + std::string(name);
  if (auto at = kernel_types_.find(key); at != kernel_types_.end()) return at->second;
  uint32_t id = 0;
  if (keyword == "struct")
    id = btf_->find(name, BtfKind::structure);
  else if (keyword == "union")
    id = btf_->find(name, BtfKind::union_);
  else if (keyword == "enum")
    id = btf_->find(name, {BtfKind::enumeration, BtfKind::enumeration64});
  else if (keyword.empty()) {
    id = btf_->find(name, {BtfKind::typedef_, BtfKind::integer});
    if (!id)
      id = btf_->find(name,
                      {BtfKind::structure, BtfKind::union_, BtfKind::enumeration, BtfKind::enumeration64});
  }
  const type::Type* type = id ? btf_->type(types_, id) : nullptr;
  if (!type && program_types) type = program_types(keyword, name);
  kernel_types_.emplace(std::move(key), type);
  return type;
}

std::optional<std::pair<const type::Type*, int64_t>> Machine::kernel_enumerator(std::string_view name) {
  auto [at, is_new] = kernel_enumerators_.try_emplace(std::string(name));
  if (!is_new) return at->second;
  auto found = btf() ? btf_->find_enumerator(name) : std::nullopt;
  const type::Type* type = found ? btf_->type(types_, found->first) : nullptr;
  if (type) at->second = std::pair{type, found->second};
  if (!type && program_enumerators) at->second = program_enumerators(name);
  return at->second;
}

uint32_t tracepoint_type(Machine& machine, std::string_view name) {
  std::string type = "btf_trace_" + std::string(name);
  return machine.kernel_number(type, [&](format::Btf& btf) { return btf.find(type, BtfKind::typedef_); });
}

uint32_t attach_btf_id(Machine& machine, const Event& event) {
  if (is_kernel_function(event.kind)) return machine.kernel_functions().type_of(event);
  if (event.kind == Kind::iterator) {
    std::string function = "bpf_iter_" + event.event;
    return machine.kernel_number(function,
                                 [&](format::Btf& btf) { return btf.find(function, BtfKind::function); });
  }
  if (event.kind != Kind::tracepoint && event.kind != Kind::rawtracepoint) return 0;
  if (event.syscall >= 0) return tracepoint_type(machine, event.syscall_exit ? "sys_exit" : "sys_enter");
  return tracepoint_type(machine, event.event);
}

// "0-3,6" as /sys writes it.
std::vector<int> online_cpus() {
  std::vector<int> cpus;
  auto text = base::read_file("/sys/devices/system/cpu/online");
  if (text.ok())
    for (std::string_view range : base::split(base::trim(*text), ',')) {
      size_t dash = range.find('-');
      auto first = base::parse_integer(range.substr(0, dash));
      auto last = dash == range.npos ? first : base::parse_integer(range.substr(dash + 1));
      if (first && last && *last < 1u << 16)
        for (uint64_t cpu = *first; cpu <= *last; cpu++) cpus.push_back(static_cast<int>(cpu));
    }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

} // namespace probe
