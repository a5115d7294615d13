#include "session/losses.h"

#include "base/diagnostics.h"

#include <algorithm>
#include <span>
#include <sys/resource.h>
#include <utility>

namespace session {

using ir::Fault;

namespace {

std::string times(uint64_t n) { return n == 1 ? "once" : std::to_string(n) + " times"; }

// What follows a sentence whose thing happened more than once.
std::string repeated(uint64_t n) { return n == 1 ? "" : " (" + times(n) + ")"; }

std::string plural(uint64_t n, std::string_view what) {
  return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
}

bool is_read(Fault f) { return f == Fault::read_kernel || f == Fault::read_user; }

// The sentence for a site at which something happened `n` times; empty if it is not told.
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
      return "The text is longer than this kernel lets a program go through without bpf_loop(): " + times(n) +
             " the result is of its beginning alone. A lower max_strlen does.";
    return "The loop reached its limit of " + site.detail + " turns " + times(n) + ". Increase loop_limit.";
  case Fault::entry_missing:
    return "Nothing was kept of " + plural(n, "call") + " when " + (n == 1 ? "it was" : "they were") +
           " entered: the block did not run when " + (n == 1 ? "it" : "they") + " returned.";
  case Fault::depth_unknown:
    return "len() of a kept user stack was 0 " + times(n) +
           ": code that was just mapped is walked outside of the kernel, later. len(ustack) has the current one's.";
  case Fault::cpid_missing: return "cpid was asked " + times(n) + " but there is no command (-c).";
  case Fault::read_kernel:
  case Fault::read_user:
    if (!options.tell_faults) return {};
    // EFAULT is all that these helpers fail with.
    return "Failed to probe_read_" + std::string(site.fault == Fault::read_user ? "user" : "kernel") +
           site.detail + ": Bad address (-14)" + repeated(n);
  case Fault::delete_missing:
    if (options.is_of_tool) return {};
    return "Can't delete map element because it does not exist (" + site.detail + ")." + repeated(n);
  case Fault::map_full: return {}; // told by map
  }
  return {};
}

// A warning at its place, where the script is known.
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
    out += warning(source, map.where,
                   "Map full; can't update element. @" + map.name + " can't hold more than " +
                       plural(map.max_entries, "key") + "; " + plural(n, "update") +
                       (n == 1 ? " was" : " were") +
                       " lost. Increase max_map_keys, or the number in the map's declaration.");
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
                     "memory that is read here " + std::string(reason->first.second) +
                         ": the block ended there " + times(reason->second) + ".");
    if (has_reasons) continue;
    if (is_read(site.fault)) failed_reads += counters.sites[i];
    std::string message = sentence(site, counters.sites[i], options);
    if (!message.empty()) out += warning(source, site.where, std::move(message));
  }
  if (failed_reads && options.warnings && options.counts_failed_reads && !options.tell_faults)
    out += "WARNING: " + plural(failed_reads, "read") + " of memory failed (run with -k for where).\n";
  return out;
}

} // namespace

std::string losses_in_short(const ir::Counters& counters) {
  uint64_t full = 0;
  for (uint64_t n : counters.map_full) full += n;
  const std::pair<uint64_t, const char*> events[] = {{counters.lost_events, "ring full"}, {full, "table full"}, {counters.scratch_busy, "CPU busy"}, {counters.missed_runs, "probe in probe"}};
  const std::pair<uint64_t, const char*> stacks[] = {{counters.stacks_full, "table full"}, {counters.stacks_busy, "no memory"}};
  auto tell = [](std::span<const std::pair<uint64_t, const char*>> parts, const std::string& what) {
    uint64_t sum = 0;
    std::string where;
    for (auto [n, name] : parts) {
      sum += n;
      if (n) where.append(where.empty() ? " (" : ", ").append(name);
    }
    return std::to_string(sum) + what + (where.empty() ? "" : where + ")");
  };
  std::string out = tell(events, " lost");
  if (counters.stacks_full || counters.stacks_busy) out += ", " + tell(stacks, " without stack");
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
  if (counters.lost_events) out += "Lost " + plural(counters.lost_events, "event") + "\n";
  if (counters.missed_runs)
    out += "WARNING: " + plural(counters.missed_runs, "run") +
           " of probes missed: the kernel does not let a probe interrupt itself.\n";
  if (counters.are_held)
    out += "WARNING: the kernel is still detaching the probes: the system is busy, or a thread is in a function whose return was "
           "probed and keeps calling functions that another tracer probes. The probes do nothing any more.\n";
  for (const std::string& module : counters.gone_modules)
    out += "WARNING: the module `" + module +
           "` was unloaded while it was traced: probes in it saw nothing from then on.\n";
  if (counters.missed_hits)
    out += "WARNING: " + plural(counters.missed_hits, "hit") +
           " of kprobes and kretprobes missed: they came while another one ran, or more calls were under way "
           "than the "
           "kernel keeps returns for. fentry and fexit miss none of the latter.\n";
  if (counters.scratch_busy)
    out += "WARNING: " + plural(counters.scratch_busy, "run") +
           " of probes given up: all scratch memory of the CPU was in use.\n";
  if (counters.stacks_full)
    out +=
        "WARNING: " + plural(counters.stacks_full, "stack") + " lost: " + std::to_string(program.max_stacks) +
        " different ones are kept. They count as empty; `config = { max_stacks = N }` makes room for more.\n";
  if (counters.stacks_busy)
    out += "WARNING: " + plural(counters.stacks_busy, "stack") +
           " lost: the kernel had no memory for them at hand. They count as empty.\n";
  if (options.warnings) out += describe_full_maps(program, counters, source);
  return out + describe_sites(program, counters, source, options);
}

} // namespace session
