// The interpreter: execute() follows the steps and does what is frequent, step() does one instruction, and
// the cases that need more than a few lines have functions of their own.
#include "eval/interpreter.h"

#include "base/process_memory.h"
#include "base/text.h"
#include "ir/held_records.h"
#include "ir/ops.h"
#include "spec/stack_entries.h"
#include "symbol/cgroups.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

namespace eval {

using ir::Inst;
using ir::Op;
using ir::Query;
using ir::Space;

namespace {

std::byte* host(int64_t address) { return reinterpret_cast<std::byte*>(address); }
int64_t script(const void* pointer) { return reinterpret_cast<int64_t>(pointer); }

// Undefined memory gets a pattern in debug builds, so that a program which reads it shows.
std::unique_ptr<std::byte[]> make_undefined(size_t size) {
  auto bytes = std::unique_ptr<std::byte[]>(new std::byte[size]);
#ifndef NDEBUG
  std::memset(bytes.get(), 0xaa, size);
#endif
  return bytes;
}

// `size` bytes as a 64-bit number.
int64_t widen(const std::byte* from, const Inst& i) {
  uint64_t value = 0;
  std::memcpy(&value, from, i.size); // little-endian
  const unsigned unused = 64 - 8 * i.size;
  return i.is_signed ? static_cast<int64_t>(value << unused) >> unused : static_cast<int64_t>(value);
}

int64_t nanoseconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

int64_t pack(uint64_t high, uint64_t low) { return static_cast<int64_t>(high << 32 | (low & 0xffffffff)); }

// At most 15 bytes; empty where there is no such process.
std::string name_of_process(int64_t pid) {
  auto text = base::read_file("/proc/" + std::to_string(pid) + "/comm");
  return text.ok() ? std::string(base::trim(*text).substr(0, 15)) : std::string();
}

size_t count_entries(std::span<const uint64_t> stack) {
  size_t out = 0;
  for (; !stack.empty(); out++) spec::take_entry(stack);
  return out;
}

constexpr uint32_t most_nesting = 1000; // of loops in calls in loops: each takes some of this process's stack
constexpr size_t most_calls = 1 << 20;
constexpr size_t most_parameters = 8; // room for those of a call that is to be: at least 5 and register 0
constexpr uint64_t steps_between_looks = 1 << 20;
constexpr uint64_t steps_of_record = 1 << 10; // as long as one takes until it is printed

} // namespace

Interpreter::Interpreter(State& state)
    : state_(state), steps_left_(state.options.step_budget ? state.options.step_budget : steps_between_looks),
      top_(state.stack.get()),
      thread_(state.thread ? state.thread->id : static_cast<uint64_t>(gettid())) {}

base::Result<int64_t> Interpreter::run(uint32_t function) {
  Activation now{};
  const int64_t result = enter(state_.code_of(function), now) ? execute(now) : 0;
  if (stopped_ && !failure_.empty()) return base::Error{base::Failure::runtime, failure_};
  return static_cast<int32_t>(result); // as programs of the kernel return it
}

void Interpreter::fail(std::string why) {
  if (!stopped_) failure_ = std::move(why);
  stopped_ = true;
}

bool Interpreter::enter(FunctionCode& code, Activation& now) {
  const size_t words = code.places() + code.frame / 8;
  const int64_t* const end = state_.stack.get() + State::stack_words;
  if (static_cast<size_t>(end - top_) < words + most_parameters) {
    fail("functions call each other too deeply");
    return false;
  }
  now = {&code, top_, reinterpret_cast<std::byte*>(top_ + code.places())};
  int64_t* to = top_ + code.registers;
  for (const int64_t constant : code.constants) *to++ = constant; // few
#ifndef NDEBUG // a program that reads undefined memory shows
  std::memset(now.objects, 0xaa, code.frame);
#endif
  top_ += words;
  return true;
}

// Whether a run may go on, asked every so many steps: it may be over its budget, or nobody wants it any more.
bool Interpreter::more_steps() {
  const uint64_t budget = state_.options.step_budget;
  if (budget) {
    steps_left_ = 0;
    fail("stopped after " + std::to_string(budget) + " steps");
    return false;
  }
  if (state_.options.interrupted && state_.options.interrupted()) {
    stopped_ = true;
    return false;
  }
  steps_left_ = steps_between_looks;
  return true;
}

// Gives what the function gives back; 0 once stopped.
int64_t Interpreter::execute(Activation now) {
  static const void* const labels[] = {
#define STEP(name, ...) &&do_##name,
      ACU_EVAL_ARITHMETIC(STEP) &&do_compute,
#undef STEP
#define STEP(name, ...) &&do_branch_##name,
      ACU_EVAL_CONDITIONS(STEP) &&do_jump,
#undef STEP
#define STEP(name, ...) &&do_target_##name,
      ACU_EVAL_LOADS(STEP)
#undef STEP
#define STEP(name, ...) &&do_first_##name,
      ACU_EVAL_LOADS(STEP)
#undef STEP
#define STEP(name, ...) &&do_own_##name,
      ACU_EVAL_LOADS(STEP)
#undef STEP
          &&do_ahead, &&do_fetch, &&do_object, &&do_pass, &&do_call, &&do_give_back, &&do_unreachable,
      &&do_other};
  static_assert(std::size(labels) == static_cast<size_t>(Step::other) + 1);
  if (stopped_) return 0;
  const size_t depth = calls_.size();
  Code* code = now.code->code.data();
  Code* i = code;
  int64_t* v = now.values;
#define GO goto* labels[static_cast<size_t>(i->step)]
#define GO_ON                                                                                                \
  i++;                                                                                                       \
  GO
#define GO_TO                                                                                                \
  i = code + i->to;                                                                                          \
  GO
  GO;

#define STEP(name, expression)                                                                               \
  do_##name : {                                                                                              \
    const auto a = static_cast<uint64_t>(v[i->a]);                                                           \
    [[maybe_unused]] const auto b = static_cast<uint64_t>(v[i->b]);                                          \
    v[i->dst] = static_cast<int64_t>(expression);                                                            \
    GO_ON;                                                                                                   \
  }
  ACU_EVAL_ARITHMETIC(STEP)
#undef STEP
do_compute:
  v[i->dst] = ir::compute(*i->inst, v[i->a], v[i->b]);
  GO_ON;

#define STEP(name, type, comparison)                                                                         \
  do_branch_##name : if (static_cast<type>(v[i->a]) comparison static_cast<type>(v[i->b])) goto do_jump;     \
  GO_ON;
  ACU_EVAL_CONDITIONS(STEP)
#undef STEP
do_jump:
  if (--steps_left_ == 0 && !more_steps()) return 0;
  GO_TO;

#define LOAD(type, reached)                                                                                  \
  {                                                                                                          \
    const uint64_t address = static_cast<uint64_t>(v[i->a]) + static_cast<uint64_t>(i->imm);                 \
    const uint64_t at = address - i->begin;                                                                  \
    type n;                                                                                                  \
    if (at < i->room) [[likely]] {                                                                           \
      const std::byte* from = i->bytes + at;                                                                 \
      std::memcpy(&n, from, sizeof n);                                                                       \
      reached;                                                                                               \
    } else if (const std::byte* from = find_elsewhere(*i, address, sizeof n)) {                              \
      std::memcpy(&n, from, sizeof n);                                                                       \
    } else {                                                                                                 \
      GO_TO;                                                                                                 \
    }                                                                                                        \
    v[i->dst] = static_cast<int64_t>(n);                                                                     \
    GO_ON;                                                                                                   \
  }
#define STEP(name, type, ...)                                                                                \
  do_target_##name : LOAD(type, )                                                                            \
  do_first_##name : LOAD(type, state_.nearby.reach(from))
  ACU_EVAL_LOADS(STEP)
#undef STEP
#undef LOAD
#define STEP(name, type, ...)                                                                                \
  do_own_##name : {                                                                                          \
    type n;                                                                                                  \
    std::memcpy(&n, host(v[i->a] + i->imm), sizeof n);                                                       \
    v[i->dst] = static_cast<int64_t>(n);                                                                     \
    GO_ON;                                                                                                   \
  }
  ACU_EVAL_LOADS(STEP)
#undef STEP
do_ahead : {
  const uint64_t address = static_cast<uint64_t>(v[i->a]) + static_cast<uint64_t>(i->imm);
  if (const uint64_t at = address - i->begin; at < i->room) {
    uint64_t pointer;
    std::memcpy(&pointer, i->bytes + at, sizeof pointer);
    for (const target::Window& w : state_.windows)
      if (pointer - w.begin < w.size) {
        __builtin_prefetch(w.bytes + (pointer - w.begin));
        state_.nearby.reach(w.bytes + (pointer - w.begin));
        break;
      }
  } else {
    find_elsewhere(*i, address, sizeof address); // whatever it gives: it is not needed yet
  }
  GO_ON;
}
do_fetch:
  if (!fetch(now, *i->inst)) {
    GO_TO;
  }
  GO_ON;
do_object:
  v[i->dst] = script(now.objects + i->imm);
  GO_ON;
do_pass:
  top_[i->dst] = v[i->a];
  GO_ON;
do_call:
  if (--steps_left_ == 0 && !more_steps()) return 0;
  if (calls_.size() == most_calls) {
    fail("functions call each other too deeply");
    return 0;
  }
  calls_.push_back({i, now});
  if (!enter(state_.code_of(static_cast<size_t>(i->imm)), now)) return 0;
  i = code = now.code->code.data();
  v = now.values;
  GO;
do_give_back : {
  const int64_t result = v[i->a];
  if (calls_.size() == depth) return result;
  top_ = v;
  now = calls_.back().caller;
  i = calls_.back().from;
  calls_.pop_back();
  code = now.code->code.data();
  v = now.values;
  v[i->dst] = result;
  GO_ON;
}
do_unreachable:
  fail("reached an instruction that cannot be reached");
  return 0;
do_other:
  step(now, *i->inst);
  if (stopped_) return 0;
  GO_ON;
#undef GO
#undef GO_ON
#undef GO_TO
}

const std::byte* Interpreter::find_elsewhere(Code& step, uint64_t address, uint64_t size) {
  if (const std::byte* from = find_target(address, size)) {
    const target::Window& area = state_.windows[0];
    if (area.size >= sizeof word_) {
      step.begin = area.begin;
      step.room = area.size - (sizeof word_ - 1);
      step.bytes = area.bytes;
    }
    return from;
  }
  return read_target(address, {word_, size}) ? word_ : nullptr;
}

void Interpreter::step(Activation& now, const Inst& i) {
  const auto a = [&] { return now.get(i.a); };
  const auto b = [&] { return now.get(i.b); };
  switch (i.op) {
  case Op::load:
  case Op::read:
  case Op::read_string:
  case Op::read_bytes: fetch(now, i); break;
  case Op::store: {
    const int64_t value = b();
    std::memcpy(host(a() + i.imm), &value, i.size);
    break;
  }
  case Op::copy: std::memcpy(host(a() + i.imm), host(b() + i.imm3), i.imm2); break;
  case Op::zero: std::memset(host(a() + i.imm), 0, i.imm2); break;
  case Op::equal: now.set(i, std::memcmp(host(a()), host(b()), i.imm2) == 0); break;
  case Op::add_memory: {
    uint64_t value;
    std::memcpy(&value, host(a() + i.imm), sizeof value);
    value += static_cast<uint64_t>(b());
    std::memcpy(host(a() + i.imm), &value, sizeof value);
    break;
  }
  case Op::name: {
    char text[16] = {};
    if (state_.thread)
      state_.thread->name.copy(text, sizeof text - 1);
    else
      prctl(PR_GET_NAME, text);
    std::memset(host(a()), 0, sizeof text);
    std::memcpy(host(a()), text, strnlen(text, sizeof text));
    break;
  }
  case Op::task_name: {
    const std::string name = state_.thread ? std::string() : name_of_process(b());
    std::memset(host(a()), 0, 16);
    std::memcpy(host(a()), name.data(), name.size());
    now.set(i, !name.empty());
    break;
  }
  case Op::cpu_variable: // there is no kernel to point into, and nothing that is traced
  case Op::socket_cookie: now.set(i, 0); break;
  case Op::path:
  case Op::print:
  case Op::packet:
  case Op::signal:
  case Op::write_user:
  case Op::override: now.set(i, -EPERM); break;
  case Op::query: now.set(i, query(i.query)); break;
  case Op::context_address: now.set(i, 0); break; // there is no context
  case Op::stack_depth:
    now.set(i, static_cast<int64_t>(static_cast<uint64_t>(a()) / 2 < state_.stacks.size() && a()
                                        ? count_entries(*state_.stacks[static_cast<size_t>(a()) / 2])
                                        : 0));
    break;
  case Op::stack: now.set(i, keep_stack(i)); break;
  case Op::lend:
  case Op::borrow: break; // of programs that are cut for the kernel
  case Op::cpu_count: now.set(i, 1); break;
  case Op::memory_map:
    now.set(i, state_.options.memory_map
                   ? static_cast<int64_t>(state_.options.memory_map(static_cast<ir::MemoryQuestion>(i.index),
                                                                    static_cast<uint64_t>(a())))
                   : 0);
    break;
  case Op::blur: now.set(i, now.get(i.a)); break;
  case Op::table: {
    const auto& table = state_.program.tables[i.index];
    const auto at = static_cast<uint64_t>(a());
    now.set(i, at < table.size() ? table[at] : 0);
    break;
  }
  case Op::event: now.set(i, open_record(i)); break;
  case Op::send: send_record(a()); break;
  case Op::hold: now.set(i, hold_record(i, host(a()))); break;
  case Op::commit: commit(host(a())); break;
  case Op::exchange: now.set(i, exchange(host(a() + i.imm), b(), now.get(i.c))); break;
  case Op::count_fault: count_fault(i.index); break;
  case Op::loop: now.set(i, loop(now, i)); break;
  case Op::for_each: for_each(now, i); break;
  default: step_map(now, i);
  }
}

std::string_view Interpreter::key(const Activation& now, const Inst& i) const {
  const MapTable& map = state_.maps[i.index];
  if (state_.program.maps[i.index].kind == ir::MapKind::task)
    return {reinterpret_cast<const char*>(&thread_), sizeof thread_};
  if (map.key_size() == 0) return {};
  return {reinterpret_cast<const char*>(now.get(i.a)), map.key_size()};
}

void Interpreter::step_map(Activation& now, const Inst& i) {
  MapTable& map = state_.maps[i.index];
  switch (i.op) {
  case Op::map_find: now.set(i, script(map.find(key(now, i)))); break;
  case Op::map_find_cpu: now.set(i, now.get(i.b) == 0 ? script(map.find(key(now, i))) : 0); break;
  case Op::map_slot:
  case Op::map_store: {
    std::byte* value = map.slot(key(now, i));
    if (!value)
      state_.counters.map_full[i.index]++;
    else if (i.op == Op::map_store)
      std::memmove(value, host(now.get(i.b)), map.value_size());
    if (value && i.op == Op::map_slot && i.b.kind != ir::Operand::none) value += 8 * now.get(i.b);
    now.set(i, i.op == Op::map_slot ? script(value) : value != nullptr);
    break;
  }
  case Op::map_remove: now.set(i, map.remove(key(now, i))); break;
  case Op::map_size: now.set(i, static_cast<int64_t>(map.size())); break;
  default: fail("unknown operation " + std::string(ir::to_string(i.op)));
  }
}

// Memory of this process that may not be there.
bool Interpreter::read_own(uint64_t address, std::span<std::byte> to) {
  return base::read_process(::getpid(), address, to);
}

bool Interpreter::read_foreign(Space space, uint64_t address, std::span<std::byte> to) {
  if (space == Space::script) { // text there has its NUL in the object: no more than that is read
    std::memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
    return true;
  }
  if (is_of_target(space)) return read_target(address, to);
  Memory* memory = space == Space::user ? state_.options.user : state_.options.kernel;
  return memory && memory->read(address, to);
}

// The areas read last are kept, the newest first.
const std::byte* Interpreter::find_window(uint64_t address, uint64_t size) {
  auto& windows = state_.windows;
  for (size_t w = 1; w < windows.size(); w++)
    if (windows[w].holds(address, size)) {
      std::swap(windows[0], windows[w]);
      return windows[0].bytes + (address - windows[0].begin);
    }
  const target::Window found = state_.options.target->window(address);
  if (!found.bytes) {
    state_.missing = found.why;
    return nullptr;
  }
  std::rotate(windows.begin(), windows.end() - 1, windows.end());
  windows[0] = found;
  return found.holds(address, size) ? found.bytes + (address - found.begin) : nullptr;
}

bool Interpreter::read_target(uint64_t address, std::span<std::byte> to) {
  if (to.empty()) return true;
  if (const std::byte* from = find_target(address, to.size())) {
    std::memcpy(to.data(), from, to.size());
    return true;
  }
  state_.missing = state_.options.target->read(address, to);
  return state_.missing == target::Missing::none;
}

// A run that goes over a stopped program ends at the first read that fails.
void Interpreter::count_fault(uint32_t site) {
  state_.counters.sites[site]++;
  if (!state_.options.target) return;
  const ir::Fault fault = state_.program.sites[site].fault;
  if (fault != ir::Fault::read_user && fault != ir::Fault::read_kernel) return;
  state_.counters.reasons[{site, target::to_string(state_.missing)}]++;
  stopped_ = true;
}

// The id of the thread's user stack: equal ones have one.
int64_t Interpreter::keep_stack(const Inst& i) {
  if (i.index == 0 || !state_.thread || state_.thread->stack.empty()) return 0;
  std::span<const uint64_t> rest = state_.thread->stack;
  const auto stack = rest;
  for (uint64_t entries = 0; entries < static_cast<uint64_t>(i.imm2) && !rest.empty(); entries++) spec::take_entry(rest);
  const std::vector<uint64_t> frames(stack.begin(), stack.end() - static_cast<ptrdiff_t>(rest.size()));
  auto [at, is_new] = state_.stack_ids.try_emplace(frames, state_.stacks.size() * 2 + 1);
  if (is_new) state_.stacks.push_back(&at->first);
  return static_cast<int64_t>(at->second);
}

// As in the kernel, what could not be read is zeros.
bool Interpreter::fetch(Activation& now, const Inst& i) {
  if (i.op == Op::load) return load(now, i);
  if (i.op == Op::read_string) return read_string(now, i);
  auto length = static_cast<uint64_t>(i.imm2);
  if (i.op == Op::read_bytes) length = std::min(length, static_cast<uint64_t>(now.get(i.c)));
  const std::span to(host(now.get(i.a)), length);
  const auto from = static_cast<uint64_t>(now.get(i.b));
  const bool is_free = i.space == Space::script && i.other != ir::no_block;
  const bool ok = length == 0 || (is_free ? read_own(from, to) : read_foreign(i.space, from, to));
  if (!ok) std::ranges::fill(to, std::byte{0});
  now.set(i, ok ? static_cast<int64_t>(length) : 0);
  return ok;
}

bool Interpreter::load(Activation& now, const Inst& i) {
  const int64_t address = now.get(i.a) + i.imm;
  switch (i.space) {
  case Space::script:
    if (i.other != ir::no_block) break; // through a pointer that the script made
    now.set(i, widen(host(address), i));
    return true;
  case Space::context: {
    const std::span context = state_.thread ? state_.thread->context : state_.options.context;
    const bool is_inside = i.imm >= 0 && static_cast<uint64_t>(i.imm) + i.size <= context.size();
    now.set(i, is_inside ? widen(context.data() + i.imm, i) : 0);
    return true;
  }
  case Space::task: now.set(i, 0); return i.other == ir::no_block; // nothing is known of tasks
  case Space::kernel:
  case Space::user: break;
  }
  std::byte bytes[8] = {};
  const bool ok = i.space == Space::script
                      ? read_own(static_cast<uint64_t>(address), {bytes, i.size})
                      : read_foreign(i.space, static_cast<uint64_t>(address), {bytes, i.size});
  now.set(i, ok ? widen(bytes, i) : 0);
  return ok;
}

// Reads in pieces that end at multiples of 64; byte by byte near a hole, which the text may just not reach.
bool Interpreter::read_string(Activation& now, const Inst& i) {
  const std::span room(host(now.get(i.a)), static_cast<size_t>(i.imm2));
  const auto limit = i.c.kind == ir::Operand::none ? ~0ull : static_cast<uint64_t>(now.get(i.c));
  const bool is_limited = limit < room.size() || (i.c.is_constant() && limit == room.size());
  const std::span to = is_limited ? room.first(limit) : room;
  const auto from = static_cast<uint64_t>(now.get(i.b));
  size_t at = 0;
  std::byte piece[64];
  size_t most = sizeof piece;
  while (at < to.size()) {
    const uint64_t address = from + at;
    size_t length = std::min({to.size() - at, sizeof piece - address % sizeof piece, most});
    const bool is_free = i.space == Space::script && i.other != ir::no_block;
    if (i.space == Space::script && !is_free) // the object may end behind the NUL
      length = std::min(length, strnlen(reinterpret_cast<const char*>(address), length) + 1);
    if (!(is_free ? read_own(address, {piece, length}) : read_foreign(i.space, address, {piece, length}))) {
      if (length > 1) {
        most = 1;
        continue;
      }
      std::ranges::fill(to, std::byte{0});
      now.set(i, 0);
      return false;
    }
    const auto end = std::find(piece, piece + length, std::byte{0});
    const size_t text = static_cast<size_t>(end - piece);
    std::memcpy(to.data() + at, piece, text);
    at += text;
    if (text < length) {
      to[at++] = std::byte{0};
      break;
    }
  }
  if (to.empty()) room[0] = std::byte{0};
  // A limit asked for ends the text properly; only the size of the room cuts it.
  if (is_limited && at == to.size() && at) to[at - 1] = std::byte{0};
  now.set(i, static_cast<int64_t>(at));
  return true;
}

// The body of a loop, with a place on the stack for all its turns.
bool Interpreter::enter_body(const Activation& parent, size_t function, Activation& body) {
  if (nesting_ == most_nesting) {
    fail("loops call each other too deeply");
    return false;
  }
  FunctionCode& code = state_.code_of(function);
  if (!enter(code, body)) return false;
  body.objects = parent.objects;
  nesting_++;
  return true;
}

void Interpreter::leave_body(const Activation& body) {
  top_ = body.values;
  nesting_--;
}

int64_t Interpreter::loop(Activation& now, const Inst& i) {
  const auto wanted = static_cast<uint64_t>(now.get(i.a));
  const auto turns = std::min(wanted, static_cast<uint64_t>(i.imm));
  Activation body;
  if (!enter_body(now, i.index, body)) return 0;
  uint64_t taken = 0;
  while (taken < turns && !stopped_) {
    body.values[1] = static_cast<int64_t>(taken++);
    if (execute(body)) break;
  }
  leave_body(body);
  if (taken == static_cast<uint64_t>(i.imm) && wanted > taken) state_.counters.sites[i.imm2]++;
  return static_cast<int64_t>(taken);
}

// Goes through the keys there were at the start; what the body removes is not visited.
void Interpreter::for_each(Activation& now, const Inst& i) {
  MapTable& map = state_.maps[i.index];
  std::vector<std::string_view> keys;
  for (const auto& entry : map.entries()) keys.push_back(entry.key);
  Activation body;
  if (!enter_body(now, static_cast<size_t>(i.imm), body)) return;
  for (const std::string_view key : keys) {
    std::byte* value = map.find(key);
    if (!value) continue;
    body.values[1] = script(key.data());
    body.values[2] = script(value);
    if (execute(body) || stopped_) break;
  }
  leave_body(body);
}

int64_t Interpreter::query(Query query) {
  constexpr int64_t jiffy = 1'000'000'000 / 250;
  unsigned cpu = 0, node = 0;
  if (state_.thread && query == Query::uid_gid) return pack(state_.thread->group, state_.thread->user);
  if (state_.thread && (query == Query::pid_tgid || query == Query::namespace_pid_tgid))
    return pack(state_.thread->pid, state_.thread->id);
  if (state_.thread && (query == Query::cpu || query == Query::numa_node)) return 0;
  switch (query) {
  case Query::namespace_pid_tgid:
  case Query::pid_tgid: return pack(static_cast<uint64_t>(getpid()), thread_);
  case Query::uid_gid: return pack(getgid(), getuid());
  case Query::cpu: return std::max(sched_getcpu(), 0);
  case Query::numa_node: return getcpu(&cpu, &node) == 0 ? node : 0;
  case Query::ktime_now:
  case Query::ktime: return nanoseconds(CLOCK_MONOTONIC);
  case Query::ktime_boot: return nanoseconds(CLOCK_BOOTTIME);
  case Query::ktime_tai: return nanoseconds(CLOCK_TAI);
  case Query::jiffies: return nanoseconds(CLOCK_MONOTONIC) / jiffy;
  case Query::cgroup_id: {
    static const uint64_t own = symbol::Cgroups().own();
    return static_cast<int64_t>(own);
  }
  case Query::cookie:
  case Query::is_return:
  case Query::user_registers:
  case Query::task: return 0;
  case Query::random: break;
  }
  // 32 bits, as the kernel's helper gives them. SplitMix64 (Steele, Lea, Flood: Fast splittable generators,
  // 2014).
  uint64_t z = state_.random += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return static_cast<int64_t>((z ^ z >> 31) >> 32);
}

int64_t Interpreter::open_record(const Inst& i) {
  auto record = make_undefined(static_cast<size_t>(i.imm2));
  const uint32_t header[2] = {i.index, 0};
  std::memcpy(record.get(), header, sizeof header);
  state_.records.push_back(std::move(record));
  return script(state_.records.back().get());
}

void Interpreter::send_record(int64_t address) {
  uint32_t action;
  std::memcpy(&action, host(address), sizeof action);
  const std::byte* from = host(address);
  state_.events.emplace_back(from, from + state_.program.actions[action].record_size());
  if (!state_.options.step_budget) steps_left_ -= std::min(steps_left_ - 1, steps_of_record);
  // Usually the newest; others are kept until the run ends.
  if (!state_.records.empty() && state_.records.back().get() == from) state_.records.pop_back();
}

int64_t Interpreter::exchange(std::byte* word, int64_t expected, int64_t next) {
  int64_t was;
  std::memcpy(&was, word, sizeof was);
  if (was == expected) std::memcpy(word, &next, sizeof next);
  return was;
}

namespace {
struct Speculation { // the begin of ir::speculation_header
  uint64_t bytes, records;
};
} // namespace

int64_t Interpreter::hold_record(const Inst& i, std::byte* to) {
  Speculation held;
  std::memcpy(&held, to, sizeof held);
  const uint32_t room = state_.program.maps[state_.program.speculations].value_size - ir::speculation_header;
  if (held.bytes + i.imm2 > room) return 0;
  std::byte* record = to + ir::speculation_header + held.bytes;
  held.bytes += i.imm2;
  held.records++;
  std::memcpy(to, &held, sizeof held);
  const uint32_t header[2] = {i.index, 1};
  std::memcpy(record, header, sizeof header);
  return script(record);
}

void Interpreter::commit(const std::byte* from) {
  Speculation held;
  std::memcpy(&held, from, sizeof held);
  const std::span records{from + ir::speculation_header, held.bytes};
  state_.counters.lost_events += ir::take_held(state_.program, records, [&](std::span<const std::byte> record) {
    state_.events.emplace_back(record.begin(), record.end());
  });
}

} // namespace eval
