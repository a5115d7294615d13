// Builtins that give values, and calls of the script's own functions. A builtin becomes a few operations;
// those that only matter when the script is compiled have become constants in the checker.
#include "format/btf.h"
#include "ir/lowering.h"

#include "spec/arch.h"
#include "symbol/kallsyms.h"

#include <algorithm>
#include <cstring>

namespace ir {

using namespace lang;
using spec::id;

Operand Lowering::query(Query q) {
  Reg dst = fresh();
  append({.op = Op::query, .query = q, .dst = dst});
  return Operand::of(dst);
}

Operand Lowering::call(const Call& c) {
  if (c.function) return user_call(c, nullptr);
  switch (spec::id_of(*c.builtin)) {
  case id("delete"): return remove(c, false);
  case id("has_key"): return has_key(c);
  case id("find"): return find_into(c);
  default: break;
  }
  if (c.type->is(Kind::none)) {
    output(c);
    return number(0);
  }
  return builtin(c, *c.builtin, c.arguments);
}

Operand Lowering::user_call(const Call& c, const Place* result) {
  std::vector<Operand> arguments;
  if (result) arguments.push_back(address(*result));
  for (size_t i = 0; i < c.arguments.size(); i++) {
    const Type& wanted = *c.function->parameters[i].variable->type;
    if (wanted.is_scalar())
      arguments.push_back(narrow(scalar(*c.arguments[i]), wanted));
    else
      arguments.push_back(address(temporary(*c.arguments[i], wanted)));
  }
  arguments.resize(5);
  Reg dst = fresh();
  append({.op = Op::call,
          .dst = dst,
          .a = arguments[0],
          .b = arguments[1],
          .c = arguments[2],
          .d = arguments[3],
          .e = arguments[4],
          .index = function_ids_[c.function]});
  return Operand::of(dst);
}

// The clock that a time comes from, where it is plain to see.
type::TimeClock Lowering::time_clock(const Expr& e) const {
  auto by_call = [](const Call& c) {
    const Name* word =
        is_builtin(c, id("nsecs")) && !c.arguments.empty() ? if_a<Name>(c.arguments[0]) : nullptr;
    if (!word) return type::TimeClock::boot;
    if (word->name == "monotonic") return type::TimeClock::monotonic;
    return word->name.ends_with("tai") ? type::TimeClock::tai : type::TimeClock::boot;
  };
  switch (e.kind) {
  case ExprKind::call: return by_call(as<Call>(e));
  case ExprKind::cast: return time_clock(*as<Cast>(e).operand);
  case ExprKind::binary: return std::max(time_clock(*as<Binary>(e).left), time_clock(*as<Binary>(e).right));
  case ExprKind::variable: {
    auto at = time_clocks_.find(as<VariableRef>(e).variable);
    return at == time_clocks_.end() ? type::TimeClock::boot : at->second;
  }
  default: return type::TimeClock::boot;
  }
}

// The clock of nsecs([boot|monotonic|tai|sw_tai]).
Operand Lowering::clock(List<Expr*> arguments) {
  const Name* word = arguments.empty() ? nullptr : if_a<Name>(arguments[0]);
  if (word && word->name == "monotonic") return query(Query::ktime);
  if (word && (word->name == "tai" || word->name == "sw_tai")) return query(Query::ktime_tai);
  if (word && word->name != "boot")
    diagnostics_.error(spec::tag::bad_argument, word->where,
                       "unknown clock `" + std::string(word->name) + "`",
                       "clocks are boot, monotonic, tai and sw_tai");
  return query(Query::ktime_boot);
}

Operand Lowering::builtin(const Expr& e, const spec::Builtin& row, List<Expr*> arguments) {
  switch (spec::id_of(row)) {
  case id("pid"): return emit(Op::lshr, process_ids(arguments), number(32));
  case id("leader_tid"): return emit(Op::lshr, process_ids({}), number(32));
  case id("tid"): return emit(Op::zext, process_ids(arguments), {}, 4);
  case id("uid"):
  case id("username"): return emit(Op::zext, query(Query::uid_gid), {}, 4);
  case id("gid"): return emit(Op::lshr, query(Query::uid_gid), number(32));
  case id("ppid"): return parent_pid(arguments);
  case id("ctx"): return emit(Op::context_address);
  case id("reg"): return machine_register(arguments[0]->constant.text_value);
  case id("ureg"): return user_register(arguments[0]->constant.text_value);
  case id("usermode"): return is_user_mode();
  case id("func"): return e.type->is(Kind::ksym) ? machine_register(spec::arch.ip) : event_name(true);
  case id("retval"): return function_result(*e.type);
  case id("percpu_kaddr"): return kernel_variable(as<Call>(e));
  case id("chunk"): return ask_memory(MemoryQuestion::chunk, *arguments[0]);
  case id("chunk_size"): return ask_memory(MemoryQuestion::chunk_size, *arguments[0]);
  case id("next_chunk"): return ask_memory(MemoryQuestion::next_chunk, *arguments[0]);
  case id("next_area"): return ask_memory(MemoryQuestion::next_area, *arguments[0]);
  case id("area_end"): return ask_memory(MemoryQuestion::area_end, *arguments[0]);
  case id("valid"): {
    Reg is_there = fresh();
    attempt(
        [&] {
          Operand at = scalar(*arguments[0]);
          read_by_address(*arguments[0], at, [&](Space s) { load_word({s, at, 0, s == Space::script}, 1, false); });
          assign(is_there, number(1));
        },
        [&] { assign(is_there, number(0)); });
    return Operand::of(is_there);
  }
  case id("is_err"): return set(Cond::uge, scalar(*arguments[0]), number(-4095));
  case id("skboutput"): return send_packet(as<Call>(e));
  case id("socket_cookie"): return emit(Op::socket_cookie, scalar(*arguments[0]));
  case id("cpu"): return query(Query::cpu);
  case id("numaid"): return query(Query::numa_node);
  case id("ncpus"): return number(options_.possible_cpus);
  case id("cgroup"): return query(Query::cgroup_id);
  case id("rand"): return query(Query::random);
  case id("jiffies"): return query(Query::jiffies);
  case id("nsecs"): return clock(arguments);
  case id("elapsed"):
    return emit(Op::sub, query(Query::ktime_boot), number(static_cast<int64_t>(options_.start_ns)));
  case id("curtask"): return query(Query::task);
  case id("cpid"):
    if (!options_.cpid) count(Fault::cpid_missing);
    return number(options_.cpid);
  case id("probe"): return event_name(false);
  case id("kstack"): return stack(*e.type);
  case id("task_kstack"): return stack(*e.type, scalar(*arguments[0]));
  case id("ksym"):
  case id("kptr"):
  case id("uptr"): return scalar(*arguments[0]);
  case id("container_of"): return emit(Op::sub, scalar(*arguments[0]), scalar(*arguments[1]));
  case id("kaddr"): {
    static symbol::Kallsyms symbols; // read at the first question
    std::string name(arguments[0]->constant.text_value);
    if (auto found = symbols.address(name)) return number(static_cast<int64_t>(*found));
    diagnostics_.error(spec::tag::unresolved, arguments[0]->where, "the kernel has no symbol `" + name + "`",
                       "see /proc/kallsyms; all addresses there are 0 without permission");
    return number(0);
  }
  case id("bswap"): return emit(Op::bswap, scalar(*arguments[0]), {}, static_cast<uint8_t>(e.type->size));
  case id("len"): {
    if (arguments[0]->kind != ExprKind::map || arguments[0]->type->size) return stack_depth(*arguments[0]);
    Reg dst = fresh();
    append({.op = Op::map_size, .dst = dst, .index = as<MapRef>(*arguments[0]).map->id});
    return Operand::of(dst);
  }
  case id("strlen"): return text_length(*arguments[0]);
  case id("strncmp"): return compare_prefix(as<Call>(e));
  case id("strstr"): return find_text(as<Call>(e));
  case id("strcontains"): return set(Cond::sge, find_text(as<Call>(e)), number(0));
  case id("globmatch"): return match_glob(as<Call>(e));
  case id("memcmp"): return compare_bytes(as<Call>(e));
  default:
    diagnostics_.error(spec::tag::not_yet, e.where, "`" + std::string(row.name) + "` can't be used here yet");
    return number(0);
  }
}

// The id of the current stack; of a kernel stack also of another task's.
Operand Lowering::stack(const Type& type, Operand task) {
  if (type.count == 0) return number(0);
  program_.uses_stacks = true;
  program_.max_stacks = static_cast<uint32_t>(source_.config.number("max_stacks"));
  Reg dst = fresh();
  if (type.is(Kind::kstack)) {
    append({.op = Op::stack, .dst = dst, .a = task, .imm2 = type.count});
    return Operand::of(dst);
  }
  if (!program_.task.self_exec_id && !machine_.still) find_task_layout();
  bool has_names = type.stack_mode != type::StackMode::raw;
  program_.uses_user_symbols |= has_names;
  if (walks(type)) {
    program_.walks_stacks = true;
    Operand process = emit(Op::and_, process_ids({}), number(-(int64_t{1} << 32)));
    append({.op = Op::stack, .dst = dst, .a = process, .imm2 = type.count, .index = walked_stack});
    return Operand::of(dst);
  }
  Operand process = emit(Op::and_, query(Query::pid_tgid), number(-(int64_t{1} << 32)));
  // At its entry a function has no frame yet: the caller's is found by the return address.
  bool is_entry = context_ == probe::Context::registers && probe_ && probe_->events.front()->at_entry &&
                  (probe_->events.front()->kind != probe::Kind::uretprobe || is_at_return_instruction());
  append({.op = Op::stack,
          .dst = dst,
          .a = process,
          .imm = has_names,
          .imm2 = type.count,
          .imm3 = is_entry,
          .index = user_stack});
  return Operand::of(dst);
}

// Whether a user stack is walked by tables. Where the kernel tells nothing of its tasks, the registers of
// user code are known in probes of user code alone.
bool Lowering::walks(const Type& type) const {
  bool has_registers = program_.task.self_exec_id || context_ == probe::Context::registers;
  return knows_walking && !machine_.still && !type.by_frame_pointers && has_registers;
}

// By numbers that are kept: decoding struct task_struct takes longer than all else that such a script needs.
void Lowering::find_task_layout() {
  auto offset = [&](const char* member) {
    return machine_.kernel_number(std::string("task_struct.") + member, [&](format::Btf& btf) -> uint32_t {
      auto found = btf.member(types_, btf.find("task_struct", format::BtfKind::structure), member);
      return found ? found->field.offset : 0; // the structure begins with other things
    });
  };
  auto id_of = [&](const char* name, format::BtfKind kind) {
    return machine_.kernel_number(name, [&](format::Btf& btf) { return btf.find(name, kind); });
  };
  uint32_t exec_id = offset("self_exec_id"), stack = offset("stack");
  if (!exec_id || !stack) return;
  program_.task = {.self_exec_id = exec_id,
                   .stack = stack,
                   .pid = offset("pid"),
                   .tgid = offset("tgid"),
                   .registers_id = id_of("pt_regs", format::BtfKind::structure),
                   .cast_id = id_of("bpf_rdonly_cast", format::BtfKind::function)};
}

Operand Lowering::ask_memory(MemoryQuestion question, const Expr& address) {
  const Reg answer = fresh();
  append({.op = Op::memory_map, .dst = answer, .a = scalar(address), .index = static_cast<uint32_t>(question)});
  return Operand::of(answer);
}

// The number of frames, as many as print. A stack that is walked outside of the kernel has no number yet: of
// the current one, frame pointers tell it then as well as they can; of a kept one it is told that there was none.
Operand Lowering::stack_depth(const Expr& e) {
  Operand id = e.type->is_scalar() ? scalar(e) : load_word(temporary(e, *e.type), 8, false);
  const bool is_walked = e.type->is(Kind::ustack) && walks(*e.type);
  const bool is_current = if_a<Call>(&e) || if_a<lang::Name>(&e);
  Reg depth = fresh();
  BlockId deeper = new_block(), after = new_block();
  append({.op = Op::stack_depth, .dst = depth, .a = id, .index = is_walked ? uint32_t{walked_stack} : 0});
  if (is_walked && is_current) {
    BlockId unknown = new_block(), known = new_block();
    branch(Cond::eq, Operand::of(depth), number(0), unknown, known);
    start(unknown);
    const uint32_t most = type::most_frames(Kind::ustack, true);
    Operand by_pointers =
        stack(*types_.stack(Kind::ustack, type::StackMode::raw, std::min(e.type->count, most), true));
    append({.op = Op::stack_depth, .dst = depth, .a = by_pointers});
    jump(known);
    start(known);
  } else if (is_walked) {
    BlockId none = new_block(), unknown = new_block(), told = new_block();
    branch(Cond::eq, Operand::of(depth), number(0), none, told);
    start(none);
    branch(Cond::eq, id, number(0), told, unknown);
    start(unknown);
    count(Fault::depth_unknown);
    jump(told);
    start(told);
  }
  branch(Cond::ugt, Operand::of(depth), number(e.type->count), deeper, after);
  start(deeper);
  assign(depth, number(e.type->count));
  jump(after);
  start(after);
  return Operand::of(depth);
}

// { u64 id, u32 pid, u32 0 }: the number that the process has for whoever asks for its names. Without a stack
// there is no process either: such values are all the same.
void Lowering::user_stack_into(const Place& to, const Type& type) {
  Operand id = stack(type);
  Operand pid = emit(Op::lshr, process_ids({}), number(32));
  store(to, id, 8);
  store(to.plus(8), emit(Op::mul, pid, emit(Op::and_, id, number(1))), 8);
}

// Builtins whose value is not a number.
void Lowering::builtin_into(const Expr& e, const Place& to, const Type& as, bool pad) {
  const Call* c = if_a<Call>(&e);
  const spec::Builtin& row = c ? *c->builtin : *lang::as<Name>(e).builtin;
  switch (spec::id_of(row)) {
  case id("args"): return arguments_into(to, as);
  case id("comm"):
    if (c && !c->arguments.empty()) return other_name_into(*c->arguments[0], to);
    zero(to, as.size); // Linux 6.1 leaves the bytes behind the NUL as they were
    append({.op = Op::name, .a = address(to)});
    return;
  case id("pcomm"): return process_name_into(c ? c->arguments : List<Expr*>(), to);
  case id("path"): return path_into(c->arguments, to, as);
  case id("probe"): return probe_text_into(to, as, false);
  case id("func"): return probe_text_into(to, as, true);
  case id("str"): return text_into(*c, to, as, pad);
  case id("buf"): return bytes_into(*c, to, as, pad);
  case id("ntop"): return inet_into(*c, to);
  case id("ustack"): return user_stack_into(to, *e.type);
  case id("stack"): {
    const Type& all = *e.type;
    user_stack_into(to, *types_.stack(Kind::ustack, all.stack_mode, all.count));
    const uint32_t most = type::most_frames(Kind::kstack, false);
    return store(to.plus(16), stack(*types_.stack(Kind::kstack, all.stack_mode, std::min(all.count, most))),
                 8);
  }
  case id("usym"):
    program_.uses_user_symbols = true;
    store(to, scalar(*c->arguments[0]), 8);
    return store(to.plus(8), emit(Op::lshr, process_ids({}), number(32)), 8);
  case id("strftime"): {
    Operand when = scalar(*c->arguments[1]);
    store(to, number(string_id(c->arguments[0]->constant.text_value)), 4);
    store(to.plus(4), number(static_cast<int64_t>(time_clock(*c->arguments[1]))), 4);
    return store(to.plus(8), when, 8);
  }
  case id("macaddr"): return mac_into(*c, to);
  case id("cgroup_path"): return cgroup_path_into(*c, to);
  case id("strerror"):
  case id("signal_name"):
  case id("syscall_name"): return number_name_into(*c, to, as);
  default:
    diagnostics_.error(spec::tag::not_yet, e.where, "`" + std::string(row.name) + "` can't be used here yet");
    zero(to, as.size);
  }
}

// The name that event_name() stands for, as text: words from tables, for there may be hundreds of names.
void Lowering::probe_text_into(const Place& to, const Type& as, bool is_function) {
  constexpr uint32_t word_size = 4;
  auto name_of = [&](const probe::Event* e) -> const std::string& {
    return is_function ? e->function : e->name;
  };
  size_t longest = 0;
  for (const probe::Event* e : probe_->events) longest = std::max(longest, name_of(e).size());
  auto words = static_cast<uint32_t>(longest / word_size + 1); // with the NUL
  auto [first, is_new] =
      probe_text_tables_.try_emplace({probe_, is_function}, static_cast<uint32_t>(program_.tables.size()));
  for (uint32_t w = 0; is_new && w < words; w++) {
    std::vector<uint32_t>& table = program_.tables.emplace_back();
    for (const probe::Event* e : probe_->events) {
      const std::string& name = name_of(e);
      uint32_t id = probe_name(name);
      if (table.size() <= id) table.resize(id + 1);
      if (w * word_size < name.size())
        std::memcpy(&table[id], name.data() + w * word_size,
                    std::min<size_t>(word_size, name.size() - w * word_size));
    }
  }
  table_text_into(first->second, words, event_name(is_function), to, as);
}

// Where an address points that nothing else tells: kernels keep the upper half for themselves. Runs `read`
// for one space, or for both in turn.
void Lowering::read_by_address(const Expr& from, Operand at, const std::function<void(Space)>& read) {
  bool is_known = from.type->is(Kind::pointer) && from.type->space != type::Space::none;
  // Arguments of system calls point into the caller.
  if (!is_known && probe_ && probe_->events.front()->category == "syscalls") return read(Space::user);
  if (!is_known && context_ == probe::Context::registers) return read(Space::user);
  // Types of the kernel do not tell which pointers are the caller's, and its functions get such too.
  const FieldRef* f = if_a<FieldRef>(&from);
  bool is_argument = (context_ == probe::Context::function || context_ == probe::Context::kernel_registers) &&
                     f && is_builtin(*f->operand, id("args")) && from.type->space == type::Space::kernel;
  if (is_known && !is_argument) {
    Space space = pointer_space(from);
    return read(space == Space::task ? Space::kernel : space);
  }
  if (at.is_constant()) return read(at.value < 0 ? Space::kernel : Space::user);
  BlockId kernel = new_block(), user = new_block(), after = new_block();
  branch(Cond::slt, at, number(0), kernel, user);
  start(kernel);
  read(Space::kernel);
  jump(after);
  start(user);
  read(Space::user);
  jump(after);
  start(after);
}

// str(text or address [, length])
void Lowering::text_into(const Call& c, const Place& to, const Type& as, bool pad) {
  const Expr& from = *c.arguments[0];
  const Expr* length = c.arguments.size() > 1 ? c.arguments[1] : nullptr;
  if (length && length->constant.kind == Constant::integer) length = nullptr; // is in the type
  const Type& t = *from.type;
  uint32_t size = std::min(as.size, c.type->size);
  if (as.size > size || size <= 1) zero(to, as.size);
  if (size <= 1) return;
  bool is_text = t.is(Kind::string) || from.constant.kind == Constant::text;
  if (is_text && !length && place_is_script(from)) {
    if (t.size < size) zero(to, size);
    copy(to, place(from), std::min(size, t.size));
  } else if (is_text || t.is(Kind::array) || t.is(Kind::buffer)) {
    limited_text(to, size, from, length, pad && as.size <= size);
  } else {
    Operand limit = length ? text_limit(*length) : Operand();
    Operand at = scalar(from);
    read_by_address(from, at,
                    [&](Space s) { read_text(to, size, at, s, limit, pad && as.size <= size, true); });
  }
  if (!pad) return;
  // Texts that look the same are the same: the byte that marks a cut is always 1.
  Place mark = to.plus(size - 1);
  store(mark, set(Cond::ne, load_word(mark, 1, false), number(0)), 1);
}

// buf(bytes or address [, length]): u32 length, then the bytes.
void Lowering::bytes_into(const Call& c, const Place& to, const Type& as, bool pad) {
  const Expr& from = *c.arguments[0];
  uint32_t most = std::min(as.count, c.type->count);
  if (pad)
    zero(to, as.size);
  else
    store(to, number(0), 4); // the length: what is behind it is not looked at
  if (most == 0) return;
  Operand wanted = c.arguments.size() > 1 ? scalar(*c.arguments[1]) : number(most);
  if (wanted.is_constant()) wanted = number(std::min<uint64_t>(most, static_cast<uint64_t>(wanted.value)));
  auto read = [&](Operand at, Space space, bool is_free = false) {
    Reg got = fresh();
    bool may_fail = space != Space::script || is_free;
    BlockId fine = may_fail ? new_block() : no_block, fault = may_fail ? new_block() : no_block;
    append({.op = Op::read_bytes,
            .space = space,
            .dst = got,
            .a = address(to.plus(4)),
            .b = at,
            .c = wanted,
            .imm2 = most,
            .target = fine,
            .other = fault});
    if (may_fail) start(fine);
    store(to, Operand::of(got), 4);
    if (!may_fail) return;
    BlockId after = new_block();
    jump(after);
    start(fault);
    if (!recovers()) {
      count(space == Space::user ? Fault::read_user : Fault::read_kernel);
      jump(after);
    }
    start(after);
  };
  if (from.type->is_scalar() && from.constant.kind != Constant::text) {
    Operand at = scalar(from);
    return read_by_address(from, at, [&](Space s) { read(at, s, true); });
  }
  Place p = from.constant.kind == Constant::text || place_is_script(from) ? temporary(from, *from.type)
                                                                          : place(from);
  if (p.space == Space::context || p.space == Space::task) p = {Space::kernel, address(p), 0};
  if (!wanted.is_constant()) return read(address(p), p.space);
  copy(to.plus(4), p, static_cast<uint32_t>(wanted.value));
  store(to, wanted, 4);
}

bool Lowering::place_is_script(const Expr& e) const {
  return e.kind != ExprKind::field && e.kind != ExprKind::index && e.kind != ExprKind::unary;
}

// The low bytes of a number, in the pieces that a store may have. The place need not be aligned.
void Lowering::store_bytes(const Place& to, Operand n, uint32_t size) {
  for (uint32_t at = 0, width = 0; at < size; at += width) {
    uint32_t left = size - at;
    width = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    store(to.plus(at), at ? emit(Op::lshr, n, number(8 * at)) : n, width);
  }
}

} // namespace ir
