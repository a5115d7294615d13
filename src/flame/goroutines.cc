#include "flame/goroutines.h"

#include "base/process_memory.h"
#include "base/text.h"
#include "budget/trap_cost.h"
#include "format/load_bias.h"
#include "session/child.h"
#include "symbol/binaries.h"
#include "symbol/process_map.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

namespace flame {

namespace {

constexpr std::string_view in_system_call = "[system call]";
constexpr std::array<std::string_view, 7> idle = {"GC worker (idle)", "GC sweep wait", "GC scavenge wait", "force gc (idle)", "finalizer wait", "cleanup wait", "trace reader (blocked)"};

struct Finder {
  Goroutines out;

  // `place`: the file as probes name it.
  void add(symbol::Binary& file, const std::string& place) {
    base::Result<format::GoWaits> waits = format::find_go_waits(file.file());
    if (!waits.ok()) return out.problems.push_back(file.name() + ": " + waits.error().message);
    const std::string number = std::to_string(out.programs.size());
    const GoProgram& program = add_program(out, file.name(), file.file().id().inode, file.file(), std::move(*waits));
    out.functions += "begin { @go_files[(uint64)" + std::to_string(program.inode) + "] = (uint64)1; }\n";
    out.functions += "parking" + number + " = uprobe:program:function /counts()/ { PARKING(" + std::to_string(program.first_note) + ", " +
                     std::to_string(idle_reasons(program.waits.reasons)) + ", " + std::to_string(program.branch_in_page()) + ") }\n";
    out.functions += "resuming" + number + " = uprobe:program:function { RESUMING }\n";
    out.places.push_back({"parking" + number, session::user_place("uprobe", place, "runtime.gopark"), "goroutines"});
    out.places.push_back({"resuming" + number, session::user_place("uprobe", place, "runtime.execute"), "goroutines"});
  }

  // The probes of programs that start later: their places, and what they differ in, are known then.
  void add_later() {
    out.is_of_all = true;
    out.functions += "tracepoint:sched:sched_process_exec { @execs++; @began[(uint64)pid] = (uint64)nsecs; }\n"
                     "tracepoint:sched:sched_process_exit /curtask.pid == curtask.tgid && has_key(@began, (uint64)pid)/ { delete(@began, (uint64)pid); }\n"
                     "later_parking = uprobe:program:function /has_key(@later, EXECUTED_FILE) && counts()/ {\n"
                     "  $program = @later[EXECUTED_FILE];\n"
                     "  PARKING($program.0, $program.1, $program.2)\n"
                     "}\n"
                     "later_resuming = uprobe:program:function { RESUMING }\n";
    for (const char* probe : {"later_parking", "later_resuming"}) out.places.push_back({probe, budget::place_in_acu(), "goroutines"});
  }
};

// Files that are no Go programs, of what was looked at.
std::string searched(const std::vector<std::string>& names) {
  constexpr size_t most = 3;
  std::string out;
  for (size_t i = 0; i < std::min(most, names.size()); i++) out.append(i ? ", " : "").append(names[i]);
  return out + (names.size() > most ? ", …" : "");
}

void find_in_process(Finder& to, int pid, bool is_only, std::vector<std::string>& others) {
  symbol::Binaries binaries(pid);
  for (const symbol::Binaries::Mapped& mapped : binaries.mapped()) {
    auto files = binaries.find(mapped.path);
    if (!files.ok()) continue;
    for (symbol::Binary* file : *files) {
      const auto is_known = [&](const GoProgram& p) { return p.inode == file->file().id().inode; };
      if (std::ranges::any_of(to.out.programs, is_known)) continue;
      if (format::looks_like_go(file->file()))
        to.add(*file, is_only ? file->name() : file->host_path());
      else
        others.push_back(file->name());
    }
  }
}

base::Error none(std::string what, std::string_view hint) {
  return {base::Failure::nothing_matched, std::move(what) + "\nhint: " + std::string(hint)};
}

} // namespace

const GoProgram& add_program(Goroutines& to, std::string name, uint64_t inode, const format::ElfFile& file, format::GoWaits waits) {
  constexpr size_t reasons = 256; // numbers of one byte
  GoProgram program = {.name = std::move(name), .inode = inode, .segments = file.elf().segments(), .waits = std::move(waits), .first_note = static_cast<uint32_t>(to.notes.size())};
  for (size_t i = 0; i < reasons; i++)
    to.notes.push_back(i < program.waits.reasons.size() && i ? "[" + program.waits.reasons[i] + "]" : "[waits]");
  if (program.waits.reasons.empty()) to.problems.push_back(program.name + ": the runtime's names of reasons were not found; waits have no reason");
  return to.programs.emplace_back(std::move(program));
}

bool is_go_program(const session::TargetFilter& filter, const std::vector<std::string>& command) {
  std::string path;
  if (filter.pid >= 0) path = "/proc/" + std::to_string(filter.pid) + "/exe";
  if (!command.empty())
    if (auto found = session::find_executable(command.front(), "--"); found.ok()) path = *found;
  const auto file = format::ElfFile::open(path);
  return file.ok() && format::looks_like_go(*file);
}

uint64_t idle_reasons(const std::vector<std::string>& reasons) {
  constexpr size_t bits = 64;
  uint64_t out = 0;
  for (size_t i = 0; i < std::min(bits, reasons.size()); i++)
    if (std::ranges::find(idle, reasons[i]) != idle.end()) out |= uint64_t{1} << i;
  return out;
}

base::Result<Goroutines> find_goroutines(const session::TargetFilter& filter, const std::vector<std::string>& command) {
  Finder finder;
  finder.out.notes.emplace_back(in_system_call);
  std::vector<std::string> others;
  const std::vector<int> pids = filter.processes();
  std::string where;
  std::string_view hint;
  if (!command.empty()) {
    ACU_TRY(const std::string path, session::find_executable(command.front(), "--"));
    symbol::Binaries binaries;
    ACU_TRY(const std::vector<symbol::Binary*> files, binaries.find(path));
    for (symbol::Binary* file : files)
      if (format::looks_like_go(file->file())) finder.add(*file, file->host_path());
    where = "`" + path + "` is no Go program";
    hint = "name the Go program itself after `--`, without a shell; acu flame offcpu shows what threads wait for";
  } else if (!pids.empty()) {
    for (int pid : pids) find_in_process(finder, pid, pids.size() == 1, others);
    where = "no Go program in process " + std::to_string(pids.front()) + (pids.size() > 1 ? " or the others" : "") + ": it has mapped " +
            (others.empty() ? "no readable files" : searched(others));
    hint = "acu flame offcpu shows what its threads wait for";
  } else {
    symbol::Binaries binaries;
    for (symbol::Binary* file : binaries.find_running())
      if (format::looks_like_go(file->file())) finder.add(*file, file->host_path());
    finder.add_later();
    return std::move(finder.out);
  }
  if (!finder.out.programs.empty()) return std::move(finder.out);
  if (!finder.out.problems.empty())
    return base::Error{base::Failure::unsupported, "goroutines cannot be followed: " + finder.out.problems.front() + "\nhint: acu flame offcpu shows what threads wait for"};
  return none(where, hint);
}

// ---- goroutines that wait already

namespace {

namespace field = format::go_goroutine;

template <class T> std::optional<T> read(uint32_t pid, uint64_t address) {
  T out = {};
  const bool is_read = base::read_process(static_cast<pid_t>(pid), address, std::as_writable_bytes(std::span(&out, 1)));
  return is_read ? std::optional(out) : std::nullopt;
}

// A struct g as far as it is used.
struct Fields {
  explicit Fields(const std::vector<std::byte>& bytes, uint32_t reason_at)
      : stack_begin(word(bytes, field::stack_begin)), stack_end(word(bytes, field::stack_end)), sp(word(bytes, field::saved_sp)),
        saved_g(word(bytes, field::saved_g)), reason(static_cast<uint8_t>(bytes[reason_at])),
        status(static_cast<uint32_t>(word(bytes, reason_at - field::status_before_reason))) {
    // In one of two places, and in the stack.
    for (uint32_t at : field::saved_bp)
      if (const uint64_t value = word(bytes, at); !bp && value >= sp && value < stack_end) bp = value;
  }
  static uint64_t word(const std::vector<std::byte>& bytes, uint32_t at) {
    uint64_t out = 0;
    std::memcpy(&out, bytes.data() + at, sizeof out);
    return out;
  }
  static uint32_t size(uint32_t reason_at) { return std::max(reason_at, field::saved_bp[0]) + sizeof(uint64_t); }

  uint64_t stack_begin, stack_end, sp, saved_g;
  uint8_t reason;
  uint32_t status;
  uint64_t bp = 0;
};

// From frame to frame by frame pointers, which Go always has: the caller's, then the return address.
void walk(const Fields& g, uint64_t innermost, WaitingGoroutine& to) {
  constexpr size_t most_frames = 500;
  constexpr uint64_t most_bytes = 1 << 20;
  to.frames = {innermost};
  if (!g.bp || g.sp < g.stack_begin || g.stack_end <= g.sp) return;
  std::vector<std::byte> stack(std::min(g.stack_end - g.sp, most_bytes));
  if (!base::read_process(static_cast<pid_t>(to.pid), g.sp, stack)) return;
  for (uint64_t bp = g.bp; to.frames.size() < most_frames;) {
    const uint64_t at = bp - g.sp;
    if (at + 2 * sizeof(uint64_t) > stack.size()) return;
    const uint64_t caller = Fields::word(stack, static_cast<uint32_t>(at)), returns_to = Fields::word(stack, static_cast<uint32_t>(at + sizeof(uint64_t)));
    if (returns_to) to.frames.push_back(returns_to);
    to.is_whole = !caller || !returns_to;
    if (caller <= bp || !returns_to) return;
    bp = caller;
  }
}

// What the loader added to the addresses of the program, if the process has mapped it.
std::optional<uint64_t> bias_in(const std::vector<symbol::Mapping>& map, const GoProgram& program) {
  for (const symbol::Mapping& m : map)
    if (m.inode == program.inode && m.is_file())
      return format::bias_of(program.segments, {.begin = m.begin, .end = m.end, .offset = m.offset, .may_be_executed = true});
  return std::nullopt;
}

constexpr uint32_t in_call = 3, waits = 4, being_scanned = 0x1000; // values of g.atomicstatus

} // namespace

RunningGoroutines::RunningGoroutines(const std::vector<GoProgram>& programs, const std::vector<int>& pids) {
  std::vector<uint32_t> looked_at(pids.begin(), pids.end());
  if (pids.empty()) looked_at = symbol::all_processes();
  for (uint32_t pid : looked_at) {
    const std::vector<symbol::Mapping> map = symbol::read_process_map(static_cast<pid_t>(pid));
    for (const GoProgram& program : programs)
      if (const auto bias = bias_in(map, program)) unreadable_ += !add(pid, program, *bias);
  }
}

bool RunningGoroutines::add(uint32_t pid, const GoProgram& program, uint64_t bias) {
  constexpr uint64_t most = 1 << 20;
  if (!program.waits.goroutines || !program.waits.reason_at) return false;
  const auto list = read<std::array<uint64_t, 2>>(pid, program.waits.goroutines + bias); // address, how many
  if (!list || (*list)[1] > most) return false;
  std::vector<uint64_t> addresses((*list)[1]);
  if (!base::read_process(static_cast<pid_t>(pid), (*list)[0], std::as_writable_bytes(std::span(addresses)))) return false;
  processes_.push_back({pid, &program, bias, all_.size(), addresses.size()});
  for (uint64_t g : addresses) all_.emplace_back(pid, g);
  return true;
}

std::vector<WaitingGoroutine> RunningGoroutines::waiting() {
  std::vector<WaitingGoroutine> out;
  for (const Process& p : processes_) {
    const format::GoWaits& layout = p.program->waits;
    const uint64_t idle_bits = idle_reasons(layout.reasons);
    const auto name = base::read_file("/proc/" + std::to_string(p.pid) + "/comm");
    const std::string process(name.ok() ? base::trim(*name) : "");
    std::vector<std::byte> bytes(Fields::size(layout.reason_at));
    for (size_t i = p.first; i < p.first + p.count; i++) {
      const uint64_t address = all_[i].second;
      if (!base::read_process(static_cast<pid_t>(p.pid), address, bytes)) continue;
      const Fields g(bytes, layout.reason_at);
      in_calls_ += (g.status & ~being_scanned) == in_call;
      if ((g.status & ~being_scanned) != waits || g.saved_g != address) continue;
      if (g.reason < 64 && (idle_bits >> g.reason & 1)) continue;
      out.push_back({.pid = p.pid, .address = address, .note = p.program->first_note + g.reason, .process = process});
      walk(g, layout.park + p.bias, out.back());
    }
  }
  return out;
}

} // namespace flame
