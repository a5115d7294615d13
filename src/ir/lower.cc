// Lowering's order of work, and the building of functions.
//
// A probe becomes a Function of Role::probe. All blocks on system calls of one side (enter or exit) become
// one program on the raw tracepoint, which tells them apart by the number: hundreds of probes attach at once.
#include "format/btf.h"
#include "host/environment.h"
#include "ir/group_sets.h"
#include "ir/lowering.h"

#include "lang/walk.h"
#include "spec/arch.h"

#include "base/text.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

namespace ir {

using probe::Context;

static constexpr uint32_t largest_percpu_value = (32 << 10) - 16; // with what stands beside a value
static uint32_t round_up(uint32_t n) { return (n + 7) / 8 * 8; }

// ------------------------------------------------------------------------------------------- building

uint32_t Lowering::begin_function(std::string name, Role role, uint32_t parameters, uint32_t frame) {
  Function f;
  f.name = std::move(name);
  f.role = role;
  f.frame = frame;
  f.parameters = parameters;
  f.registers = parameters + 1;
  if (role == Role::body) f.parent = function_;
  f.blocks.emplace_back();
  program_.functions.push_back(std::move(f));
  const auto made = static_cast<uint32_t>(program_.functions.size() - 1);
  go_to(made, 0);
  return made;
}

// Instructions gather in one list and move to their block when another is begun: each block then takes just
// the room it needs.
void Lowering::go_to(uint32_t function, BlockId block) {
  if (!open_.empty()) {
    auto& insts = program_.functions[function_].blocks[block_].insts;
    insts.insert(insts.end(), open_.begin(), open_.end());
    open_.clear();
  }
  function_ = function;
  block_ = block;
}

BlockId Lowering::new_block() {
  function().blocks.emplace_back();
  return static_cast<BlockId>(function().blocks.size() - 1);
}

bool Lowering::ended() const {
  const auto& insts = open_.empty() ? program_.functions[function_].blocks[block_].insts : open_;
  if (insts.empty()) return false;
  switch (insts.back().op) {
  case Op::jump:
  case Op::branch:
  case Op::give_back:
  case Op::unreachable: return true;
  default: return insts.back().other != no_block;
  }
}

Inst& Lowering::append(Inst i) {
  if (ended()) start(new_block()); // what follows a return is unreachable, but still well formed
  i.where = where_;
  open_.push_back(i);
  return open_.back();
}

void Lowering::jump(BlockId to) {
  if (!ended()) append({.op = Op::jump, .target = to});
}

void Lowering::branch(Cond cond, Operand a, Operand b, BlockId yes, BlockId no) {
  append({.op = Op::branch, .cond = cond, .a = a, .b = b, .target = yes, .other = no});
}

void Lowering::give_back(Operand value) { append({.op = Op::give_back, .a = value}); }

Operand Lowering::emit(Op op, Operand a, Operand b, uint8_t size) {
  Reg dst = fresh();
  append({.op = op, .size = size, .dst = dst, .a = a, .b = b});
  return Operand::of(dst);
}

void Lowering::assign(Reg to, Operand from) { append({.op = Op::mov, .dst = to, .a = from}); }

Operand Lowering::set(Cond cond, Operand a, Operand b) {
  Reg dst = fresh();
  append({.op = Op::set, .cond = cond, .dst = dst, .a = a, .b = b});
  return Operand::of(dst);
}

uint32_t Lowering::add_object(uint32_t size, std::string name) {
  auto& objects = program_.frames[function().frame].objects;
  size = round_up(std::max(1u, size));
  const auto fits = [&](uint32_t index) { return objects[index].size == size; };
  if (const auto spare = std::ranges::find_if(spare_objects_, fits); spare != spare_objects_.end()) {
    const uint32_t index = std::exchange(*spare, spare_objects_.back());
    spare_objects_.pop_back();
    if (objects[index].name != name) objects[index].name.clear();
    return index;
  }
  objects.push_back({size, std::move(name)});
  return static_cast<uint32_t>(objects.size() - 1);
}

Operand Lowering::object(uint32_t index, int64_t offset) {
  Reg dst = fresh();
  append({.op = Op::object, .dst = dst, .imm = offset, .index = index});
  return Operand::of(dst);
}

Place Lowering::scratch_place(uint32_t size, std::string name) {
  return {Space::script, object(add_object(size, std::move(name))), 0};
}

Operand Lowering::address(const Place& p) {
  if (p.space == Space::context) {
    Operand context = emit(Op::context_address);
    return p.offset ? emit(Op::add, context, number(p.offset)) : context;
  }
  return p.offset ? emit(Op::add, p.base, number(p.offset)) : p.base;
}

uint32_t Lowering::site(Fault fault, std::string detail) {
  uint64_t place = static_cast<uint64_t>(where_.begin) << 32 | where_.end;
  auto [at, is_new] =
      sites_.try_emplace({place, static_cast<uint32_t>(fault)}, static_cast<uint32_t>(program_.sites.size()));
  if (is_new) program_.sites.push_back({fault, where_, std::move(detail)});
  return at->second;
}

void Lowering::count(Fault fault, std::string detail) {
  append({.op = Op::count_fault, .index = site(fault, std::move(detail))});
}

// -------------------------------------------------------------------------------------------- program

// As maps keep and events carry it: integers take 8 bytes.
const Type* Lowering::as_word(const Type* t) { return t && t->is(Kind::integer) ? types_.integer(8, t->is_signed) : t; }

void Lowering::lower_maps() {
  if (options_.samples) countable_ = lang::countable_probes(source_);
  if (!countable_.empty()) {
    program_.one_of = static_cast<uint32_t>(program_.maps.size());
    program_.maps.push_back({.name = "one of", .kind = MapKind::array, .value = types_.uint64(), .value_size = 8, .max_entries = 1, .is_own = true});
  }
  for (const spec::GroupSet& set : source_.group_sets) add_group_set(program_, types_, set);
  make_thread_context_map();
  uint64_t most = source_.config.number("max_map_keys");
  for (const lang::Map* m : source_.maps) {
    const_cast<lang::Map*>(m)->id = static_cast<uint32_t>(program_.maps.size());
    Map map;
    map.name = std::string(m->name);
    map.where = m->where;
    map.is_own = m->is_own;
    map.key = as_word(m->key);
    map.key_names.assign(m->key_names.begin(), m->key_names.end());
    map.value = as_word(m->value);
    bool is_aggregation = m->value->is_aggregation();
    // The kernel keeps at most 32 KB for a CPU: longer series are shared by all.
    bool is_large = m->value->is(Kind::tseries) && m->value->size > largest_percpu_value;
    bool is_shared = m->key && m->storage == lang::Storage::hash; // the checker says where that may be
    bool percpu = (is_aggregation && !is_large && !is_shared) ||
                  m->only_adds; // other values are one for all CPUs, however they were declared
    map.reads_buckets = m->reads_buckets;
    map.sums = m->only_adds && !is_aggregation;
    if (!m->key)
      map.kind = percpu ? MapKind::percpu_array : MapKind::array;
    else if (m->storage == lang::Storage::lruhash || m->storage == lang::Storage::percpulruhash)
      map.kind = percpu ? MapKind::percpu_lru_hash : MapKind::lru_hash;
    else if (m->tid_only && !percpu && options_.task_storage)
      map.kind = MapKind::task;
    else
      map.kind = percpu ? MapKind::percpu_hash : MapKind::hash;
    map.key_size = m->key ? std::max(8u, round_up(m->key->size)) : 0; // the kernel has no empty keys
    map.value_size = round_up(map.value->size);
    if (is_scalar(map.kind) || map.kind == MapKind::task) {
      map.present_offset = map.value_size;
      map.value_size += 8;
    }
    if (machine_.stopped) most = UINT32_MAX; // nothing but memory limits it
    map.max_entries = !m->key ? 1 : m->max_entries ? m->max_entries : most;
    program_.maps.push_back(std::move(map));
  }
}

uint32_t Lowering::add_event(const probe::Event& e) {
  auto [at, is_new] = event_ids_.try_emplace(&e, static_cast<uint32_t>(program_.events.size()));
  if (is_new) program_.events.push_back(e);
  return at->second;
}

uint32_t Lowering::probe_name(std::string_view name) {
  auto [at, is_new] =
      probe_name_ids_.try_emplace(std::string(name), static_cast<uint32_t>(program_.probe_names.size()));
  if (is_new) program_.probe_names.emplace_back(name);
  return at->second;
}

// A function that is probed at its return instructions is one.
static uint32_t count_probes(const lang::Probe& p) {
  std::set<std::pair<const symbol::Binary*, uint64_t>> functions;
  auto is_known = [&](const probe::Event* e) { return e->at_return_instruction && !functions.emplace(e->module, e->function_address).second; };
  return static_cast<uint32_t>(std::count_if(p.events.begin(), p.events.end(), [&](const probe::Event* e) { return !is_known(e); }));
}

void Lowering::add_probe(const lang::Probe& p, uint32_t function, Context context,
                         std::vector<uint32_t> events) {
  Probe probe;
  probe.name = p.events.front()->name;
  probe.function = function;
  probe.context = context;
  probe.stands_for = p.is_own ? 0 : count_probes(p);
  probe.events = std::move(events);
  if (probe::is_typed(context)) probe.attach_btf_id = probe::attach_btf_id(machine_, *p.events.front());
  probe.where = p.where;
  program_.probes.push_back(std::move(probe));
}

// Predicate, then the block; both leave by return_block_.
void Lowering::lower_probe_body(const lang::Probe& p) {
  probe_ = &p;
  if (std::ranges::find(countable_, &p) != countable_.end()) choose_events();
  if (p.predicate) {
    where_ = p.predicate->where;
    BlockId inside = new_block();
    condition(*p.predicate, inside, return_block_);
    start(inside);
  }
  lower(*p.body);
  jump(return_block_);
  probe_ = nullptr;
  weight_ = {};
}

// Goes on with the events that count, and how many times they do (Program::one_of).
void Lowering::choose_events() {
  const Reg weight = fresh();
  weight_ = Operand::of(weight);
  assign(weight, load_word({Space::script, find(program_.one_of, {}), 0}, 8, false));
  BlockId all = new_block(), some = new_block(), counts = new_block();
  branch(Cond::ult, weight_, number(2), all, some);
  start(all);
  assign(weight, number(1));
  jump(counts);
  start(some);
  branch(Cond::eq, emit(Op::and_, query(Query::random), emit(Op::sub, weight_, number(1))), number(0), counts, return_block_);
  start(counts);
}

// Runs the block as a loop, and gives the time it took. A `return` in the block ends one turn.
void Lowering::lower_bench(const lang::Probe& p) {
  Operand from = query(Query::ktime_now);
  uint32_t outer = function_;
  BlockId outer_block = block_, outer_return = return_block_;
  uint32_t made = begin_function(function().name + ".bench", Role::body, 1, function().frame);
  return_block_ = new_block();
  start(0);
  lower_probe_body(p);
  start(return_block_);
  give_back(number(0));
  go_to(outer, outer_block);
  return_block_ = outer_return;
  append({.op = Op::loop,
          .dst = fresh(),
          .a = number(bench_turns),
          .imm = bench_turns,
          .imm2 = site(Fault::loop_limit),
          .index = made});
  Operand taken = emit(Op::sub, query(Query::ktime_now), from);
  jump(return_block_);
  start(return_block_);
  give_back(taken);
}

void Lowering::lower_probe(const lang::Probe& p) {
  // Events of one block may need different contexts: a function for each.
  std::vector<std::pair<Context, std::vector<uint32_t>>> groups;
  for (const probe::Event* e : p.events) {
    Context c = context_of(p, *e);
    auto at = std::find_if(groups.begin(), groups.end(), [&](auto& g) { return g.first == c; });
    if (at == groups.end())
      groups.push_back({c, {add_event(*e)}});
    else
      at->second.push_back(add_event(*e));
  }
  for (auto& [context, events] : groups) {
    context_ = context;
    asks_cookie_ = is_pinned_ = false;
    program_.frames.emplace_back();
    uint32_t f = begin_function(p.events.front()->name, Role::probe, 0,
                                static_cast<uint32_t>(program_.frames.size() - 1));
    registers_.clear();
    objects_.clear();
    returned_object_ = result_object_ = ~0u;
    return_block_ = new_block();
    start(0);
    probe::Kind kind = p.events.front()->kind;
    if (kind == probe::Kind::iterator) begin_iterator(*p.events.front());
    if (kind == probe::Kind::test) {
      result_object_ = add_object(8, "result");
      store({Space::script, object(result_object_), 0}, number(0), 8);
    }
    kind == probe::Kind::bench ? lower_bench(p) : lower_probe_body(p);
    start(return_block_);
    if (kind == probe::Kind::iterator) end_iterator();
    if (kind != probe::Kind::bench)
      give_back(kind == probe::Kind::test ? load_word({Space::script, object(result_object_), 0}, 8, true)
                                          : number(0));
    add_probe(p, f, context, events);
    if (asks_cookie_) program_.probes.back().cookies = cookies_of(events);
  }
}

// Does this kernel run 32-bit programs? The file comes with CONFIG_IA32_EMULATION.
static bool has_compatible_calls(host::Environment& host) { return host.can_read("/proc/sys/abi/vsyscall32"); }

// One block of a program that serves many system calls: only for the numbers it names.
void Lowering::lower_syscall_body(const lang::Probe& p, Operand nr) {
  // Blocks do not run inside one another: each has the memory of those before it.
  spare_objects_.resize(program_.frames[function().frame].objects.size());
  std::iota(spare_objects_.begin(), spare_objects_.end(), 0);
  returned_object_ = result_object_ = ~0u;
  BlockId inside = new_block();
  return_block_ = new_block();
  if (p.events.size() == 1) {
    probe_name_ = number(probe_name(p.events.front()->name));
    branch(Cond::eq, nr, number(p.events.front()->syscall), inside, return_block_);
  } else {
    std::vector<uint32_t> table;
    for (const probe::Event* e : p.events) {
      auto n = static_cast<size_t>(e->syscall);
      if (table.size() <= n) table.resize(n + 1);
      table[n] = probe_name(e->name) + 1;
    }
    program_.tables.push_back(std::move(table));
    Reg found = fresh();
    append(
        {.op = Op::table, .dst = found, .a = nr, .index = static_cast<uint32_t>(program_.tables.size() - 1)});
    branch(Cond::ne, Operand::of(found), number(0), inside, return_block_);
    start(inside);
    probe_name_ = emit(Op::sub, Operand::of(found), number(1));
    inside = block_;
  }
  start(inside);
  skip_compatible_call();
  lower_probe_body(p);
  start(return_block_);
}

// Calls of 32-bit programs have other numbers, and no events of their own: the kernel's tracepoints of single
// system calls leave them out, and so must what stands in for them.
void Lowering::skip_compatible_call() {
  if (!compatible_mark_) return;
  constexpr int64_t ts_compat = 2; // TS_COMPAT of arch/x86/include/asm/thread_info.h
  Operand flags = load_word({Space::task, query(Query::task), *compatible_mark_}, 4, false);
  BlockId native = new_block();
  branch(Cond::eq, emit(Op::and_, flags, number(ts_compat)), number(0), native, return_block_);
  start(native);
}

// Where in struct task_struct the kernel marks such a call.
void Lowering::find_compatible_mark() {
  if (!has_compatible_calls(machine_.host())) return;
  uint32_t place =
      machine_.kernel_number("task_struct.thread_info.status", [&](format::Btf& btf) -> uint32_t {
        auto info = btf.member(types_, btf.find("task_struct", format::BtfKind::structure), "thread_info");
        auto status = btf.member(types_, btf.find("thread_info", format::BtfKind::structure), "status");
        return info && status ? info->field.offset + status->field.offset : 0;
      });
  if (place) compatible_mark_ = place; // the structure begins with other things
}

void Lowering::lower_syscalls(const std::vector<const lang::Probe*>& probes, bool is_exit) {
  if (!compatible_mark_) find_compatible_mark();
  // Context of the program: typed pointers as soon as one block reads through them.
  Context context = Context::raw_tracepoint;
  for (const lang::Probe* p : probes)
    for (const probe::Event* e : p->events)
      if (context_of(*p, *e) == Context::btf_tracepoint) context = Context::btf_tracepoint;
  if (is_exit && probe::attach_btf_id(machine_, *probes.front()->events.front()))
    context = Context::btf_tracepoint;
  context_ = context;
  program_.frames.emplace_back();
  const lang::Probe& first = *probes.front();
  uint32_t f = begin_function(is_exit ? "sys_exit" : "sys_enter", Role::probe, 0,
                              static_cast<uint32_t>(program_.frames.size() - 1));
  registers_.clear();
  objects_.clear();
  returned_object_ = result_object_ = ~0u;
  where_ = first.where;
  // sys_enter(regs, number); sys_exit(regs, result): the number is then in the registers.
  Operand nr;
  if (is_exit) {
    constexpr int64_t call = spec::find_register(spec::arch.syscall_number).value_or(0);
    Operand regs = load_word(context_place(0), 8, false);
    nr =
        load_word({context == Context::btf_tracepoint ? Space::task : Space::kernel, regs, call}, 8, true);
  } else {
    nr = load_word(context_place(8), 8, true);
  }
  for (const lang::Probe* p : probes) lower_syscall_body(*p, nr);
  spare_objects_.clear();
  give_back(number(0));
  add_probe(first, f, context, {add_event(*first.events.front())});
  program_.probes.back().name = is_exit ? "sys_exit" : "sys_enter";
  program_.probes.back().stands_for = 0;
  for (const lang::Probe* p : probes)
    program_.probes.back().stands_for += static_cast<uint32_t>(p->events.size());
}

void Lowering::lower_function(const lang::Function& f) {
  bool by_place = !f.result_type->is_scalar() && !f.result_type->is(Kind::none);
  size_t parameters = f.parameters.size() + by_place;
  if (parameters > 5)
    diagnostics_.error(spec::tag::too_large, f.name_where,
                       "a function takes at most 5 parameters, or 4 if it returns a string or tuple");
  program_.frames.emplace_back();
  fn_ = &f;
  context_ = Context::none;
  begin_function(std::string(f.name), Role::function, static_cast<uint32_t>(parameters),
                 static_cast<uint32_t>(program_.frames.size() - 1));
  // Its number was promised to callers before any function was built.
  std::swap(program_.functions[function_ids_[&f]], program_.functions.back());
  program_.functions.pop_back();
  go_to(function_ids_[&f], 0);
  registers_.clear();
  objects_.clear();
  returned_object_ = result_object_ = ~0u;
  return_block_ = no_block;
  where_ = f.where;
  Reg next = 1;
  if (by_place) result_place_ = {Space::script, Operand::of(next++), 0};
  for (const lang::Parameter& p : f.parameters) {
    const lang::Variable& v = *p.variable;
    Reg r = next++;
    if (in_register(v))
      registers_[&v] = r;
    else if (v.type->is_scalar())
      store(variable_place(v), Operand::of(r), as_word(v.type)->size);
    else
      copy(variable_place(v), {Space::script, Operand::of(r), 0}, v.type->size);
  }
  lower(*f.body);
  if (!ended() && by_place) zero(result_place_, f.result_type->size);
  if (!ended()) give_back(number(0));
  fn_ = nullptr;
}

// Programs at user code run in the thread that came there, and kernels that are built for it take the CPU
// from a thread also in there; another one may then run the same program.
static bool kernel_preempts(host::Environment& host) {
  if (host.kernel().version.find("PREEMPT") == std::string::npos) return false;
  // Where it can be chosen, the choice stands in brackets: "(none) voluntary full".
  auto chosen = host.read("/sys/kernel/debug/sched/preempt");
  if (!chosen.ok()) return true; // nobody knows
  return chosen->find("(none)") == std::string::npos && chosen->find("(voluntary)") == std::string::npos;
}

// What is known of instructions only when all are there; one walk finds those.
void Lowering::mark_instructions() {
  std::vector<std::pair<uint32_t, Inst*>> additions;
  std::vector<std::pair<uint32_t, uint32_t>> calls;
  std::vector<bool> calls_kernel(program_.functions.size(), false);
  for (uint32_t f = 0; f < program_.functions.size(); f++)
    for (Block& b : program_.functions[f].blocks)
      for (Inst& i : b.insts) {
        if (i.op == Op::add_memory) additions.emplace_back(f, &i);
        if (i.op == Op::call || i.op == Op::loop) calls.emplace_back(f, i.index);
        if (i.op == Op::for_each) calls.emplace_back(f, static_cast<uint32_t>(i.imm));
        if (i.op == Op::task_name) calls_kernel[f] = true;
      }
  mark_atomic(additions);
  mark_kernel_calls(calls, calls_kernel);
}

// Adding needs an atomic instruction where others may write between its load and its store: other CPUs on
// shared maps, other probes that interrupt this one on per-CPU maps. One probe never interrupts itself, but
// for those of user code. `additions`: with their functions.
void Lowering::mark_atomic(const std::vector<std::pair<uint32_t, Inst*>>& additions) {
  std::vector<std::vector<uint32_t>> writers(program_.maps.size());
  auto root = [&](uint32_t f) {
    while (program_.functions[f].role == Role::body) f = program_.functions[f].parent;
    return f;
  };
  for (const auto& [f, i] : additions) {
    auto& list = writers[i->index];
    // A function may be called by several probes.
    if (program_.functions[root(f)].role == Role::function)
      list.push_back(~0u - f), list.push_back(~0u - f - 1);
    else if (std::find(list.begin(), list.end(), root(f)) == list.end())
      list.push_back(root(f));
  }
  std::vector<bool> may_meet_itself(program_.functions.size(), false);
  auto is_user = [](const Probe& p) { return p.context == Context::registers; };
  if (std::any_of(program_.probes.begin(), program_.probes.end(), is_user) && !machine_.stopped &&
      kernel_preempts(machine_.host()))
    for (const Probe& p : program_.probes)
      may_meet_itself[p.function] = may_meet_itself[p.function] || is_user(p);
  for (const auto& [f, i] : additions) {
    i->atomic = !is_percpu(program_.maps[i->index].kind) || writers[i->index].size() > 1 || may_meet_itself[root(f)];
    if (program_.maps[i->index].kind == MapKind::task) i->atomic = false;
  }
}

Program Lowering::run() {
  lower_maps();
  make_speculation_maps();
  for (const lang::Function* f : source_.functions) {
    function_ids_[f] = static_cast<uint32_t>(program_.functions.size());
    program_.functions.emplace_back();
  }
  for (const lang::Function* f : source_.functions) lower_function(*f);
  std::vector<const lang::Probe*> enter, leave;
  for (auto& p : source_.probes) {
    const probe::Event& e = *p->events.front();
    bool by_number = e.syscall >= 0 && probe::choose_context(machine_, e, p->fields) != Context::tracepoint;
    if (by_number)
      (e.syscall_exit ? leave : enter).push_back(p.get());
    else
      lower_probe(*p);
  }
  if (!enter.empty()) lower_syscalls(enter, false);
  if (!leave.empty()) lower_syscalls(leave, true);
  go_to(function_, block_);
  mark_instructions();
  program_.pid_namespace = options_.pid_namespace;
  return std::move(program_);
}

Program lower(const lang::Program& program, probe::Machine& machine, const LowerOptions& options,
              base::Diagnostics& diagnostics) {
  return Lowering(program, machine, options, diagnostics).run();
}

} // namespace ir
