#include "why/call_time.h"

#include "proc/text.h"
#include "session/script_maps.h"

#include <algorithm>
#include <filesystem>

namespace why {

std::map<uint32_t, uint64_t> runnable_times(int pid) {
  std::map<uint32_t, uint64_t> out;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    const std::string times = proc::text_of(entry.path() / "schedstat");
    const std::vector<std::string_view> words = proc::words_of(times);
    if (const auto thread = proc::decimal(entry.path().filename().native()); thread && words.size() >= 2)
      out[static_cast<uint32_t>(*thread)] = proc::decimal(words[0]).value_or(0) + proc::decimal(words[1]).value_or(0);
  }
  return out;
}

base::Result<Sliced> CallTime::busy(session::Runner& runner, uint64_t interval_ns, uint64_t slice_ns) const {
  ACU_TRY(const std::vector<ScriptRow> seen, read_rows(runner, "seen"));
  ACU_TRY(const std::vector<ScriptRow> idle, read_rows(runner, "idle"));
  ACU_TRY(const std::vector<ScriptRow> open, read_rows(runner, "in_call"));
  ACU_TRY(const uint64_t began, session::read_number(runner.program(), runner.backend().engine(), "began"));
  const double slice = static_cast<double>(slice_ns);
  std::map<uint32_t, Sliced> idle_of;
  for (const ScriptRow& r : seen) idle_of[static_cast<uint32_t>(r.number("key"))];
  for (const ScriptRow& r : idle)
    if (const auto at = idle_of.find(static_cast<uint32_t>(r.number("0"))); at != idle_of.end()) at->second.add_to(r.number("1"), static_cast<double>(r.sum()));
  // Waits that go on.
  const uint64_t measured = std::min(interval_ns, slice_ns * Sliced::slices);
  for (const ScriptRow& r : open) {
    const auto at = idle_of.find(static_cast<uint32_t>(r.number("key")));
    if (at == idle_of.end() || !r.number("at") || !r.number("waits")) continue;
    at->second.add_span(proc::growth(began, r.number("at")), measured, slice_ns);
  }
  Sliced out;
  for (const auto& [thread, its] : idle_of)
    for (size_t i = 0; i < Sliced::slices; i++) out.add_to(i, std::max(0.0, slice - its.of(i)));
  for (const auto& [thread, now] : runnable_times(pid_)) {
    if (idle_of.contains(thread)) continue;
    const auto before = before_.find(thread);
    const double ns = static_cast<double>(proc::growth(before == before_.end() ? 0 : before->second, now));
    for (size_t i = 0; i < Sliced::slices; i++) out.add_to(i, ns / static_cast<double>(Sliced::slices));
  }
  return out;
}

} // namespace why
