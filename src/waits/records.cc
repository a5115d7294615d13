// The kind of a record is the name of its first field: see scripts/slow.bt.
#include "waits/records.h"

#include "spec/syscalls.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace waits {

bool Wait::is_for_futex() const { return call >= 0 && spec::syscall_name(call) == "futex"; }

namespace {

using Place = Records::Place;
using Places = Records::Places;

// One record. What is not in it is 0, or empty.
struct Record {
  const Places& at;
  std::span<const std::byte> bytes;

  uint64_t number(const Place& place) const {
    uint64_t out = 0;
    if (place.type) std::memcpy(&out, bytes.data() + place.offset, std::min<uint32_t>(place.type->size, 8));
    return out;
  }
  uint32_t small(const Place& place) const { return static_cast<uint32_t>(number(place)); }
  std::string text(const Place& place) const {
    if (!place.type) return {};
    const char* begin = reinterpret_cast<const char*>(bytes.data()) + place.offset;
    return std::string(begin, ::strnlen(begin, place.type->size));
  }
  StackId stack(const Place& place) const {
    StackId out = {.id = number(place), .type = place.type};
    if (place.type && place.type->is(type::Kind::ustack)) std::memcpy(&out.pid, bytes.data() + place.offset + 8, 4);
    return out;
  }
  Thread thread(const Records::ThreadPlaces& of) const { return {.pid = small(of.pid), .tid = small(of.tid), .name = text(of.name)}; }
  // With its number in the kernel.
  Thread own_thread() const {
    Thread out = thread(at.thread);
    out.task = small(at.task);
    return out;
  }
  InCall in_call() const { return {.start = number(at.start), .away_ns = number(at.away_ns), .queued_ns = number(at.queued_ns)}; }
  int system_call() const { return at.call.type ? static_cast<int>(number(at.call)) : -1; }
  std::array<uint64_t, 6> arguments() const {
    std::array<uint64_t, 6> out;
    std::ranges::transform(at.arguments, out.begin(), [&](const Place& a) { return number(a); });
    return out;
  }
};

Note read_wait(const Record& r) {
  Wait out;
  out.thread = r.own_thread();
  const uint64_t left = r.number(r.at.left);
  out.left = left & ~uint64_t{15};
  out.is_preempted = left & 1;
  out.woken = r.number(r.at.woken);
  out.back = r.number(r.at.back);
  if (out.is_preempted) out.woken = out.left;
  if (out.woken < out.left || out.woken > out.back) out.woken = out.back;
  out.call = r.system_call();
  out.arguments = r.arguments();
  out.owner = r.small(r.at.owner);
  out.ran = r.thread(r.at.before);
  out.ran_ns = r.number(r.at.ran_ns);
  out.cpu = r.small(r.at.cpu);
  out.in = r.in_call();
  out.kernel = r.stack(r.at.kernel);
  out.user = r.stack(r.at.user);
  return out;
}

Note read_wake(const Record& r) {
  return Wake{.task = r.small(r.at.task),
              .at = r.number(r.at.at),
              .by = r.thread(r.at.thread),
              .kernel = r.stack(r.at.kernel),
              .user = r.stack(r.at.user)};
}

Call call_of(const Record& r) {
  return {.thread = r.own_thread(),
          .start = r.number(r.at.start),
          .end = r.number(r.at.end),
          .call = r.system_call(),
          .result = static_cast<int64_t>(r.number(r.at.result)),
          .arguments = r.arguments(),
          .away_ns = r.number(r.at.away_ns),
          .queued_ns = r.number(r.at.queued_ns),
          .user = r.stack(r.at.user)};
}

Note read_returned(const Record& r) { return call_of(r); }

Note read_left_by_exception(const Record& r) {
  Call out = call_of(r);
  out.left_by = LeftBy::exception;
  return out;
}

Note read_left_by_jump(const Record& r) {
  Call out = call_of(r);
  out.left_by = LeftBy::jump;
  return out;
}

Note read_ended(const Record& r) {
  Call out = call_of(r);
  out.has_ended = false;
  return out;
}

Note read_on_cpu(const Record& r) {
  return OnCpu{.thread = r.own_thread(), .at = r.number(r.at.at), .in = r.in_call(), .user = r.stack(r.at.user)};
}

Note read_ran(const Record& r) {
  return Ran{.task = r.small(r.at.task), .thread = r.thread(r.at.thread), .until = r.number(r.at.until), .ns = r.number(r.at.ran_ns)};
}

Note read_turn(const Record& r) {
  return Turn{.task = r.small(r.at.task),
              .at = r.number(r.at.at),
              .queued_ns = r.number(r.at.queued_ns),
              .ran = r.thread(r.at.thread),
              .ran_ns = r.number(r.at.ran_ns),
              .cpu = r.small(r.at.cpu)};
}

Note read_io(const Record& r) {
  return Io{.thread = r.own_thread(),
                .asked = r.number(r.at.asked),
                .issued = r.number(r.at.issued),
                .done = r.number(r.at.done),
                .operation = r.small(r.at.operation),
                .device = r.small(r.at.device),
                .sector = r.number(r.at.sector),
                .bytes = r.small(r.at.bytes),
                .kernel = r.stack(r.at.kernel),
                .user = r.stack(r.at.user)};
}

Note read_next(const Record& r) { return NextCall{.task = r.small(r.at.task), .start = r.number(r.at.start)}; }

} // namespace

struct Records::Kind {
  std::string_view name;
  Note (*read)(const Record& record);
};

namespace {

constexpr Records::Kind record_kinds[] = {
    {"wait", read_wait},
    {"wake", read_wake},
    {"returned", read_returned},
    {"left_by_exception", read_left_by_exception},
    {"left_by_jump", read_left_by_jump},
    {"ended", read_ended},
    {"on_cpu", read_on_cpu},
    {"ran", read_ran},
    {"io", read_io},
    {"turn", read_turn},
    {"next", read_next},
};

// Fields of records within the record have the name of that before theirs: "thread.pid".
void add_places(const type::Type& record, std::string_view prefix, uint32_t offset, Places& to) {
  const std::pair<std::string_view, Place*> named[] = {
      {"thread.pid", &to.thread.pid}, {"thread.tid", &to.thread.tid}, {"thread.name", &to.thread.name},
      {"before.pid", &to.before.pid}, {"before.tid", &to.before.tid}, {"before.name", &to.before.name},
      {"at", &to.at}, {"left", &to.left}, {"woken", &to.woken}, {"back", &to.back}, {"start", &to.start}, {"end", &to.end},
      {"away_ns", &to.away_ns}, {"queued_ns", &to.queued_ns}, {"ran_ns", &to.ran_ns}, {"until", &to.until}, {"asked", &to.asked}, {"issued", &to.issued},
      {"done", &to.done}, {"call", &to.call}, {"result", &to.result}, {"owner", &to.owner}, {"cpu", &to.cpu},
      {"a0", &to.arguments[0]}, {"a1", &to.arguments[1]}, {"a2", &to.arguments[2]}, {"a3", &to.arguments[3]}, {"a4", &to.arguments[4]},
      {"a5", &to.arguments[5]}, {"operation", &to.operation}, {"device", &to.device}, {"sector", &to.sector}, {"bytes", &to.bytes},
      {"kernel", &to.kernel}, {"user", &to.user}};
  for (const type::Field& f : record.fields()) {
    const std::string name = std::string(prefix) + std::string(f.name);
    if (f.type->is(type::Kind::tuple)) add_places(*f.type, name + ".", offset + f.offset, to);
    const auto* known = std::ranges::find(named, name, [](auto& n) { return n.first; });
    if (known != std::end(named)) *known->second = {f.type, offset + f.offset};
  }
}

} // namespace

const Places& Records::places_in(const type::Type& record) {
  auto [at, is_new] = places_.try_emplace(&record);
  if (!is_new || !record.is(type::Kind::tuple) || record.fields().empty()) return at->second;
  const type::Field& first = record.fields().front();
  const auto* kind = std::ranges::find(record_kinds, first.name, &Kind::name);
  if (kind != std::end(record_kinds)) at->second.kind = kind;
  at->second.task = {first.type, first.offset};
  add_places(record, "", 0, at->second);
  return at->second;
}

Note Records::read(const type::Type& type, std::span<const std::byte> bytes) {
  const Places& places = places_in(type);
  return places.kind ? places.kind->read({places, bytes}) : Note();
}

Call Records::read_open_call(std::span<const std::byte> key, const type::Type& type, std::span<const std::byte> value) {
  const Record record = {places_in(type), value};
  Call out = {.thread = {}, .has_ended = false, .user = {}};
  std::memcpy(&out.thread.task, key.data(), sizeof out.thread.task);
  out.start = record.number(record.at.start);
  out.away_ns = record.number(record.at.away_ns);
  out.queued_ns = record.number(record.at.queued_ns);
  return out;
}

} // namespace waits
