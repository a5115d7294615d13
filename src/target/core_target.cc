#include "target/core_target.h"

#include "spec/numbers.h"
#include "target/areas.h"
#include "target/modules.h"

#include <algorithm>
#include <csignal>
#include <elf.h>

namespace target {

namespace {

class CoreTarget : public Target {
public:
  CoreTarget(format::CoreFile core, std::string path, Search search)
      : core_(std::move(core)), title_("core dump " + path) {
    search_ = std::move(search);
    problems_ = core_.problems();
    add_dumped();
    find_modules();
    add_left_out();
    take_threads();
  }
  Memory& memory() override { return memory_; }
  const std::vector<Module>& modules() const override { return modules_; }
  const std::vector<Thread>& threads() const override { return threads_; }
  const Fault* fault() const override { return fault_ ? &*fault_ : nullptr; }
  uint32_t pid() const override {
    return process().id ? process().id : threads_.empty() ? 0 : threads_[0].id;
  }
  uint32_t parent() const override { return process().parent; }
  uint32_t user() const override { return process().user; }
  uint32_t group() const override { return process().group; }
  std::string_view name() const override { return process().name; }
  std::string_view arguments() const override { return process().arguments; }
  const std::vector<std::string>& problems() const override { return problems_; }
  std::string_view title() const override { return title_; }
  std::vector<Window> writable() const override {
    std::vector<Window> out;
    for (const format::CoreSegment& s : core_.segments())
      if ((s.flags & PF_W) && !s.bytes.empty())
        out.push_back({s.begin, s.bytes.size(), s.bytes.data(), Missing::none});
    return out;
  }
  bool is_code(uint64_t address) const override {
    const auto& all = core_.segments();
    auto after = std::upper_bound(all.begin(), all.end(), address,
                                  [](uint64_t a, const format::CoreSegment& s) { return a < s.begin; });
    if (after != all.begin() && address < std::prev(after)->end) return std::prev(after)->flags & PF_X;
    return is_code_of_module(address); // gcore leaves out what files have
  }

private:
  const format::CoreProcess& process() const {
    static const format::CoreProcess none;
    return core_.process() ? *core_.process() : none;
  }

  // What the core has itself.
  void add_dumped() {
    for (const format::CoreSegment& s : core_.segments())
      memory_.add({s.begin, s.bytes.size(), s.bytes.data(), Missing::none});
    memory_.set_outside(core_.is_cut() ? Missing::truncated : Missing::unmapped);
    memory_.sort();
  }

  void find_modules() {
    for (const format::CoreMapping& m : core_.mappings())
      mappings_.push_back({m.begin, m.end, m.offset, m.path});
    modules_ = target::find_modules(mappings_, memory_, search_);
    uint64_t headers = core_.auxiliary(AT_PHDR).value_or(0);
    if (mappings_.empty()) {
      modules_ = find_loaded(memory_, headers, core_.auxiliary(AT_PHNUM).value_or(0),
                             core_.auxiliary(AT_EXECFN).value_or(0), search_);
      problems_.push_back(
          modules_.empty()
              ? "it does not tell which files were mapped (no NT_FILE note), and the list of the "
                "loader cannot be read: there are no modules"
              : "it does not tell which files were mapped (no NT_FILE note): modules are those on "
                "the list of the loader");
      // Where each file's bytes were is then told by the files themselves.
      for (const Module& m : modules_) add_segments(m);
    }
    mark_program(modules_, core_.auxiliary(AT_ENTRY).value_or(headers));
    if (auto vdso = core_.auxiliary(AT_SYSINFO_EHDR)) {
      Module m = find_vdso(memory_, *vdso);
      if (m.end > m.begin) modules_.push_back(std::move(m));
      std::sort(modules_.begin(), modules_.end(),
                [](const Module& a, const Module& b) { return a.begin < b.begin; });
    }
  }

  void add_segments(const Module& m) {
    if (!m.file) return;
    for (const format::ElfSegment& s : m.file->elf().segments()) {
      if (s.type != PT_LOAD) continue;
      uint64_t begin = (m.bias + s.address) / page * page;
      mappings_.push_back({begin, m.bias + s.address + s.file_size, s.offset / page * page, m.path});
    }
    std::stable_sort(mappings_.begin(), mappings_.end(),
                     [](const FileMapping& a, const FileMapping& b) { return a.begin < b.begin; });
  }

  // What the core left out: from files, or as the reason why not.
  void add_left_out() {
    for (const format::CoreSegment& s : core_.segments()) {
      uint64_t from = s.begin + s.bytes.size();
      if (from >= s.end) continue;
      bool is_cut = s.promised > s.bytes.size();
      // Memory that could be written may have been: it is not as the file has it.
      if (!is_cut || !(s.flags & PF_W)) add_files(from, s.end);
      memory_.add({from, s.end - from, nullptr, is_cut ? Missing::truncated : Missing::not_dumped});
    }
    // gcore leaves some mappings out altogether.
    if (!mappings_.empty()) add_files(0, ~uint64_t{0});
    memory_.sort();
  }

  void add_files(uint64_t begin, uint64_t end) {
    auto at = std::upper_bound(mappings_.begin(), mappings_.end(), begin,
                               [](uint64_t a, const FileMapping& m) { return a < m.begin; });
    if (at != mappings_.begin()) at--;
    for (; at != mappings_.end() && at->begin < end; at++) {
      if (at->end <= begin) continue;
      const Module* m = module_at(at->begin);
      if (!m || m->path != at->path) continue; // a file of data: it may have changed since
      uint64_t from = std::max(begin, at->begin), until = std::min(end, at->end);
      if (!m->file) {
        memory_.add({from, until - from, nullptr,
                     m->state == Module::wrong ? Missing::wrong_binary : Missing::no_binary});
        continue;
      }
      uint64_t offset = at->offset + (from - at->begin);
      base::ByteSpan bytes = m->file->bytes();
      if (offset >= bytes.size()) continue;
      memory_.add({from, std::min<uint64_t>(until - from, bytes.size() - offset), bytes.data() + offset,
                   Missing::none});
    }
  }

  void take_threads() {
    for (const format::CoreThread& t : core_.threads()) {
      Thread& to = threads_.emplace_back(Thread{.id = t.id});
      std::ranges::copy(t.registers, to.registers.begin());
      take_vectors(to.registers, std::as_bytes(std::span(t.extended.data(), t.extended.size())));
    }
    const auto& signal = core_.signal();
    int number = signal ? signal->number : threads_.empty() ? 0 : core_.threads()[0].signal;
    if (!number || threads_.empty()) return;
    Fault f{.signal = number, .signal_name = spec::signal_name(number)};
    if (signal) {
      f.meaning = format::meaning_of(*signal);
      if (format::has_address(*signal)) f.address = signal->address;
      if (f.address && is_stack_overflow(number, *f.address)) f.meaning = "stack overflow";
      if (signal->code <= 0) f.sender = signal->sender;
    }
    fault_ = f;
  }

  // Near the stack pointer of the thread that crashed, and below what is there of its stack: unmapped, or the guard page of a thread.
  bool is_stack_overflow(int signal, uint64_t address) {
    constexpr uint64_t near = 1 << 16; // bytes
    const uint64_t sp = threads_[0].registers[register_sp];
    if (signal != SIGSEGV || address >= sp + near || address + near <= sp) return false;
    return !is_writable(address) && (address < sp || !is_writable(sp));
  }

  bool is_writable(uint64_t address) const {
    return std::ranges::any_of(core_.segments(), [&](const format::CoreSegment& s) { return (s.flags & PF_W) && address >= s.begin && address < s.end; });
  }

  static constexpr uint64_t page = 4096;
  format::CoreFile core_;
  std::string title_;
  AreaMemory memory_;
  std::vector<FileMapping> mappings_;
  std::vector<Module> modules_;
  std::vector<Thread> threads_;
  std::optional<Fault> fault_;
  std::vector<std::string> problems_;
};

} // namespace

base::Result<std::unique_ptr<Target>> open_core(const std::string& path, Search search) {
  ACU_TRY(format::CoreFile core, format::CoreFile::open(path));
  return make_core(std::move(core), path, std::move(search));
}

std::unique_ptr<Target> make_core(format::CoreFile core, std::string path, Search search) {
  return std::make_unique<CoreTarget>(std::move(core), std::move(path), std::move(search));
}

} // namespace target
