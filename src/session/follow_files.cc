#include "session/follow_files.h"

#include "base/counted.h"
#include "symbol/binaries.h"
#include "symbol/real_file.h"

#include <algorithm>

namespace session {

FollowFiles::FollowFiles(const Compiled& compiled, const base::Source& source, const CompileOptions& options,
                         Backend& backend, Output& output, bool warnings)
    : compiled_(compiled), source_(source), options_(options), backend_(backend), output_(output),
      warnings_(warnings) {}

void FollowFiles::warn(const std::string& text) {
  if (warnings_) output_.message("WARNING: " + text + "\n");
}

void FollowFiles::start() {
  if (options_.pid >= 0) return; // the process has its files open, whatever their names come to mean
  std::set<std::string_view> seen;
  for (const probe::Event& e : compiled_.program.events)
    if (is_in_container(e))
      if (const auto file = symbol::real_file(e.binary)) probed_.insert(*file);
  for (const probe::Event& e : compiled_.program.events) {
    if (e.binary.empty() || !e.module || !seen.insert(e.binary).second || is_in_container(e)) continue;
    base::FileId id = e.module->file().id();
    if (!id.inode) { // inside of an archive
      auto fd = base::open_regular(e.binary);
      auto current = fd.ok() ? base::file_id(fd->get()) : base::Result<base::FileId>(base::Error());
      if (!current.ok()) continue;
      id = *current;
    }
    if (auto added = files_.add(e.binary, id); !added.ok())
      return warn("cannot watch files with user probes: " + added.error().message);
  }
}

// Programs of equal text are equal: they were made by the same steps.
static bool same_programs(const ir::Program& a, const ir::Program& b) {
  if (a.probes.size() != b.probes.size() || a.functions.size() != b.functions.size()) return false;
  if (a.probe_names != b.probe_names || a.strings != b.strings || a.maps.size() != b.maps.size())
    return false;
  for (size_t i = 0; i < a.probes.size(); i++)
    if (a.probes[i].function != b.probes[i].function || a.probes[i].is_session != b.probes[i].is_session)
      return false;
  for (size_t i = 0; i < a.functions.size(); i++)
    if (ir::to_string(a.functions[i], a) != ir::to_string(b.functions[i], b)) return false;
  return true;
}

base::Result<size_t> FollowFiles::attach(const Compiled& fresh, const WantsFile& wants) {
  if (!same_programs(compiled_.program, fresh.program))
    return base::Error{base::Failure::runtime, "the programs of the script do not match it"};
  size_t attached = 0;
  // The last one first, as the kernel runs them the other way round.
  for (auto i = static_cast<uint32_t>(fresh.program.probes.size()); i-- > 0;) {
    const ir::Probe& probe = fresh.program.probes[i];
    std::vector<const probe::Event*> events;
    std::vector<uint64_t> cookies;
    for (size_t k = 0; k < probe.events.size(); k++) {
      const probe::Event& e = fresh.program.events[probe.events[k]];
      if (e.binary.empty() || !wants(e.binary)) continue;
      events.push_back(&e);
      if (!probe.cookies.empty()) cookies.push_back(probe.cookies[k]);
    }
    if (events.empty()) continue;
    ACU_CHECK(backend_.attach_more(i, events, cookies, {}));
    attached += events.size();
  }
  return attached;
}

void FollowFiles::replaced(const std::string& path) {
  base::Source source(source_.name(), std::string(source_.text()));
  base::Diagnostics mistakes;
  Compiled fresh = compile(source, options_, mistakes);
  base::Result<size_t> attached = base::Error{base::Failure::runtime, ""};
  if (fresh.ok) {
    attached = attach(fresh, [&](const std::string& binary) { return binary == path; });
  } else {
    for (const base::Diagnostic& d : mistakes.all())
      if (d.severity == base::Severity::error && attached.error().message.empty())
        attached.error().message = d.message;
  }
  if (attached.ok()) {
    followed_++;
    return warn(path + " was replaced: " + base::counted(*attached, "probe") + " attached to the new file");
  }
  lost_++;
  warn(path + " was replaced, and processes started from now on are not traced: " +
       attached.error().message + "; restart acu to probe the new file");
}

// Those of a container are named by one of its processes.
bool FollowFiles::is_in_container(const probe::Event& event) const {
  return !event.binary.empty() && (!options_.container.empty() || event.name.find(symbol::container_sign) != std::string::npos);
}

std::vector<std::string> FollowFiles::containers() const {
  std::set<std::string> out;
  for (const probe::Event& e : compiled_.program.events) {
    if (!is_in_container(e)) continue;
    const size_t at = e.name.find(symbol::container_sign);
    const size_t begin = at + symbol::container_sign.size();
    out.insert(at == std::string::npos ? options_.container : e.name.substr(begin, e.name.find(':', begin) - begin));
  }
  return {out.begin(), out.end()};
}

void FollowFiles::follow_containers() {
  base::Source source(source_.name(), std::string(source_.text()));
  base::Diagnostics mistakes;
  const Compiled fresh = compile(source, options_, mistakes);
  if (!fresh.ok) return; // the program in a container has not started yet, or the container has gone
  std::set<std::string> files;
  for (const probe::Event& e : fresh.program.events)
    // A process that has just started has the files of the host.
    if (is_in_container(e) && e.binary.starts_with("/proc/") && !files.contains(e.binary))
      if (const auto file = symbol::real_file(e.binary); file && probed_.insert(*file).second) files.insert(e.binary);
  if (files.empty()) return;
  const base::Result<size_t> attached = attach(fresh, [&](const std::string& binary) { return files.contains(binary); });
  if (attached.ok()) return warn("a container with another file started: " + base::counted(*attached, "probe") + " attached to it");
  lost_ += files.size();
  warn("a container with another file started, which is not traced: " + attached.error().message + "; restart acu to probe it");
}

void FollowFiles::follow() {
  for (const watch::ProbedFiles::Change& change : files_.take()) {
    if (change.kind == watch::ProbedFiles::Change::replaced) {
      replaced(change.path);
    } else {
      // What the probes save and restore is code that is no longer there.
      backend_.detach_file(change.path);
      warn(change.path +
           " is being written to: its probes were detached to protect the new code");
    }
  }
}

std::string FollowFiles::describe() const {
  if (!lost_) return {};
  return "WARNING: " + base::counted(lost_, "file") + " " + std::string(base::was_or_were(lost_)) +
         " replaced while probed; processes that run the new code were not traced.\n";
}

} // namespace session
