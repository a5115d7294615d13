#include "watch/thread_contexts.h"

#include "base/clock.h"
#include "base/counted.h"
#include "spec/thread_context.h"
#include "symbol/process_map.h"

namespace watch {

namespace {

constexpr uint64_t longest_work = 1'000'000, longest_start = 60'000'000; // ns of this thread's CPU time

uint64_t cpu_clock_ns() { return base::clock_ns(CLOCK_THREAD_CPUTIME_ID); }

} // namespace

ThreadContexts::ThreadContexts(const ir::Program& program, ir::Engine& engine, symbol::UserSymbols& users, ProcessWatch& watch, std::optional<pid_t> first)
    : program_(program), engine_(engine), users_(users), watch_(watch) {
  users_.keep_contents();
  watch_.add_follower(this);
  if (!watch_.only()) survey_ = symbol::all_processes();
  if (watch_.only()) first = static_cast<pid_t>(*watch_.only());
  if (first) survey_.push_back(static_cast<uint32_t>(*first));
  survey(longest_start);
}

ThreadContexts::~ThreadContexts() { watch_.remove_follower(this); }

const ThreadContexts::Variable& ThreadContexts::in_file(uint32_t index) {
  const auto known = files_.find(index);
  if (known != files_.end()) return known->second;
  static const Variable none;
  const std::shared_ptr<const format::ElfFile> elf = users_.files().elf(index);
  if (!elf) return none; // it may be opened later
  return files_[index] = format::find_thread_variable(*elf, spec::thread_context_variable);
}

// The program's own variable is the one that its libraries use, too; of several libraries the first is taken.
void ThreadContexts::look(uint32_t pid) {
  Variable found;
  for (const symbol::CodeRange& range : users_.history().ranges(pid)) {
    if (range.file == symbol::CodeFiles::none) continue;
    const Variable& in_this = in_file(range.file);
    if (!in_this || (found && in_this->how != spec::ThreadVariable::fixed)) continue;
    const std::optional<uint64_t> bias = users_.bias_of(static_cast<pid_t>(pid), range);
    if (!bias) continue;
    found = in_this;
    if (found->place) found->place += *bias;
    if (found->how == spec::ThreadVariable::fixed) break;
  }
  put(pid, found);
}

// Entries cannot be taken out one by one: one that leads nowhere takes the place of a process that has ended. When the map is full, it is made anew.
void ThreadContexts::put(uint32_t pid, const Variable& variable) {
  const auto write = [&](uint32_t process, const spec::ThreadVariable& to) {
    const uint64_t key = process;
    return engine_.put(program_.thread_contexts, std::as_bytes(std::span(&key, 1)), std::as_bytes(std::span(&to, 1))).ok();
  };
  if (!variable) {
    if (processes_.erase(pid)) write(pid, {.how = 0});
    return;
  }
  processes_[pid] = *variable;
  if (write(pid, *variable)) return;
  if (!engine_.clear_map(program_.thread_contexts).ok()) return;
  for (const auto& [process, to] : processes_)
    if (!write(process, to)) refused_++;
}

void ThreadContexts::take(const symbol::ProcessEvent& e) {
  using Kind = symbol::ProcessEvent::Kind;
  switch (e.kind) {
  case Kind::fork:
    if (const auto parent = processes_.find(e.parent); parent != processes_.end() && e.parent != e.pid) put(e.pid, parent->second);
    break;
  case Kind::exec:
  case Kind::exit:
    changed_.erase(e.pid);
    put(e.pid, std::nullopt);
    break;
  case Kind::mapping: changed_.insert(e.pid); break;
  case Kind::lost:
  case Kind::none: break;
  }
}

void ThreadContexts::settle() {
  for (uint32_t pid : changed_)
    if (users_.know(static_cast<pid_t>(pid))) look(pid);
  changed_.clear();
}

bool ThreadContexts::work() { return survey(longest_work); }

// Looks at the processes that run, for so many ns; false: all have been looked at.
bool ThreadContexts::survey(uint64_t longest) {
  const uint64_t start = cpu_clock_ns();
  while (!survey_.empty() && cpu_clock_ns() - start < longest) {
    const uint32_t pid = survey_.back();
    survey_.pop_back();
    if (!processes_.contains(pid) && users_.know(static_cast<pid_t>(pid))) look(pid);
  }
  return !survey_.empty();
}

std::string ThreadContexts::describe() const {
  return "thread contexts: published by " + base::counted(processes_.size(), "process") +
         (refused_ ? ", no room for " + base::counted(refused_, "process") : std::string());
}

} // namespace watch
