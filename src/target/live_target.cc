#include "target/live_target.h"

#include "base/priority.h"
#include "base/privilege.h"
#include "base/process_status.h"
#include "base/text.h"
#include "target/areas.h"
#include "target/modules.h"
#include "target/thread_stop.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <elf.h>
#include <span>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

namespace target {

namespace {

constexpr uint64_t piece = 64 << 10;       // what is copied at once
constexpr uint64_t stack_kept = 256 << 10; // of each thread, from its stack pointer on

uint64_t now_ns() {
  timespec t = {};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// A mapping of the process, and room for a copy of it, which costs nothing before it is written.
struct Mapped {
  uint64_t begin = 0, end = 0, offset = 0;
  bool is_readable = false, is_writable = false, is_code = false;
  std::string path;
  std::byte* copy = nullptr;
  std::vector<uint8_t> state; // of each piece
  enum : uint8_t { unknown, copied, wanted, unreadable };
  uint64_t size() const { return end - begin; }
  size_t pieces() const { return (size() + piece - 1) / piece; }
};

class LiveMemory : public Memory {
public:
  explicit LiveMemory(pid_t pid) : pid_(pid) {}
  ~LiveMemory() override {
    for (Mapped& m : maps_)
      if (m.copy) ::munmap(m.copy, m.size());
  }
  LiveMemory(const LiveMemory&) = delete;

  bool read_maps();
  const std::vector<Mapped>& maps() const { return maps_; }
  // What files have is not copied.
  void add_file(const Window& area) { files_.add(area); }
  void sort_files() { files_.sort(); }

  Window window(uint64_t address) override;
  // From here on what was not copied is not there, but written down.
  void set_frozen(bool on) { is_frozen_ = on, lacks_ = false; }
  bool is_frozen() const { return is_frozen_; }
  bool lacks() const { return lacks_; }
  void want(uint64_t begin, uint64_t end);
  // Reads all pieces that were ever wanted anew. false: it took too long.
  bool copy_wanted(uint64_t until_ns);
  uint64_t copied() const { return copied_; }

private:
  Mapped* find(uint64_t address);
  bool copy(Mapped& m, size_t index);
  Window run_around(const Mapped& m, size_t index) const;

  pid_t pid_;
  std::vector<Mapped> maps_;
  AreaMemory files_;
  bool is_frozen_ = false, lacks_ = false;
  uint64_t copied_ = 0;
};

bool LiveMemory::read_maps() {
  auto text = base::read_file("/proc/" + std::to_string(pid_) + "/maps");
  if (!text.ok()) return false;
  for (std::string_view line : base::split(*text, '\n')) {
    Mapped m;
    if (!base::take_hex(line, '-', m.begin) || !base::take_hex(line, ' ', m.end) || line.size() < 5) continue;
    std::string_view rights = line.substr(0, 4);
    line.remove_prefix(5);
    if (!base::take_hex(line, ' ', m.offset) || m.begin >= m.end) continue;
    m.is_readable = rights[0] == 'r';
    m.is_writable = rights[1] == 'w';
    m.is_code = rights[2] == 'x';
    // device, inode, path
    for (int skipped = 0; skipped < 2 && !line.empty(); skipped++)
      line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
    m.path = base::trim(line);
    // Mappings stay as they were found: only what is new is added.
    auto at = std::lower_bound(maps_.begin(), maps_.end(), m.begin,
                               [](const Mapped& a, uint64_t b) { return a.begin < b; });
    if (at != maps_.end() && at->begin == m.begin && at->end == m.end) continue;
    uint64_t before = at == maps_.begin() ? 0 : std::prev(at)->end;
    if (at != maps_.begin() && before > m.begin) { // one that grew: the new part
      if (m.end <= before) continue;
      m.begin = before;
    }
    if (at != maps_.end() && m.end > at->begin) m.end = at->begin;
    if (m.begin >= m.end) continue;
    m.state.resize(m.pieces());
    maps_.insert(at, std::move(m));
  }
  return !maps_.empty();
}

Mapped* LiveMemory::find(uint64_t address) {
  auto after = std::upper_bound(maps_.begin(), maps_.end(), address,
                                [](uint64_t a, const Mapped& m) { return a < m.begin; });
  if (after == maps_.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

bool LiveMemory::copy(Mapped& m, size_t index) {
  if (!m.copy) {
    void* room =
        ::mmap(nullptr, m.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return false;
    m.copy = static_cast<std::byte*>(room);
  }
  uint64_t at = index * piece, size = std::min(piece, m.size() - at);
  const iovec here{m.copy + at, size}, there{reinterpret_cast<void*>(m.begin + at), size};
  ssize_t n = ::process_vm_readv(pid_, &here, 1, &there, 1, 0);
  bool ok = n == static_cast<ssize_t>(size);
  m.state[index] = ok ? Mapped::copied : Mapped::unreadable;
  if (ok) copied_ += size;
  return ok;
}

// Pieces next to each other that were copied are one window.
Window LiveMemory::run_around(const Mapped& m, size_t index) const {
  size_t first = index, last = index + 1;
  while (first > 0 && m.state[first - 1] == Mapped::copied) first--;
  while (last < m.state.size() && m.state[last] == Mapped::copied) last++;
  uint64_t begin = first * piece, end = std::min(last * piece, m.size());
  return {m.begin + begin, end - begin, m.copy + begin, Missing::none};
}

Window LiveMemory::window(uint64_t address) {
  if (Window w = files_.window(address); w.bytes) return w;
  Mapped* m = find(address);
  if (!m) return {address, 1, nullptr, Missing::unmapped};
  size_t index = (address - m->begin) / piece;
  uint64_t begin = m->begin + index * piece;
  Window nothing{begin, std::min(piece, m->end - begin), nullptr, Missing::gone};
  if (!m->is_readable) {
    nothing.why = Missing::unmapped;
    return nothing;
  }
  if (m->state[index] == Mapped::copied) return run_around(*m, index);
  if (m->state[index] == Mapped::unreadable) return nothing;
  if (is_frozen_) {
    lacks_ |= m->state[index] != Mapped::wanted;
    m->state[index] = Mapped::wanted;
    nothing.why = Missing::not_copied;
    return nothing;
  }
  return copy(*m, index) ? run_around(*m, index) : nothing;
}

void LiveMemory::want(uint64_t begin, uint64_t end) {
  Mapped* m = find(begin);
  if (!m || !m->is_readable) return;
  for (uint64_t at = begin; at < std::min(end, m->end);
       at = m->begin + ((at - m->begin) / piece + 1) * piece) {
    uint8_t& state = m->state[(at - m->begin) / piece];
    if (state == Mapped::unknown) state = Mapped::wanted;
  }
}

bool LiveMemory::copy_wanted(uint64_t until_ns) {
  copied_ = 0;
  for (Mapped& m : maps_)
    for (size_t i = 0; i < m.state.size(); i++) {
      if (m.state[i] == Mapped::unknown) continue;
      copy(m, i);
      if (now_ns() > until_ns) return false;
    }
  return true;
}

class Process : public LiveTarget {
public:
  Process(pid_t pid, Search search) : pid_(pid), title_("process " + std::to_string(pid)), memory_(pid) {
    search_ = std::move(search);
  }

  base::Status open() {
    std::string proc = "/proc/" + std::to_string(pid_);
    if (!base::is_accessible(proc.c_str(), F_OK)) return refusal(pid_, ESRCH);
    // The list is that of the memory that was there when it was opened: of a process that executes another program meanwhile, none.
    if (!memory_.read_maps() && !memory_.read_maps()) {
      if (auto maps = base::read_file(proc + "/maps"); maps.ok() && maps->empty())
        return base::Error{base::Failure::nothing_matched,
                           title_ + " is one of the kernel's own, or has ended: it has no memory"};
      return refusal(pid_, EPERM);
    }
    // Reading is allowed to whom tracing is.
    uint64_t some = 0;
    for (const Mapped& m : memory_.maps())
      if (m.is_readable && m.path != "[vvar]" && m.path != "[vsyscall]") {
        some = m.begin;
        break;
      }
    char byte;
    const iovec here{&byte, 1}, there{reinterpret_cast<void*>(some), 1};
    if (::process_vm_readv(pid_, &here, 1, &there, 1, 0) != 1 && (errno == EPERM || errno == ESRCH))
      return refusal(pid_, errno);
    read_about(proc);
    find_all_modules(proc);
    return {};
  }

  base::Status freeze(uint64_t most_ns, const Look& look) override {
    memory_.read_maps();
    uint64_t start = now_ns();
    bool in_time = true;
    {
      const base::RaisedPriority raised;
      ACU_TRY(ThreadStop stop, ThreadStop::stop(pid_));
      threads_ = stop.threads();
      for (const Thread& t : threads_)
        memory_.want(t.registers[register_sp] - spec::x86_64.red_zone, t.registers[register_sp] + stack_kept);
      in_time = memory_.copy_wanted(start + most_ns);
      if (in_time && look) {
        memory_.set_frozen(false);
        memory_.read_maps(); // what was mapped since
        look([&] { return now_ns() < start + most_ns; });
      }
    }
    pause_ns_ = now_ns() - start;
    if (threads_.empty()) return refusal(pid_, ESRCH);
    for (Thread& t : threads_) {
      auto name =
          base::read_file("/proc/" + std::to_string(pid_) + "/task/" + std::to_string(t.id) + "/comm");
      if (name.ok()) t.name = base::trim(*name);
    }
    memory_.set_frozen(true);
    if (in_time) return {};
    return base::Error{
        base::Failure::runtime,
        "what is read of " + title_ + " (" + std::to_string(memory_.copied() >> 20) +
            " MiB so far) cannot be copied in " + std::to_string(most_ns / 1'000'000) +
            " ms: it runs on; allow more (--max-pause 100ms), or read without a stop (--no-stop)"};
  }
  void thaw() override { memory_.set_frozen(false); }
  void want_writable() override {
    memory_.read_maps();
    for (const Mapped& m : memory_.maps())
      if (m.is_writable) memory_.want(m.begin, m.end);
  }
  void read_writable() override {
    if (memory_.is_frozen()) return;
    for (const Mapped& m : memory_.maps())
      for (uint64_t at = m.begin; m.is_writable && at < m.end; at += piece) memory_.window(at);
  }
  bool lacks_pieces() const override { return memory_.lacks(); }
  uint64_t pause_ns() const override { return pause_ns_; }
  uint64_t copied_bytes() const override { return memory_.copied(); }

  Memory& memory() override { return memory_; }
  const std::vector<Module>& modules() const override { return modules_; }
  const std::vector<Thread>& threads() const override { return threads_; }
  uint32_t pid() const override { return static_cast<uint32_t>(pid_); }
  uint32_t parent() const override { return parent_; }
  uint32_t user() const override { return user_; }
  uint32_t group() const override { return group_; }
  std::string_view name() const override { return name_; }
  std::string_view arguments() const override { return arguments_; }
  const std::vector<std::string>& problems() const override { return problems_; }
  std::string_view title() const override { return title_; }
  std::vector<Window> writable() const override {
    std::vector<Window> out;
    for (const Mapped& m : memory_.maps())
      for (size_t i = 0; i < m.state.size(); i++) {
        if (!m.is_writable || m.state[i] != Mapped::copied) continue;
        const uint64_t at = i * piece, size = std::min(piece, m.size() - at);
        if (i && m.state[i - 1] == Mapped::copied)
          out.back().size += size;
        else
          out.push_back({m.begin + at, size, m.copy + at, Missing::none});
      }
    return out;
  }
  bool is_code(uint64_t address) const override {
    const auto& all = memory_.maps();
    auto after = std::upper_bound(all.begin(), all.end(), address,
                                  [](uint64_t a, const Mapped& m) { return a < m.begin; });
    return after != all.begin() && address < std::prev(after)->end && std::prev(after)->is_code;
  }

private:
  void read_about(const std::string& proc) {
    if (auto name = base::read_file(proc + "/comm"); name.ok()) name_ = base::trim(*name);
    if (auto line = base::read_file(proc + "/cmdline"); line.ok()) {
      arguments_ = *line;
      while (!arguments_.empty() && arguments_.back() == '\0') arguments_.pop_back();
      std::replace(arguments_.begin(), arguments_.end(), '\0', ' ');
    }
    auto status = base::read_file(proc + "/status");
    if (!status.ok()) return;
    const auto number = [&](std::string_view name) {
      return static_cast<uint32_t>(base::parse_integer(base::split(base::status_line(*status, name), '\t')[0]).value_or(0));
    };
    parent_ = number("PPid"), user_ = number("Uid"), group_ = number("Gid");
  }

  void find_all_modules(const std::string& proc) {
    if (search_.sysroot.empty()) search_.sysroot = proc + "/root";
    std::vector<FileMapping> mappings;
    uint64_t vdso = 0;
    for (const Mapped& m : memory_.maps()) {
      if (m.path.starts_with('/')) mappings.push_back({m.begin, m.end, m.offset, m.path});
      if (m.path == "[vdso]") vdso = m.begin;
    }
    modules_ = find_modules(mappings, memory_, search_);
    open_replaced(proc, mappings);
    uint64_t entry = 0;
    if (auto words = base::read_file(proc + "/auxv"); words.ok())
      for (base::Reader r(std::as_bytes(std::span(*words))); r.ok();) {
        auto key = r.number<uint64_t>(), value = r.number<uint64_t>();
        if (key == AT_ENTRY) entry = value;
      }
    mark_program(modules_, entry);
    for (const FileMapping& f : mappings) add_file(f);
    memory_.sort_files();
    if (!vdso) return;
    if (Module m = find_vdso(memory_, vdso); m.end > m.begin) modules_.push_back(std::move(m));
    std::sort(modules_.begin(), modules_.end(),
              [](const Module& a, const Module& b) { return a.begin < b.begin; });
  }

  // Programs and libraries go on as they were when their files are updated.
  void open_replaced(const std::string& proc, std::span<const FileMapping> mappings) {
    for (Module& m : modules_) {
      const auto first = std::ranges::lower_bound(mappings, m.begin, {}, &FileMapping::begin);
      if (m.file || first == mappings.end() || first->begin != m.begin) continue;
      char range[40];
      std::snprintf(range, sizeof range, "/map_files/%lx-%lx", first->begin, first->end);
      open_mapped(m, proc + range);
    }
  }

  // Code and constants that nobody can have changed.
  void add_file(const FileMapping& f) {
    const Module* module = module_at(f.begin);
    if (!module || !module->file || module->path != f.path || module->state != Module::found) return;
    for (const Mapped& m : memory_.maps())
      if (m.begin == f.begin && m.is_writable) return;
    base::ByteSpan bytes = module->file->bytes();
    // Constants that were written when the program was loaded (RELRO) are not as the file has them.
    for (const format::ElfSegment& s : module->file->elf().segments())
      if (s.type == PT_GNU_RELRO && module->bias + s.address < f.end &&
          f.begin < module->bias + s.address + s.memory_size)
        return;
    if (f.offset >= bytes.size()) return;
    memory_.add_file({f.begin, std::min(f.end - f.begin, bytes.size() - f.offset), bytes.data() + f.offset,
                      Missing::none});
  }

  pid_t pid_;
  std::string title_, name_, arguments_;
  uint32_t parent_ = 0, user_ = 0, group_ = 0;
  LiveMemory memory_;
  std::vector<Module> modules_;
  std::vector<Thread> threads_;
  std::vector<std::string> problems_;
  uint64_t pause_ns_ = 0;
};

} // namespace

base::Result<std::unique_ptr<LiveTarget>> open_live(pid_t pid, Search search) {
  auto out = std::make_unique<Process>(pid, std::move(search));
  ACU_CHECK(out->open());
  return std::unique_ptr<LiveTarget>(std::move(out));
}

} // namespace target
