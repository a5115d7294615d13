// Builtins that give values, and calls of the script's own functions. A builtin becomes a few operations;
// those that only matter when the script is compiled have become constants in the checker.
#include "ir/lowering.h"

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
      arguments.push_back(scalar(*c.arguments[i]));
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

Operand Lowering::parent_pid() {
  const Type* task = machine_.kernel_type("struct", "task_struct");
  auto parent = task ? task->find("real_parent") : std::nullopt;
  auto tgid = task ? task->find("tgid") : std::nullopt;
  if (!parent || !tgid) {
    diagnostics_.error(spec::tag::unresolved, where_,
                       "`ppid` needs the kernel's type information (/sys/kernel/btf/vmlinux)");
    return number(0);
  }
  Operand pointer = load_word({Space::task, query(Query::task), parent->offset}, 8, false);
  return load_word({Space::kernel, pointer, tgid->offset}, 4, false);
}

Operand Lowering::builtin(const Expr& e, const spec::Builtin& row, List<Expr*> arguments) {
  switch (spec::id_of(row)) {
  case id("pid"): return emit(Op::lshr, query(Query::pid_tgid), number(32));
  case id("tid"): return emit(Op::zext, query(Query::pid_tgid), {}, 4);
  case id("uid"):
  case id("username"): return emit(Op::zext, query(Query::uid_gid), {}, 4);
  case id("gid"): return emit(Op::lshr, query(Query::uid_gid), number(32));
  case id("ppid"): return parent_pid();
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
  case id("probe"):
    return probe_name_.kind == Operand::none ? number(probe_name(probe_->events.front()->name)) : probe_name_;
  case id("kstack"): {
    program_.uses_stacks = true;
    Reg dst = fresh();
    append({.op = Op::stack, .dst = dst, .imm2 = e.type->count, .index = 0});
    return Operand::of(dst);
  }
  case id("ksym"):
  case id("kptr"):
  case id("uptr"): return scalar(*arguments[0]);
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
    Reg dst = fresh();
    append({.op = Op::map_size, .dst = dst, .index = as<MapRef>(*arguments[0]).map->id});
    return Operand::of(dst);
  }
  case id("strlen"): return text_length(*arguments[0]);
  case id("strncmp"): return compare_prefix(as<Call>(e));
  case id("strstr"): return find_text(as<Call>(e));
  case id("strcontains"): return set(Cond::sge, find_text(as<Call>(e)), number(0));
  default:
    diagnostics_.error(spec::tag::not_yet, e.where, "`" + std::string(row.name) + "` can't be used here yet");
    return number(0);
  }
}

// Builtins whose value is not a number.
void Lowering::builtin_into(const Expr& e, const Place& to, const Type& as, bool pad) {
  const Call* c = if_a<Call>(&e);
  const spec::Builtin& row = c ? *c->builtin : *lang::as<Name>(e).builtin;
  switch (spec::id_of(row)) {
  case id("comm"):
    zero(to, as.size); // Linux 6.1 leaves the bytes behind the NUL as they were
    append({.op = Op::name, .a = address(to)});
    return;
  case id("probe"): return probe_text_into(to, as);
  case id("str"): return text_into(*c, to, as, pad);
  case id("buf"): return bytes_into(*c, to, as);
  case id("ntop"): return inet_into(*c, to);
  case id("strftime"): {
    auto [at, is_new] = string_ids_.try_emplace(std::string(c->arguments[0]->constant.text_value),
                                                static_cast<uint32_t>(program_.strings.size()));
    if (is_new) program_.strings.push_back(at->first);
    Operand when = scalar(*c->arguments[1]);
    store(to, number(at->second), 8);
    return store(to.plus(8), when, 8);
  }
  default:
    diagnostics_.error(spec::tag::not_yet, e.where, "`" + std::string(row.name) + "` can't be used here yet");
    zero(to, as.size);
  }
}

// The name that probe_name_ stands for, as text: words from tables, for there may be hundreds of names.
void Lowering::probe_text_into(const Place& to, const Type& as) {
  constexpr uint32_t word_size = 4;
  size_t longest = 0;
  for (const probe::Event* e : probe_->events) longest = std::max(longest, e->name.size());
  auto words = static_cast<uint32_t>(longest / word_size + 1); // with the NUL
  auto [first, is_new] =
      probe_text_tables_.try_emplace(probe_, static_cast<uint32_t>(program_.tables.size()));
  for (uint32_t w = 0; is_new && w < words; w++) {
    std::vector<uint32_t>& table = program_.tables.emplace_back();
    for (const probe::Event* e : probe_->events) {
      uint32_t id = probe_name(e->name);
      if (table.size() <= id) table.resize(id + 1);
      if (w * word_size < e->name.size())
        std::memcpy(&table[id], e->name.data() + w * word_size,
                    std::min<size_t>(word_size, e->name.size() - w * word_size));
    }
  }
  for (uint32_t at = 0, width = 0; at < as.size; at += width) {
    if (at >= words * word_size) return zero(to.plus(at), as.size - at);
    Reg word = fresh();
    append({.op = Op::table, .dst = word, .a = probe_name_, .index = first->second + at / word_size});
    Operand piece = Operand::of(word);
    if (at % word_size) piece = emit(Op::lshr, piece, number(at % word_size * 8));
    width = as.size - at >= word_size ? word_size : as.size - at >= 2 ? 2 : 1;
    store(to.plus(at), piece, width);
  }
}

// str(text or address [, length])
void Lowering::text_into(const Call& c, const Place& to, const Type& as, bool pad) {
  const Expr& from = *c.arguments[0];
  const Expr* length = c.arguments.size() > 1 ? c.arguments[1] : nullptr;
  uint32_t size = std::min(as.size, c.type->size);
  if (from.type->is(Kind::string) || from.type->is(Kind::array)) {
    if (as.size > size || from.type->size < as.size) zero(to, as.size);
    Place p = place(from);
    if (p.space == Space::context) p = {Space::kernel, address(p), 0};
    uint32_t n = std::min(size, from.type->size);
    copy(to, p, n);
    return;
  }
  // Strings of system calls' arguments are the caller's; what a number points to depends on the probe.
  Space space = pointer_space(from);
  if (from.type->is_integer() && probe_ && probe_->events.front()->category == "syscalls")
    space = Space::user;
  Operand at = scalar(from);
  if (as.size > size) zero(to, as.size);
  Operand limit;
  if (length && length->constant.kind != Constant::integer)
    limit = emit(Op::add, scalar(*length), number(1)); // with the NUL
  if (space == Space::script) return copy(to, {Space::script, at, 0}, size);
  read_text(to, size, at, space, limit, pad && as.size <= size);
  if (!pad) return;
  // Texts that look the same are the same: the byte that marks a cut is always 1.
  Place mark = to.plus(size - 1);
  store(mark, set(Cond::ne, load_word(mark, 1, false), number(0)), 1);
}

// buf(bytes or address [, length]): u32 length, then the bytes.
void Lowering::bytes_into(const Call& c, const Place& to, const Type& as) {
  const Expr& from = *c.arguments[0];
  uint32_t most = std::min(as.count, c.type->count);
  zero(to, as.size);
  Operand wanted = c.arguments.size() > 1 ? scalar(*c.arguments[1]) : number(most);
  if (!from.type->is_scalar()) {
    Place p = from.constant.kind == Constant::text || place_is_script(from) ? temporary(from, *from.type)
                                                                            : place(from);
    if (p.space == Space::context) p = {Space::kernel, address(p), 0};
    uint32_t n = wanted.is_constant() ? static_cast<uint32_t>(std::min<int64_t>(most, wanted.value)) : most;
    copy(to.plus(4), p, std::min(n, from.type->size));
    return store(to, number(std::min(n, from.type->size)), 4);
  }
  Space space = pointer_space(from) == Space::user ? Space::user : Space::kernel;
  Operand at = scalar(from);
  Reg got = fresh();
  BlockId fine = new_block(), fault = new_block(), after = new_block();
  append({.op = Op::read_bytes,
          .space = space,
          .dst = got,
          .a = address(to.plus(4)),
          .b = at,
          .c = wanted,
          .imm2 = most,
          .target = fine,
          .other = fault});
  start(fine);
  store(to, Operand::of(got), 4);
  jump(after);
  start(fault);
  count(space == Space::user ? Fault::read_user : Fault::read_kernel);
  jump(after);
  start(after);
}

bool Lowering::place_is_script(const Expr& e) const {
  return e.kind != ExprKind::field && e.kind != ExprKind::index && e.kind != ExprKind::unary;
}

// ntop([family,] address): u8 length, 16 bytes.
void Lowering::inet_into(const Call& c, const Place& to) {
  const Expr& from = *c.arguments.back();
  zero(to, 20);
  if (from.type->is_scalar()) {
    Operand n = scalar(from);
    store(to, number(4), 1);
    return store_bytes(to.plus(1), n, 4);
  }
  store(to, number(from.type->size == 16 ? 16 : 4), 1);
  copy_bytes(to.plus(1), temporary(from, *from.type), from.type->size);
}

// A number byte by byte: the place is not aligned.
void Lowering::store_bytes(const Place& to, Operand n, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) store(to.plus(i), i ? emit(Op::lshr, n, number(8 * i)) : n, 1);
}

void Lowering::copy_bytes(const Place& to, const Place& from, uint32_t size) {
  for (uint32_t i = 0; i < size; i++) store(to.plus(i), load_word(from.plus(i), 1, false), 1);
}

// ------------------------------------------------------------------------------------------------ text

// Compares bytes with a literal, word by word.
Operand Lowering::equal_literal(const Place& p, uint32_t size, std::string_view text, bool with_end) {
  if (text.size() + with_end > size) return number(0);
  std::string bytes(text);
  if (with_end && bytes.size() + 1 < size) bytes.push_back('\0'); // the last byte ends the text in any case
  Reg same = fresh();
  BlockId no = new_block(), after = new_block();
  for (size_t at = 0; at < bytes.size();) {
    size_t left = bytes.size() - at;
    uint32_t width = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, width);
    BlockId next = new_block();
    branch(Cond::eq, load_word(p.plus(static_cast<int64_t>(at)), width, false),
           number(static_cast<int64_t>(word)), next, no);
    start(next);
    at += width;
  }
  assign(same, number(1));
  jump(after);
  start(no);
  assign(same, number(0));
  jump(after);
  start(after);
  return Operand::of(same);
}

Operand Lowering::equal_text(const Expr& a, const Expr& b) {
  if (a.constant.kind == Constant::text || b.constant.kind == Constant::text) {
    const Expr& literal = a.constant.kind == Constant::text ? a : b;
    const Expr& other = a.constant.kind == Constant::text ? b : a;
    if (other.constant.kind == Constant::text)
      return number(lang::text_of(literal) == lang::text_of(other));
    // Words are compared only up to the literal's end: what is behind need not be clean.
    Place p = scratch_place(other.type->size, "text");
    into(other, p, *other.type, false);
    return equal_literal(p, other.type->size, lang::text_of(literal), true);
  }
  const Type& wide = a.type->size >= b.type->size ? *a.type : *b.type;
  Place pa = temporary(a, wide), pb = temporary(b, wide);
  for (const Place& p : {pa, pb}) store(p.plus(wide.size - 1), number(0), 1); // cut or not
  Reg same = fresh();
  append({.op = Op::equal, .dst = same, .a = address(pa), .b = address(pb), .imm2 = wide.size});
  return Operand::of(same);
}

// strncmp(a, b, n): 0 if the first n bytes (or all up to the NUL) are the same, else 1.
Operand Lowering::compare_prefix(const Call& c) {
  const Expr& a = *c.arguments[0];
  const Expr& b = *c.arguments[1];
  auto n = static_cast<uint64_t>(std::max<int64_t>(0, c.arguments[2]->constant.integer_value));
  if (a.constant.kind == Constant::text && b.constant.kind == Constant::text)
    return number(lang::text_of(a).substr(0, n) != lang::text_of(b).substr(0, n));
  Operand same;
  if (a.constant.kind == Constant::text || b.constant.kind == Constant::text) {
    std::string_view text = lang::text_of(a.constant.kind == Constant::text ? a : b);
    const Expr& other = a.constant.kind == Constant::text ? b : a;
    Place p = scratch_place(other.type->size, "text");
    into(other, p, *other.type, false);
    bool with_end = n > text.size();
    same = equal_literal(p, other.type->size, text.substr(0, n), with_end);
  } else {
    const Type& wide = a.type->size >= b.type->size ? *a.type : *b.type;
    Place pa = temporary(a, wide), pb = temporary(b, wide);
    Reg dst = fresh();
    append({.op = Op::equal,
            .dst = dst,
            .a = address(pa),
            .b = address(pb),
            .imm2 = static_cast<int64_t>(std::min<uint64_t>(n, wide.size))});
    same = Operand::of(dst);
  }
  return emit(Op::xor_, same, number(1));
}

// The first of `turns` places in a text where `test` goes to `hit`, or -1. A loop that is called back: the
// kernel's verifier would follow any other byte by byte, and all that comes behind it once for each.
Operand Lowering::first_match(const Expr& text, int64_t turns,
                              const std::function<void(const Place&, BlockId hit, BlockId next)>& test) {
  uint32_t bytes = add_object(text.type->size, "text");
  uint32_t found = add_object(8, "found");
  into(text, {Space::script, object(bytes), 0}, *text.type);
  store({Space::script, object(found), 0}, number(-1), 8);
  body(
      1,
      [&] {
        Operand at = Operand::of(1);
        BlockId inside = new_block(), hit = new_block(), next = new_block();
        branch(Cond::ult, at, number(turns), inside, next);
        start(inside);
        test({Space::script, emit(Op::add, object(bytes), at), 0}, hit, next);
        start(hit);
        store({Space::script, object(found), 0}, at, 8);
        give_back(number(1));
        start(next);
        give_back(number(0));
      },
      [&](uint32_t made) {
        uint32_t never = site(Fault::loop_limit);
        append(
            {.op = Op::loop, .dst = fresh(), .a = number(turns), .imm = turns, .imm2 = never, .index = made});
      });
  // The verifier of Linux 6.1 takes what it first saw the loop store for all that it can store.
  return emit(Op::blur, load_word({Space::script, object(found), 0}, 8, true));
}

Operand Lowering::text_length(const Expr& e) {
  if (e.constant.kind == Constant::text) {
    std::string_view text = lang::text_of(e);
    return number(static_cast<int64_t>(std::min({text.size(), text.find('\0'), size_t{e.type->size} - 1})));
  }
  int64_t size = e.type->size;
  Operand end = first_match(e, size, [&](const Place& here, BlockId hit, BlockId next) {
    branch(Cond::eq, load_word(here, 1, false), number(0), hit, next);
  });
  // A text that was cut has no NUL; its last byte is the mark of that.
  Reg length = fresh();
  BlockId cut = new_block(), after = new_block();
  assign(length, end);
  branch(Cond::slt, end, number(0), cut, after);
  start(cut);
  assign(length, number(size - 1));
  jump(after);
  start(after);
  return Operand::of(length);
}

// strstr(haystack, "needle"): offset or -1.
Operand Lowering::find_text(const Call& c) {
  const Expr& haystack = *c.arguments[0];
  const Expr& needle = *c.arguments[1];
  if (needle.constant.kind != Constant::text) {
    diagnostics_.error(spec::tag::not_yet, needle.where, "only a literal can be searched for yet");
    return number(0);
  }
  std::string_view text = lang::text_of(needle);
  if (text.empty()) return number(0);
  if (text.size() >= haystack.type->size) return number(-1);
  auto turns = static_cast<int64_t>(haystack.type->size - text.size());
  return first_match(haystack, turns, [&](const Place& here, BlockId hit, BlockId next) {
    for (size_t i = 0; i < text.size(); i++) {
      BlockId more = i + 1 == text.size() ? hit : new_block();
      Operand byte = load_word(here.plus(static_cast<int64_t>(i)), 1, false);
      branch(Cond::eq, byte, number(static_cast<uint8_t>(text[i])), more, next);
      if (more != hit) start(more);
    }
  });
}

} // namespace ir
