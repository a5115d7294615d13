#include "recorder/flight_events.h"

#include "base/confinement.h"
#include "base/process_status.h"
#include "base/text.h"
#include "probe/attach.h"
#include "proc/text.h"
#include "spec/syscalls.h"

#include <algorithm>
#include <cstring>
#include <numeric>

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

// Of requests of block devices, by the number that kind_of_io gives (scripts/block_io.bt).
std::string_view io_name(int number) {
  constexpr std::string_view names[] = {"read", "write", "flush", "discard", "write zeroes"};
  return number >= 0 && static_cast<size_t>(number) < std::size(names) ? names[number] : "other";
}

std::string_view way_name(int number) { return number ? "receive" : "send"; }

// linux/in.h; 0 is a socket of this host alone.
std::string_view protocol_name(int number) {
  constexpr std::pair<int, std::string_view> names[] = {{0, "unix"}, {1, "icmp"}, {6, "tcp"}, {17, "udp"}, {58, "icmpv6"}, {132, "sctp"}};
  const auto* at = std::ranges::find(names, number, &std::pair<int, std::string_view>::first);
  return at != std::end(names) ? at->second : "other";
}

// Texts that records have as numbers.
struct NumberedText {
  recording::Kind kind;
  std::string_view field;
  std::string_view (*name_of)(int);
};
constexpr NumberedText numbered_texts[] = {
    {recording::Kind::syscall, "name", spec::syscall_name},
    {recording::Kind::block_io, "operation", io_name},
    {recording::Kind::network, "operation", way_name},
    {recording::Kind::network, "protocol", protocol_name},
};

constexpr std::string_view owner_field = "owner"; // of locks

// The first line of a file of /proc; empty: there is none.
std::string line_of(const std::string& path) {
  auto text = base::read_file(path);
  return text.ok() ? text->substr(0, text->find('\n')) : std::string();
}

std::string folder_of_thread(uint64_t ids) { return "/proc/" + std::to_string(ids >> 32) + "/task/" + std::to_string(static_cast<uint32_t>(ids)); }

// Of the threads of a process: from their number in its own PID namespace to that in the initial one (NSpid of proc_pid_status(5)).
std::unordered_map<uint64_t, uint64_t> read_own_numbers(uint64_t pid) {
  std::unordered_map<uint64_t, uint64_t> out;
  for (const int tid : probe::threads_of(static_cast<int>(pid))) {
    const std::string status = proc::text_of(folder_of_thread(pid << 32 | static_cast<uint64_t>(tid)) + "/status");
    if (const auto own = base::parse_integer(base::split(base::status_line(status, "NSpid"), '\t').back())) out.emplace(*own, tid);
  }
  return out;
}

} // namespace

FlightEvents::FlightEvents(session::Runner& runner, uint64_t from_ns)
    : runner_(runner), from_ns_(from_ns), has_proc_(!base::confinement().has_pid_namespace),
      stacks_{runner.backend().engine(), runner.backend().walker() != nullptr, {}, {}} {
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
  if (action.is_users) return plan_of_line(action);
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
      if (fields[i].name == name) {
        Column column = {.number = i, .to = fields[i].type, .type = f.type, .offset = offset};
        for (const NumberedText& text : numbered_texts)
          if (text.kind == row->kind && text.field == name) column.name_of = text.name_of;
        column.is_owner = row->kind == recording::Kind::lock && name == owner_field;
        out.columns.push_back(column);
      }
  }
  return out;
}

FlightEvents::Plan FlightEvents::plan_of_line(const ir::Action& action) {
  const std::span<const type::Field> stamp = action.payload->fields().last(ir::stamp_fields);
  return {.kind = kind_number(recording::Kind::log), .time = stamp[ir::stamp_time].offset, .thread = stamp[ir::stamp_thread].offset, .log = &action};
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

// Its newline is what a log needs, not an event.
void FlightEvents::add_line(const Plan& plan, std::span<const std::byte> payload, uint32_t cpu) {
  const uint64_t time = number_at(payload, plan.time, 8);
  if (time < from_ns_) return;
  std::string line = runner_.printer().text(*plan.log, payload);
  if (line.ends_with('\n')) line.pop_back();
  recording::Batch& batch = batches_[plan.kind];
  batch.times.push_back(time);
  batch.cpus.push_back(cpu);
  batch.threads.push_back(thread(number_at(payload, plan.thread, 8)));
  batch.columns[0].push_back(text(line));
}

void FlightEvents::take(const HeldLines& lines, uint64_t forgotten) {
  if (lines.empty() && !forgotten) return;
  counts_[kind_number(recording::Kind::log)].sent += lines.size() + forgotten;
  for (const HeldLine& line : lines) {
    const auto index = static_cast<size_t>(line.action - runner_.program().actions.data());
    const auto cpu = number_at(line.payload, line.action->payload->fields().last(ir::stamp_fields)[ir::stamp_cpu].offset, 8);
    if (plans_[index]) add_line(*plans_[index], line.payload, static_cast<uint32_t>(cpu));
  }
}

uint64_t FlightEvents::value(const Column& c, std::span<const std::byte> payload) {
  using recording::FieldType;
  if (c.to == FieldType::text && !c.name_of) {
    if (c.offset + c.type->size > payload.size()) return 0;
    return text(runner_.printer().text(*c.type, payload.subspan(c.offset, c.type->size)));
  }
  const uint64_t number = number_of(payload, *c.type, c.offset);
  if (c.to == FieldType::thread) return c.is_owner ? number : thread(number);
  return c.name_of ? text(c.name_of(static_cast<int>(number))) : number;
}

void FlightEvents::take(const bpf::FlightRecord& record) {
  if (!plans_[record.action]) return;
  const Plan& plan = *plans_[record.action];
  if (plan.log) return add_line(plan, record.payload, record.cpu);
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
  for (const Column& c : plan.columns) batch.columns[c.number].back() = value(c, record.payload);
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

// From its end if that is in the memory, from /proc while it is there, or from the ends of threads that are not in the memory (any more): their number may be
// another thread's by now.
std::string FlightEvents::name_of_thread(uint64_t ids) const {
  if (const auto at = exit_names_.find(ids); at != exit_names_.end()) return at->second;
  std::string name = has_proc_ ? line_of(folder_of_thread(ids) + "/comm") : std::string();
  if (const auto at = ended_names_.find(ids); name.empty() && at != ended_names_.end()) name = at->second;
  return name;
}

// Before any thread is named.
void FlightEvents::read_ended() {
  const auto entries = runner_.read(ended_map);
  for (size_t i = 0; entries.ok() && i < entries->size(); i++) {
    const ir::Entry& e = (*entries)[i];
    const char* name = reinterpret_cast<const char*>(e.values.data());
    ended_names_.emplace(number_at(e.key, 0, 8), std::string(name, ::strnlen(name, e.values.size())));
  }
}

// The thread that a program's memory names as the owner of a lock; 0: its process has and had no such thread, so that the memory was something else.
uint64_t FlightEvents::owner(uint64_t ids) {
  const uint64_t pid = ids >> 32 << 32;
  if (!(ids & own_number)) return name_of_thread(ids).empty() ? 0 : ids;
  if (!has_proc_) return 0;
  auto [numbers, is_new] = own_numbers_.try_emplace(pid >> 32);
  if (is_new) numbers->second = read_own_numbers(pid >> 32);
  const auto at = numbers->second.find(static_cast<uint32_t>(ids) & ~own_number);
  return at == numbers->second.end() ? 0 : pid | at->second;
}

void FlightEvents::name_owners() {
  const auto kind = numbers_.find(recording::Kind::lock);
  if (kind == numbers_.end()) return;
  const std::vector<recording::Field>& fields = kinds_[kind->second].fields;
  const auto column = std::ranges::find(fields, owner_field, &recording::Field::name) - fields.begin();
  std::unordered_map<uint64_t, uint32_t> known = {{0, 0}};
  for (uint64_t& value : batches_[kind->second].columns[static_cast<size_t>(column)]) {
    auto [at, is_new] = known.try_emplace(value);
    if (is_new) at->second = thread(owner(value));
    value = at->second;
  }
}

void FlightEvents::name_threads() {
  for (auto& [ids, number] : threads_) {
    const uint64_t pid = ids >> 32;
    names_.threads[number].process = text(name_of_thread(pid << 32 | pid));
    names_.threads[number].name = text(name_of_thread(ids));
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
  read_ended();
  name_owners();
  name_threads();
}

uint64_t FlightEvents::first_ns() const {
  uint64_t out = ~uint64_t{0};
  for (const recording::Batch& b : batches_)
    if (b.size()) out = std::min(out, b.times.front());
  return out;
}

} // namespace recorder
