#include "recorder/flight_events.h"

#include "base/text.h"
#include "spec/syscalls.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <sys/stat.h>

namespace recorder {

namespace {

uint64_t number_at(std::span<const std::byte> bytes, uint32_t offset, uint32_t size) {
  uint64_t out = 0;
  if (offset + size <= bytes.size()) std::memcpy(&out, bytes.data() + offset, std::min<uint32_t>(size, 8));
  return out;
}

// As 64 bits, whatever the type's size is.
uint64_t number_of(std::span<const std::byte> bytes, const type::Type& type, uint32_t offset) {
  const uint64_t value = number_at(bytes, offset, type.size);
  const unsigned unused = type.size < 8 ? 64 - 8 * type.size : 0;
  return type.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused) : value;
}

// The first line of a file of /proc; empty: there is none.
std::string line_of(const std::string& path) {
  auto text = base::read_file(path);
  return text.ok() ? text->substr(0, text->find('\n')) : std::string();
}

// Numbers of threads in records are those that /proc has.
bool is_in_initial_namespace() {
  constexpr uint64_t initial = 0xeffffffc; // PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h
  struct stat about = {};
  return ::stat("/proc/self/ns/pid", &about) == 0 && about.st_ino == initial;
}

} // namespace

FlightEvents::FlightEvents(session::Runner& runner, uint64_t from_ns)
    : runner_(runner), from_ns_(from_ns), stacks_{runner.backend().engine(), runner.backend().walker() != nullptr, {}, {}} {
  for (const ir::Action& a : runner_.program().actions) plans_.push_back(plan_of(a));
}

uint32_t FlightEvents::kind_number(recording::Kind kind) {
  auto [at, is_new] = numbers_.try_emplace(kind, static_cast<uint32_t>(kinds_.size()));
  if (is_new) {
    kinds_.push_back(recording::kind_of(kind));
    counts_.emplace_back();
    recording::Batch& batch = batches_.emplace_back();
    batch.kind = at->second;
    batch.columns.resize(kinds_.back().fields.size());
  }
  return at->second;
}

// Nothing: its records are not events.
std::optional<FlightEvents::Plan> FlightEvents::plan_of(const ir::Action& action) {
  if (!action.overwrites || !action.payload) return std::nullopt;
  const type::Field& whole = action.payload->fields().front();
  const type::Type& record = *whole.type;
  const auto* row = std::ranges::find(recording::kind_rows, record.fields().front().name, &recording::KindRow::name);
  if (row == recording::kind_rows.end()) return std::nullopt;
  Plan out = {.kind = kind_number(row->kind)};
  const std::vector<recording::Field>& fields = kinds_[out.kind].fields;
  for (uint32_t i = 0; i < fields.size(); i++)
    if (fields[i].type == recording::FieldType::stack) out.stack_column = i;
  for (const type::Field& f : record.fields()) {
    const uint32_t offset = whole.offset + f.offset;
    if (&f == &record.fields().front()) {
      out.time = offset;
      continue;
    }
    // The first field of a wait for a lock has that name already.
    const std::string_view name = f.name == "lock_at" ? "lock" : std::string_view(f.name);
    if (f.name == "thread") out.thread = offset;
    else if (f.name == "comm") out.comm = offset;
    else if (f.name == "kernel") out.kernel = {f.type, offset};
    else if (f.name == "user") out.user = {f.type, offset};
    for (uint32_t i = 0; i < fields.size(); i++)
      if (fields[i].name == name)
        out.columns.push_back({.number = i,
                               .type = f.type,
                               .offset = offset,
                               .is_thread = fields[i].type == recording::FieldType::thread,
                               .is_syscall = fields[i].type == recording::FieldType::text});
  }
  return out;
}

uint32_t FlightEvents::text(std::string_view text) {
  if (text.empty()) return 0;
  auto [at, is_new] = texts_.try_emplace(std::string(text), static_cast<uint32_t>(names_.texts.size()));
  if (is_new) names_.texts.emplace_back(text);
  return at->second;
}

uint32_t FlightEvents::thread(uint64_t ids) {
  if (static_cast<uint32_t>(ids) == 0) return 0;
  auto [at, is_new] = threads_.try_emplace(ids, static_cast<uint32_t>(names_.threads.size()));
  if (is_new) names_.threads.push_back({.pid = static_cast<uint32_t>(ids >> 32), .tid = static_cast<uint32_t>(ids)});
  return at->second;
}

// The number of a pair of stacks, which name_stacks() replaces; 0: there is none.
uint64_t FlightEvents::stack(const Plan& plan, std::span<const std::byte> bytes) {
  const uint64_t kernel = plan.kernel.type ? number_at(bytes, plan.kernel.offset, 8) : 0, user = plan.user.type ? number_at(bytes, plan.user.offset, 8) : 0;
  if (!kernel && !user) return 0;
  auto [at, is_new] = pairs_.try_emplace({kernel, user}, static_cast<uint32_t>(stacks_.out.samples.size()));
  if (is_new) {
    profile::RawSample sample;
    sample.weight = sample.count = 1;
    if (kernel) sample.kernel = stacks_.take(kernel, 0, *plan.kernel.type);
    if (user) sample.user = stacks_.take(user, static_cast<uint32_t>(number_at(bytes, plan.user.offset + 8, 4)), *plan.user.type);
    stacks_.out.samples.push_back(std::move(sample));
  }
  return at->second + 1;
}

void FlightEvents::take(const bpf::FlightRecord& record) {
  if (!plans_[record.action]) return;
  const Plan& plan = *plans_[record.action];
  const uint64_t time = number_at(record.payload, plan.time, 8);
  const uint64_t ids = number_at(record.payload, plan.thread, 8);
  if (plan.comm) {
    const char* begin = reinterpret_cast<const char*>(record.payload.data()) + *plan.comm;
    exit_names_[ids] = std::string(begin, ::strnlen(begin, record.payload.size() - *plan.comm));
  }
  if (time < from_ns_) return;
  recording::Batch& batch = batches_[plan.kind];
  batch.times.push_back(time);
  batch.cpus.push_back(record.cpu);
  batch.threads.push_back(thread(ids));
  for (auto& column : batch.columns) column.push_back(0);
  for (const Column& c : plan.columns) {
    const uint64_t value = number_of(record.payload, *c.type, c.offset);
    batch.columns[c.number].back() = c.is_thread ? thread(value) : c.is_syscall ? text(spec::syscall_name(static_cast<int>(value))) : value;
  }
  if (plan.stack_column) batch.columns[*plan.stack_column].back() = stack(plan, record.payload);
}

void FlightEvents::add_mark(uint64_t time, uint64_t ids, const std::string& what) {
  const uint32_t kind = kind_number(recording::Kind::mark);
  recording::Batch& batch = batches_[kind];
  batch.times.push_back(time);
  batch.cpus.push_back(0);
  batch.threads.push_back(thread(ids));
  batch.columns[0].push_back(text(what));
  counts_[kind].sent++;
}

// What one CPU wrote is nearly in the order of time, as programs interrupt one another; several CPUs are not.
void FlightEvents::sort() {
  for (recording::Batch& b : batches_) {
    std::vector<uint32_t> order(b.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](uint32_t i) { return b.times[i]; });
    const auto apply = [&](auto& list) {
      auto sorted = list;
      for (size_t i = 0; i < order.size(); i++) sorted[i] = list[order[i]];
      list = std::move(sorted);
    };
    apply(b.times), apply(b.cpus), apply(b.threads);
    for (auto& column : b.columns) apply(column);
  }
}

void FlightEvents::name_stacks() {
  profile::Profile profile;
  const std::vector<uint32_t> samples = profile::name_samples(profile, stacks_.out, runner_.names().sources());
  std::vector<uint32_t> texts;
  for (std::string_view t : profile.texts()) texts.push_back(text(t));
  for (const profile::Frame& f : profile.frames()) names_.frames.push_back({.name = texts[f.name], .module = texts[f.module], .kind = f.kind});
  // Nodes of a profile are stacks: a frame, called by another node with a lower number.
  for (size_t i = 1; i < profile.nodes().size(); i++) names_.stacks.push_back({.caller = profile.nodes()[i].parent, .frame = profile.nodes()[i].frame});
  for (recording::Batch& b : batches_)
    for (size_t c = 0; c < b.columns.size(); c++)
      if (kinds_[b.kind].fields[c].type == recording::FieldType::stack)
        for (uint64_t& value : b.columns[c]) value = value ? profile.samples()[samples[value - 1]].node : 0;
}

// Of threads that have ended the name is known from their end, if that is in the memory.
void FlightEvents::name_threads() {
  const bool has_proc = is_in_initial_namespace();
  const auto name_in = [&](const std::string& path) { return has_proc ? line_of(path) : std::string(); };
  for (auto& [ids, number] : threads_) {
    const std::string process = "/proc/" + std::to_string(ids >> 32), id = std::to_string(static_cast<uint32_t>(ids));
    const auto known = exit_names_.find(ids);
    const auto leader = exit_names_.find((ids >> 32) << 32 | ids >> 32);
    const uint32_t process_name = text(leader != exit_names_.end() ? leader->second : name_in(process + "/comm"));
    const uint32_t name = text(known != exit_names_.end() ? known->second : name_in(process + "/task/" + id + "/comm"));
    names_.threads[number].process = process_name;
    names_.threads[number].name = name;
  }
}

void FlightEvents::finish(std::span<const bpf::FlightCount> counts) {
  for (size_t a = 0; a < counts.size(); a++) {
    if (!plans_[a]) continue;
    recording::Count& count = counts_[plans_[a]->kind];
    count.sent += counts[a].sent;
    count.lost += counts[a].lost;
  }
  for (const recording::Batch& b : batches_) {
    recording::Count& count = counts_[b.kind];
    count.kept = b.size();
    count.overwritten = count.sent - std::min(count.sent, count.kept + count.lost);
  }
  sort();
  name_stacks();
  name_threads();
}

uint64_t FlightEvents::first_ns() const {
  uint64_t out = ~uint64_t{0};
  for (const recording::Batch& b : batches_)
    if (b.size()) out = std::min(out, b.times.front());
  return out;
}

} // namespace recorder
