#include "session/losses.h"

#include "base/counted.h"
#include "base/diagnostics.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <sys/resource.h>
#include <utility>

namespace session {

using base::counted;
using ir::Fault;

namespace {

std::string times(uint64_t n) { return n == 1 ? "once" : counted(n, "time"); }

// Follows a sentence about an event that happened more than once.
std::string repeated(uint64_t n) { return n == 1 ? "" : " (" + times(n) + ")"; }

bool is_read(Fault f) { return f == Fault::read_kernel || f == Fault::read_user; }

// The sentence for a site at which something happened `n` times; empty if it is not reported.
std::string sentence(const ir::Site& site, uint64_t n, const LossOptions& options) {
  if (!options.warnings) return {};
  switch (site.fault) {
  case Fault::division_by_zero:
    return "Divide or modulo by 0 detected. This can lead to unexpected results. 1 is being used as the "
           "result." +
           repeated(n);
  case Fault::index_out_of_range: return "Index out of range " + times(n) + "; the value was 0.";
  case Fault::loop_limit:
    if (site.detail.empty()) // one that the script did not write
      return "The string is too long to process on a kernel without bpf_loop(): " + times(n) +
             " only its beginning was used. Lower max_strlen.";
    return "The loop reached its limit of " + site.detail + " turns " + times(n) + ". Increase loop_limit.";
  case Fault::entry_missing:
    return "The entry of " + counted(n, "call") + " was not recorded: the block did not run when " +
           (n == 1 ? "it" : "they") + " returned.";
  case Fault::depth_unknown:
    return "len() of a stored user stack was 0 " + times(n) +
           ": stacks in newly mapped code are unwound later, outside the kernel. Use len(ustack) for the current stack.";
  case Fault::cpid_missing: return "cpid was read " + times(n) + " but there is no command (-c).";
  case Fault::read_kernel:
  case Fault::read_user:
    if (!options.report_faults) return {};
    // EFAULT is all that these helpers fail with.
    return "Failed to probe_read_" + std::string(site.fault == Fault::read_user ? "user" : "kernel") +
           site.detail + ": Bad address (-14)" + repeated(n);
  case Fault::delete_missing:
    if (options.is_of_tool) return {};
    return "Can't delete map element because it does not exist (" + site.detail + ")." + repeated(n);
  case Fault::element_missing:
    return "The map element does not exist (" + site.detail + "); the value was 0." + repeated(n);
  case Fault::map_full: return {}; // reported per map
  case Fault::speculation_full:
    return counted(n, "line") + " of output found no room in " + (n == 1 ? "its" : "their") + " `speculate` buffer: the newest output is dropped. Increase speculation_bytes.";
  case Fault::limited: return "limit(" + site.detail + ") skipped its block " + times(n) + ".";
  }
  return {};
}

// A warning with its location, if the script is known.
std::string warning(const base::Source* source, base::Range where, std::string message) {
  if (!source) return "WARNING: " + message + "\n";
  return base::render(*source, {base::Severity::warning, {}, where, std::move(message), {}});
}

std::string describe_full_maps(const ir::Program& program, const ir::Counters& counters,
                               const base::Source* source) {
  std::string out;
  for (size_t i = 0; i < program.maps.size(); i++) {
    uint64_t n = i < counters.map_full.size() ? counters.map_full[i] : 0;
    if (!n) continue;
    const ir::Map& map = program.maps[i];
    if (i == program.speculations) {
      out += "WARNING: " + counted(n, "line") + " of output " + std::string(base::was_or_were(n)) + " lost: `speculate` holds back the output of at most " +
             std::to_string(map.max_entries) + " threads or keys. Increase max_speculations, or call commit() or discard() on every path.\n";
      continue;
    }
    out += warning(source, map.where,
                   "Map full; can't update element. @" + map.name + " can't hold more than " +
                       counted(map.max_entries, "key") + "; " + counted(n, "update") +
                       " " + std::string(base::was_or_were(n)) +
                       " lost. Increase max_map_keys, or the size in the map's declaration.");
  }
  return out;
}

std::string describe_sites(const ir::Program& program, const ir::Counters& counters,
                           const base::Source* source, const LossOptions& options) {
  std::string out;
  uint64_t failed_reads = 0;
  std::vector<size_t> order;
  for (size_t i = 0; i < std::min(program.sites.size(), counters.sites.size()); i++)
    if (counters.sites[i]) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return program.sites[a].where.begin < program.sites[b].where.begin;
  });
  for (size_t i : order) {
    const ir::Site& site = program.sites[i];
    auto reason = counters.reasons.lower_bound({static_cast<uint32_t>(i), {}});
    bool has_reasons = reason != counters.reasons.end() && reason->first.first == i;
    for (; reason != counters.reasons.end() && reason->first.first == i && options.warnings; reason++)
      out += warning(source, site.where,
                     "the memory read here " + std::string(reason->first.second) +
                         ": the block ended here " + times(reason->second) + ".");
    if (has_reasons) continue;
    if (is_read(site.fault)) failed_reads += counters.sites[i];
    std::string message = sentence(site, counters.sites[i], options);
    if (!message.empty()) out += warning(source, site.where, std::move(message));
  }
  if (failed_reads && options.warnings && options.counts_failed_reads && !options.report_faults)
    out += "WARNING: " + counted(failed_reads, "read") + " of memory failed (-k shows where).\n";
  return out;
}

} // namespace

static uint64_t entries_without_room(const ir::Counters& counters) { return std::accumulate(counters.map_full.begin(), counters.map_full.end(), uint64_t{0}); }

uint64_t lost_events(const ir::Counters& counters) { return counters.lost_events + counters.scratch_busy + counters.missed_runs + entries_without_room(counters); }

std::string losses_in_short(const ir::Counters& counters) {
  const uint64_t full = entries_without_room(counters);
  const std::pair<uint64_t, const char*> events[] = {{counters.lost_events, "ring full"}, {full, "table full"}, {counters.scratch_busy, "CPU busy"}, {counters.missed_runs, "probe in probe"}};
  const std::pair<uint64_t, const char*> stacks[] = {{counters.stacks_full, "table full"}, {counters.stacks_busy, "no memory"}};
  auto sum_up = [](std::span<const std::pair<uint64_t, const char*>> parts, const std::string& what) {
    uint64_t sum = 0;
    std::string where;
    for (auto [n, name] : parts) {
      sum += n;
      if (n) where.append(where.empty() ? " (" : ", ").append(name);
    }
    return std::to_string(sum) + what + (where.empty() ? "" : where + ")");
  };
  std::string out = sum_up(events, " lost");
  if (counters.stacks_full || counters.stacks_busy) out += ", " + sum_up(stacks, " without stack");
  return out;
}

std::string own_costs(uint64_t kernel_ns) {
  rusage own = {};
  ::getrusage(RUSAGE_SELF, &own);
  auto ms = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_usec) / 1e3; };
  char probes[64] = "", text[160];
  if (kernel_ns) std::snprintf(probes, sizeof probes, ", its probes %.1f ms", static_cast<double>(kernel_ns) / 1e6);
  std::snprintf(text, sizeof text, "acu took %.1f ms of CPU time%s, %ld MiB", ms(own.ru_utime) + ms(own.ru_stime), probes, own.ru_maxrss >> 10);
  return text;
}

ir::Counters first_faults(const ir::Counters& now, const ir::Counters& before) {
  auto fresh = [](const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    std::vector<uint64_t> out = a;
    for (size_t i = 0; i < std::min(a.size(), b.size()); i++)
      if (b[i]) out[i] = 0;
    return out;
  };
  ir::Counters out;
  out.sites = fresh(now.sites, before.sites);
  out.map_full = fresh(now.map_full, before.map_full);
  return out;
}

std::string describe_losses(const ir::Program& program, const ir::Counters& counters,
                            const base::Source* source, const LossOptions& options) {
  std::string out;
  if (counters.lost_events) out += "Lost " + counted(counters.lost_events, "event") + "\n";
  if (counters.missed_runs)
    out += "WARNING: " + counted(counters.missed_runs, "run") +
           " of probes missed: a probe cannot interrupt itself.\n";
  if (counters.are_held)
    out += "WARNING: the kernel is still detaching the probes: the system is busy, or a thread is in a function whose return was "
           "probed and keeps calling functions that another tracer probes. The probes have no effect any more.\n";
  for (const std::string& module : counters.gone_modules)
    out += "WARNING: module `" + module +
           "` was unloaded while traced: its later events are missing.\n";
  if (counters.missed_hits)
    out += "WARNING: " + counted(counters.missed_hits, "hit") +
           " of kprobes and kretprobes missed: another one was running, or more calls were in progress than the kernel "
           "tracks returns for. fentry and fexit have no such limit on calls.\n";
  if (counters.scratch_busy)
    out += "WARNING: " + counted(counters.scratch_busy, "run") +
           " of probes skipped: all scratch memory of the CPU was in use.\n";
  if (counters.stacks_full)
    out +=
        "WARNING: " + counted(counters.stacks_full, "stack") + " lost: " + std::to_string(program.max_stacks) +
        " distinct stacks are stored. Lost stacks count as empty; raise the limit with `config = { max_stacks = N }`.\n";
  if (counters.stacks_busy)
    out += "WARNING: " + counted(counters.stacks_busy, "stack") +
           " lost: the kernel had no free memory for them. Lost stacks count as empty.\n";
  if (options.warnings) out += describe_full_maps(program, counters, source);
  return out + describe_sites(program, counters, source, options);
}

} // namespace session
