// The measurement `snapshot`: threads that did not move during the interval. Some wait for each other's mutexes in a circle; others hang in the kernel, or
// are stopped or frozen. Their stacks do not change, so memory is read while the process goes on.
#include "base/process_status.h"
#include "base/text.h"
#include "proc/process_files.h"
#include "proc/text.h"
#include "target/live_target.h"
#include "target/thread_stop.h"
#include "trace/values.h"
#include "why/instruments.h"
#include "why/program_code.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sys/syscall.h>
#include <utility>

namespace why {

namespace {

constexpr std::string_view measurement = "snapshot";
constexpr size_t most_facts = 8; // of stuck threads

struct KernelWait {
  std::string_view part; // of the name of a function of the kernel
  std::string_view what;
};
constexpr KernelWait kernel_waits[] = {
    {"nfs", "an NFS server"},   {"rpc_wait", "an NFS server"},      {"fuse", "a FUSE server"},       {"cifs", "an SMB server"},     {"ceph", "a Ceph server"},
    {"p9_client", "a 9P server"}, {"kernel_clone", "the program that it starts (vfork)"}, {"nvme", "an NVMe device"}, {"scsi", "a SCSI device"}, {"jbd2", "the file system's journal"},
    {"blk_", "a disk"},         {"submit_bio_wait", "a disk"},      {"folio_wait", "pages of a file"}, {"mem_cgroup", "memory of its control group"}, {"freezer", "its control group, which is frozen"},
};

class SnapshotInstrument final : public Instrument {
public:
  explicit SnapshotInstrument(const Subject& subject) : subject_(subject) {}
  void begin() override { before_ = sleeping_threads(subject_.pid); }
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void add(std::string_view kind, Slots slots) { out_.push_back(fact_about(subject_.pid, kind, measurement, std::move(slots))); }
  ProgramCode* code();
  ProgramLocation location(const StillThread& thread);
  void add_stuck(double seconds);
  std::string waits_for(const StillThread& thread, const std::vector<std::string>& kernel) const;

  Subject subject_;
  std::map<uint32_t, StillThread> before_, still_;
  bool is_opened_ = false;
  std::unique_ptr<target::LiveTarget> target_; // read while its threads wait
  std::optional<ProgramCode> code_;
  std::vector<Fact> out_;
};

ProgramLocation SnapshotInstrument::location(const StillThread& thread) { return code() ? code()->location(thread) : ProgramLocation(); }

// Its group is frozen: version 2, where the compiler may have inlined it into its caller, and version 1.
bool is_frozen(const std::vector<std::string>& kernel) {
  constexpr std::string_view freezers[] = {"do_freezer_trap", "get_signal", "__refrigerator"};
  return !kernel.empty() && base::is_one_of(freezers, kernel.front());
}

// "gdb (process 17)"; empty: not known.
std::string tracer_of(int pid) {
  const std::string tracer = base::status_of(pid, "TracerPid");
  const uint64_t number = proc::decimal(tracer).value_or(0);
  return number ? base::printable(proc::name_of_process(static_cast<int>(number))) + " (process " + tracer + ")" : std::string();
}

// Opened when it is first asked for; nullptr: it cannot be.
ProgramCode* SnapshotInstrument::code() {
  if (!std::exchange(is_opened_, true)) {
    base::Result<std::unique_ptr<target::LiveTarget>> opened = target::open_live(subject_.pid, {});
    if (opened.ok()) target_ = std::move(*opened), code_.emplace(*target_);
  }
  return code_ ? &*code_ : nullptr;
}

// A file that the call is about, if its first argument is a descriptor, or what the kernel's functions are for.
std::string SnapshotInstrument::waits_for(const StillThread& thread, const std::vector<std::string>& kernel) const {
  if (thread.state == 't') return tracer_of(subject_.pid);
  std::string out;
  for (const std::string& function : kernel) {
    const auto* found = std::ranges::find_if(kernel_waits, [&](const KernelWait& w) { return function.find(w.part) != function.npos; });
    if (found == std::end(kernel_waits)) continue;
    out = found->what;
    break;
  }
  if (thread.call < 0 || !trace::known_call(static_cast<int>(thread.call)).is_of_descriptor()) return out;
  std::error_code none;
  const std::string file = std::filesystem::read_symlink("/proc/" + std::to_string(subject_.pid) + "/fd/" + std::to_string(thread.arguments[0]), none).native();
  if (file.empty()) return out;
  return out.empty() ? file : out + " (" + file + ")";
}

void SnapshotInstrument::add_stuck(double seconds) {
  std::vector<const StillThread*> stuck;
  for (const auto& [tid, thread] : still_)
    if (thread.state == 'D' || thread.state == 'T' || thread.state == 't') stuck.push_back(&thread);
  // A group freezes with all its threads; they look asleep.
  const auto main = still_.find(static_cast<uint32_t>(subject_.pid));
  if (stuck.empty() && main != still_.end() && main->second.state == 'S') stuck.push_back(&main->second);
  std::ranges::sort(stuck, std::greater(), &StillThread::seconds);
  if (stuck.size() > most_facts) stuck.resize(most_facts);
  for (const StillThread* t : stuck) {
    const std::vector<std::string> kernel = kernel_functions(subject_.pid, t->tid);
    if (t->state == 'S' && !is_frozen(kernel)) continue;
    Slots slots = {{"thread", int64_t{t->tid}},
                   {"state", t->state == 'S' ? "frozen" : std::string(1, t->state)},
                   {"seconds", std::max(t->seconds, seconds)},
                   {"kernel_function", kernel.empty() ? std::string() : kernel.front()},
                   {"what", waits_for(*t, kernel)}};
    put_location(slots, location(*t));
    add("stuck-thread", std::move(slots));
  }
}

base::Result<std::vector<Fact>> SnapshotInstrument::end(uint64_t interval_ns) {
  for (const auto& [tid, thread] : sleeping_threads(subject_.pid))
    if (const auto before = before_.find(tid); before != before_.end() && before->second == thread) still_[tid] = thread;
  const double seconds = static_cast<double>(interval_ns) / 1e9;
  const auto is_in_futex = [](const auto& t) { return t.second.call == SYS_futex; };
  if (std::ranges::any_of(still_, is_in_futex))
    for (Slots& slots : lock_cycles(still_, memory_of_process(subject_.pid), code(), seconds)) add("lock-cycle", std::move(slots));
  add_stuck(seconds);
  return std::move(out_);
}

} // namespace

std::unique_ptr<Instrument> make_snapshot_instrument(const Subject& subject) { return std::make_unique<SnapshotInstrument>(subject); }

} // namespace why
