// The fields stand in the order of the print() in the script.
#include "session/slow_records.h"

#include "spec/slow_kinds.h"

#include <algorithm>
#include <cstring>

namespace session {

namespace {

class Fields {
public:
  Fields(const type::Type& type, std::span<const std::byte> bytes) : fields_(type.fields()), bytes_(bytes) {}

  // The next one.
  uint64_t number() {
    const type::Field& f = fields_[at_++];
    uint64_t out = 0;
    std::memcpy(&out, bytes_.data() + f.offset, std::min<uint32_t>(f.type->size, 8));
    return out;
  }
  uint32_t small() { return static_cast<uint32_t>(number()); }
  std::string text() {
    const type::Field& f = fields_[at_++];
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + f.offset;
    return std::string(begin, ::strnlen(begin, f.type->size));
  }
  StackId stack() {
    const type::Field& f = fields_[at_++];
    StackId out = {.type = f.type};
    std::memcpy(&out.id, bytes_.data() + f.offset, 8);
    if (f.type->is(type::Kind::ustack)) std::memcpy(&out.pid, bytes_.data() + f.offset + 8, 4);
    return out;
  }
  SlowThread thread() {
    SlowThread out;
    out.pid = small();
    out.tid = small();
    out.name = text();
    return out;
  }
  InCall in_call() {
    InCall out;
    out.start = number();
    out.away_ns = number();
    out.queued_ns = number();
    return out;
  }
  SlowThread thread_of_task() { // with its number in the kernel before it
    const uint32_t task = small();
    SlowThread out = thread();
    out.task = task;
    return out;
  }
  std::array<uint64_t, 6> arguments() {
    std::array<uint64_t, 6> out;
    for (uint64_t& a : out) a = number();
    return out;
  }

private:
  std::span<const type::Field> fields_;
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

Wait read_wait(Fields fields) {
  Wait out;
  out.thread = fields.thread_of_task();
  const uint64_t left = fields.number();
  out.left = left & ~uint64_t{15};
  out.is_preempted = left & 1;
  out.woken = fields.number();
  out.back = fields.number();
  if (out.is_preempted) out.woken = out.left;
  if (out.woken < out.left || out.woken > out.back) out.woken = out.back;
  out.call = static_cast<int>(fields.number());
  out.arguments = fields.arguments();
  out.owner = fields.small();
  out.ran = fields.thread();
  out.ran_ns = fields.number();
  out.cpu = fields.small();
  out.in = fields.in_call();
  out.kernel = fields.stack();
  out.user = fields.stack();
  return out;
}

Wake read_wake(Fields fields) {
  Wake out;
  out.task = fields.small();
  out.at = fields.number();
  out.by = fields.thread();
  out.kernel = fields.stack();
  out.user = fields.stack();
  return out;
}

SlowCall read_call(Fields fields) {
  SlowCall out;
  out.thread = fields.thread_of_task();
  out.start = fields.number();
  out.end = fields.number();
  out.away_ns = fields.number();
  out.queued_ns = fields.number();
  out.call = static_cast<int>(fields.number());
  if (out.call == spec::slow_ended) out.has_ended = false;
  if (out.call == spec::slow_left_by_exception) out.left_by = LeftBy::exception;
  if (out.call == spec::slow_left_by_jump) out.left_by = LeftBy::jump;
  out.call = std::max(out.call, -1);
  out.result = static_cast<int64_t>(fields.number());
  out.arguments = fields.arguments();
  out.user = fields.stack();
  return out;
}

OnCpu read_on_cpu(Fields fields) {
  OnCpu out;
  out.thread = fields.thread_of_task();
  out.at = fields.number();
  out.in = fields.in_call();
  out.user = fields.stack();
  return out;
}

Ran read_ran(Fields fields) {
  Ran out;
  out.task = fields.small();
  out.thread = fields.thread();
  out.until = fields.number();
  out.ns = fields.number();
  return out;
}

Turn read_turn(Fields fields) {
  Turn out;
  out.task = fields.small();
  out.at = fields.number();
  out.queued_ns = fields.number();
  out.ran = fields.thread();
  out.ran_ns = fields.number();
  out.cpu = fields.small();
  return out;
}

SlowIo read_io(Fields fields) {
  SlowIo out;
  out.thread = fields.thread_of_task();
  out.asked = fields.number();
  out.issued = fields.number();
  out.done = fields.number();
  out.operation = fields.small();
  out.device = fields.small();
  out.sector = fields.number();
  out.bytes = fields.small();
  out.kernel = fields.stack();
  out.user = fields.stack();
  return out;
}

} // namespace

SlowNote read_slow_record(const type::Type& type, std::span<const std::byte> bytes) {
  if (!type.is(type::Kind::tuple) || type.fields().empty()) return {};
  Fields fields(type, bytes);
  switch (static_cast<spec::SlowRecord>(fields.small())) {
  case spec::SlowRecord::wait: return read_wait(fields);
  case spec::SlowRecord::wake: return read_wake(fields);
  case spec::SlowRecord::call: return read_call(fields);
  case spec::SlowRecord::on_cpu: return read_on_cpu(fields);
  case spec::SlowRecord::ran: return read_ran(fields);
  case spec::SlowRecord::io: return read_io(fields);
  case spec::SlowRecord::turn: return read_turn(fields);
  case spec::SlowRecord::next: {
    const uint32_t task = fields.small();
    return NextCall{task, fields.number()};
  }
  }
  return {};
}

SlowCall read_open_call(std::span<const std::byte> key, std::span<const std::byte> value) {
  SlowCall out = {.thread = {}, .has_ended = false, .user = {}};
  std::memcpy(&out.thread.task, key.data(), sizeof out.thread.task);
  uint64_t numbers[4]; // start, stack pointer, away, of that runnable
  std::memcpy(numbers, value.data(), sizeof numbers);
  out.start = numbers[0];
  out.away_ns = numbers[2];
  out.queued_ns = numbers[3];
  return out;
}

} // namespace session
