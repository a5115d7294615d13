// The measurement `snapshot`: threads that did not move during the interval. Some wait for each other's mutexes in a circle; others hang in the kernel, or
// are stopped. Their stacks do not change, so memory is read while the process goes on.
#include "profile/tables.h"
#include "report/target_names.h"
#include "target/live_target.h"
#include "trace/values.h"
#include "why/instruments.h"
#include "why/slots.h"
#include "why/still_threads.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

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

// The thread's own code, read while it waits.
class Code {
public:
  explicit Code(int pid) {
    base::Result<std::unique_ptr<target::LiveTarget>> opened = target::open_live(pid, {});
    if (!opened.ok()) return;
    target_ = std::move(*opened);
    stacks_.emplace(*target_);
    names_.emplace(*target_, *stacks_);
  }
  ProgramLocation location(const StillThread& thread) {
    if (!target_ || !thread.pc) return {};
    unwind::Registers start;
    start.set(unwind::Registers::rip, thread.pc);
    start.set(unwind::Registers::rsp, thread.sp);
    for (const unwind::Frame& frame : stacks_->from(start).frames)
      for (const symbol::Frame& f : names_->frames_at(frame.look_up(), false))
        if (!f.name.empty() && !profile::is_shared_code(f.module, f.name) && !profile::is_of_library(f))
          return {.function = std::string(f.name), .file = std::string(f.file.substr(f.file.rfind('/') + 1)), .line = f.line};
    return {};
  }
  std::string variable(uint64_t address) {
    std::string out = target_ ? names_->data_at(address) : std::string();
    if (out.ends_with("+0")) out.resize(out.size() - 2);
    if (!out.empty()) return out;
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
  }

private:
  std::unique_ptr<target::LiveTarget> target_;
  std::optional<target::Stacks> stacks_;
  std::optional<report::TargetNames> names_;
};

class SnapshotInstrument final : public Instrument {
public:
  explicit SnapshotInstrument(const Subject& subject) : subject_(subject) {}
  void begin() override { before_ = sleeping_threads(subject_.pid); }
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void add(std::string_view kind, Slots slots) { out_.push_back(fact_about(subject_.pid, kind, measurement, std::move(slots))); }
  void add_circles(double seconds);
  void add_circle(const std::vector<uint32_t>& circle, const std::map<uint32_t, uint64_t>& locks, double seconds);
  void add_stuck(double seconds);
  std::string waits_for(const StillThread& thread, const std::vector<std::string>& kernel) const;

  Subject subject_;
  std::map<uint32_t, StillThread> before_, still_;
  std::optional<Code> code_;
  std::vector<Fact> out_;
};

void SnapshotInstrument::add_circle(const std::vector<uint32_t>& circle, const std::map<uint32_t, uint64_t>& locks, double seconds) {
  std::string threads, names;
  double since = 0; // the last that came into the circle closed it
  for (const uint32_t thread : circle) {
    const StillThread& t = still_.at(thread);
    const ProgramLocation location = code_->location(t);
    threads += std::to_string(thread) + (location.function.empty() ? "" : " in " + location.function) + " -> ";
    names += (names.empty() ? "" : ", ") + code_->variable(locks.at(thread));
    since = since > 0 ? std::min(since, t.seconds) : t.seconds;
  }
  threads += std::to_string(circle.front());
  Slots slots = {{"threads", threads}, {"locks", names}, {"seconds", std::max(since, seconds)}};
  put_location(slots, code_->location(still_.at(circle.front())));
  add("lock-cycle", std::move(slots));
}

void SnapshotInstrument::add_circles(double seconds) {
  std::map<uint32_t, uint32_t> by_own, next;
  std::map<uint32_t, uint64_t> locks;
  for (const auto& [tid, thread] : still_) by_own[thread.own_tid] = tid;
  for (const auto& [tid, thread] : still_) {
    const MutexWait wait = mutex_of(subject_.pid, thread);
    const auto owner = by_own.find(wait.owner);
    if (!wait.owner || owner == by_own.end()) continue;
    next[tid] = owner->second;
    locks[tid] = wait.address;
  }
  for (const std::vector<uint32_t>& circle : find_circles(next)) {
    if (!code_) code_.emplace(subject_.pid);
    add_circle(circle, locks, seconds);
  }
}

// A file that the call is about, if its first argument is a descriptor, or what the kernel's functions are for.
std::string SnapshotInstrument::waits_for(const StillThread& thread, const std::vector<std::string>& kernel) const {
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
  std::ranges::sort(stuck, std::greater(), &StillThread::seconds);
  if (stuck.size() > most_facts) stuck.resize(most_facts);
  for (const StillThread* t : stuck) {
    if (!code_) code_.emplace(subject_.pid);
    const std::vector<std::string> kernel = kernel_functions(subject_.pid, t->tid);
    Slots slots = {{"thread", int64_t{t->tid}},
                   {"state", std::string(1, t->state)},
                   {"seconds", std::max(t->seconds, seconds)},
                   {"kernel_function", kernel.empty() ? std::string() : kernel.front()},
                   {"what", waits_for(*t, kernel)}};
    put_location(slots, code_->location(*t));
    add("stuck-thread", std::move(slots));
  }
}

base::Result<std::vector<Fact>> SnapshotInstrument::end(uint64_t interval_ns) {
  for (const auto& [tid, thread] : sleeping_threads(subject_.pid))
    if (const auto before = before_.find(tid); before != before_.end() && before->second == thread) still_[tid] = thread;
  const double seconds = static_cast<double>(interval_ns) / 1e9;
  add_circles(seconds);
  add_stuck(seconds);
  return std::move(out_);
}

} // namespace

std::unique_ptr<Instrument> make_snapshot_instrument(const Subject& subject) { return std::make_unique<SnapshotInstrument>(subject); }

} // namespace why
