// Builtins that name numbers, addresses and events. Names of errors, signals and system calls are text that a program makes
// itself, from tables of words (one for each four bytes of the longest name), so that they can be compared, kept and
// used as keys. Network addresses are bytes that the report turns into text.
#include "ir/group_sets.h"
#include "ir/lowering.h"

#include "spec/numbers.h"
#include "symbol/cgroups.h"

#include <algorithm>
#include <cstring>
#include <pwd.h>
#include <sys/socket.h>

namespace ir {

// The configuration, as it is in force.
void Lowering::config_into(const Place& to, const Type& as) {
  zero(to, as.size);
  for (const type::Field& key : as.fields()) {
    const spec::Config& config = source_.config;
    const Place at = to.plus(key.offset);
    if (key.type->is(Kind::string))
      put_text(at, config.text(key.name), key.type->size);
    else
      store(at, number(key.type->is(Kind::boolean) ? config.flag(key.name) : static_cast<int64_t>(config.number(key.name))), key.type->size);
  }
}

using namespace lang;

static constexpr uint32_t word_size = 4;

// -------------------------------------------------------------------------------------- names of numbers

// The first of the tables with the words of the names of 0 … last.
uint32_t Lowering::number_names(const spec::NumberNames& names, uint32_t words) {
  auto [first, is_new] = number_name_tables_.try_emplace(&names, static_cast<uint32_t>(program_.tables.size()));
  if (!is_new) return first->second;
  program_.tables.resize(first->second + words, std::vector<uint32_t>(static_cast<size_t>(names.last) + 1));
  for (int number = 0; number <= names.last; number++) {
    std::string_view name = names.name_of(number);
    for (size_t at = 0; at < name.size(); at += word_size)
      std::memcpy(&program_.tables[first->second + at / word_size][static_cast<size_t>(number)], name.data() + at,
                  std::min<size_t>(word_size, name.size() - at));
  }
  return first->second;
}

// The text at `index` of `words` tables, filled with NULs.
void Lowering::table_text_into(uint32_t first, uint32_t words, Operand index, const Place& to, const Type& as) {
  for (uint32_t at = 0, width = 0; at < as.size; at += width) {
    if (at >= words * word_size) return zero(to.plus(at), as.size - at);
    Reg word = fresh();
    append({.op = Op::table, .dst = word, .a = index, .index = first + at / word_size});
    Operand piece = Operand::of(word);
    if (at % word_size) piece = emit(Op::lshr, piece, number(at % word_size * 8));
    width = as.size - at >= word_size ? word_size : as.size - at >= 2 ? 2 : 1;
    store(to.plus(at), piece, width);
  }
}

void Lowering::number_name_into(const spec::NumberNames& names, const Call& c, const Place& to, const Type& as) {
  uint32_t words = (c.type->size + word_size - 1) / word_size;
  uint32_t first = number_names(names, words);
  Operand n = emit(Op::sext, scalar(*c.arguments[0]), {}, 4);
  Reg word = fresh();
  append({.op = Op::table, .dst = word, .a = n, .index = first});
  BlockId known = new_block(), unknown = new_block(), after = new_block();
  branch(Cond::ne, Operand::of(word), number(0), known, unknown);
  start(known);
  table_text_into(first, words, n, to, as);
  jump(after);
  start(unknown);
  if (names.shows_unknown)
    unknown_number_into(names.unknown, n, to, as);
  else
    put_text(to, names.unknown, as.size);
  jump(after);
  start(after);
}

// "Unknown error -12". The digits come last first, so each pushes those before it up in a number of two words.
void Lowering::unknown_number_into(std::string_view start_of_text, Operand n, const Place& to, const Type& as) {
  constexpr uint32_t room = 32, most_digits = 10;
  Place text = scratch_place(room, "unknown error");
  put_text(text, start_of_text, room);
  Reg low = fresh(), high = fresh(), rest = fresh();
  assign(low, number(0));
  assign(high, number(0));
  assign(rest, n);
  auto push = [&](Operand character) {
    Operand carried = emit(Op::lshr, Operand::of(low), number(56));
    assign(high, emit(Op::or_, emit(Op::shl, Operand::of(high), number(8)), carried));
    assign(low, emit(Op::or_, emit(Op::shl, Operand::of(low), number(8)), character));
  };
  BlockId negative = new_block(), count_digits = new_block(), done = new_block();
  branch(Cond::slt, n, number(0), negative, count_digits);
  start(negative);
  assign(rest, emit(Op::sub, number(0), n));
  jump(count_digits);
  start(count_digits);
  for (uint32_t i = 0; i < most_digits; i++) {
    push(emit(Op::add, emit(Op::umod, Operand::of(rest), number(10)), number('0')));
    assign(rest, emit(Op::udiv, Operand::of(rest), number(10)));
    BlockId more = new_block();
    branch(Cond::eq, Operand::of(rest), number(0), done, more);
    start(more);
  }
  jump(done);
  start(done);
  BlockId sign = new_block(), after = new_block();
  branch(Cond::slt, n, number(0), sign, after);
  start(sign);
  push(number('-'));
  jump(after);
  start(after);
  const auto digits = static_cast<int64_t>(start_of_text.size());
  store(text.plus(digits), Operand::of(low), 8);
  store(text.plus(digits + 8), Operand::of(high), 8);
  copy(to, text, std::min(as.size, room));
  if (as.size > room) zero(to.plus(room), as.size - room);
}

// --------------------------------------------------------------------------------------- names of events

// The name that event_name() stands for, as text: words from tables, for there may be hundreds of names.
void Lowering::probe_text_into(const Place& to, const Type& as, bool is_function) {
  std::vector<std::string> names;
  for (const probe::Event* e : probe_->events) names.push_back(name_of_event(*e, is_function));
  size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  auto words = static_cast<uint32_t>(longest / word_size + 1); // with the NUL
  auto [first, is_new] =
      probe_text_tables_.try_emplace({probe_, is_function}, static_cast<uint32_t>(program_.tables.size()));
  for (uint32_t w = 0; is_new && w < words; w++) {
    std::vector<uint32_t>& table = program_.tables.emplace_back();
    for (const std::string& name : names) {
      uint32_t id = probe_name(name);
      if (table.size() <= id) table.resize(id + 1);
      if (w * word_size < name.size())
        std::memcpy(&table[id], name.data() + w * word_size,
                    std::min<size_t>(word_size, name.size() - w * word_size));
    }
  }
  table_text_into(first->second, words, event_name(is_function), to, as);
}

// ---------------------------------------------------------------------------------------------- addresses

// Where the bytes of an address are: those of the value itself, or those that a pointer or number points to.
Place Lowering::bytes_place(const Expr& e) {
  Place p = e.type->is_scalar() ? pointee(e, 0) : place(e);
  bool of_caller = e.type->is_integer() && probe_ && (probe_->events.front()->category == "syscalls" ||
                                                      context_ == probe::Context::registers);
  if (of_caller) p.space = Space::user;
  if (p.space == Space::task) p.space = Space::kernel;
  if (p.space == Space::context) return {Space::kernel, address(p), 0};
  return p;
}

// ntop([family,] address): u8 length (4 or 16), 16 bytes.
void Lowering::inet_into(const Call& c, const Place& to) {
  constexpr uint32_t size_v4 = 4, size_v6 = 16;
  const Expr& from = *c.arguments.back();
  const Expr* family = c.arguments.size() > 1 ? c.arguments[0] : nullptr;
  zero(to, 20);
  if (from.type->is_integer()) {
    Operand n = scalar(from);
    store(to, number(size_v4), 1);
    return store_bytes(to.plus(1), n, size_v4);
  }
  const Type* bytes = from.type->is(Kind::pointer) ? from.type->element : from.type;
  bool is_known = family && family->constant.kind == Constant::integer;
  uint32_t of_family = is_known && family->constant.integer_value == AF_INET ? size_v4 : size_v6;
  uint32_t size = bytes && (bytes->size == size_v4 || bytes->size == size_v6) && !bytes->is_integer() ? bytes->size
                                                                                                        : of_family;
  Operand length = number(is_known ? of_family : size);
  if (family && !is_known && size == size_v6) {
    Operand is_v6 = set(Cond::eq, emit(Op::zext, scalar(*family), {}, 4), number(AF_INET6));
    length = emit(Op::add, emit(Op::mul, is_v6, number(size_v6 - size_v4)), number(size_v4));
  }
  store(to, length, 1);
  copy(to.plus(1), bytes_place(from), size);
}

// usym(address): u64 address, u64 process.
void Lowering::user_symbol_into(const Call& c, const Place& to) {
  program_.uses_user_symbols = true;
  store(to, scalar(*c.arguments[0]), 8);
  store(to.plus(8), emit(Op::lshr, process_ids({}), number(32)), 8);
}

// macaddr(address): six bytes.
void Lowering::mac_into(const Call& c, const Place& to) { copy(to, bytes_place(*c.arguments[0]), 6); }

// The group with this ID; nullptr: the current one.
Operand Lowering::group_of(const Expr* id) { return id ? scalar(*id) : query(Query::cgroup_id); }

// cgroup_path([id [, filter]]): u64 id, u64 id of the filter's text.
void Lowering::cgroup_path_into(List<Expr*> arguments, const Place& to) {
  // The current group is one of version 2; groups of other hierarchies may have the same number.
  const std::string_view all = arguments.empty() ? "unified" : "*";
  const std::string filter(arguments.size() > 1 ? arguments[1]->constant.text_value : all);
  store(to, group_of(arguments.empty() ? nullptr : arguments[0]), 8);
  store(to.plus(8), number(string_id(filter)), 8);
}

// container([id]): the same, where the text says that it is shown by the name of the container.
void Lowering::container_into(List<Expr*> arguments, const Place& to) {
  store(to, group_of(arguments.empty() ? nullptr : arguments[0]), 8);
  store(to.plus(8), number(string_id(symbol::container_filter)), 8);
}

Operand Lowering::in_cgroup(const Call& c) {
  return is_in_set({spec::GroupSet::subtree, std::string(c.arguments[0]->constant.text_value)}, query(Query::cgroup_id));
}

Operand Lowering::is_in_set(const spec::GroupSet& groups, Operand id) {
  const uint32_t map = add_group_set(program_, types_, groups); // it is there: the checker has seen the question
  const Place key = scratch_place(8, "group");
  store(key, id, 8);
  const Reg at = fresh();
  append({.op = Op::map_find, .dst = at, .a = address(key), .index = map});
  return set(Cond::ne, Operand::of(at), number(0));
}

Operand Lowering::compare_group(const Binary& e, const GroupComparison& groups) {
  const Operand is_in = is_in_set(groups.set, group_of(groups.id));
  return e.op == BinaryOp::eq ? is_in : emit(Op::xor_, is_in, number(1));
}

// username == "root": by the number of the user. One that this machine does not know is no user's name.
Operand Lowering::compare_user(const Binary& e) {
  auto number_of = [&](const Expr& side) {
    if (side.constant.kind != Constant::text) return scalar(side);
    passwd entry = {}, *found = nullptr;
    char buffer[4096];
    std::string name(lang::text_of(side));
    bool known = ::getpwnam_r(name.c_str(), &entry, buffer, sizeof buffer, &found) == 0 && found;
    return number(known ? static_cast<int64_t>(entry.pw_uid) : -1);
  };
  Operand left = number_of(*e.left);
  return set(e.op == BinaryOp::eq ? Cond::eq : Cond::ne, left, number_of(*e.right));
}

// The number of a text that the report looks up.
uint32_t Lowering::string_id(std::string_view text) {
  auto [at, is_new] =
      string_ids_.try_emplace(std::string(text), static_cast<uint32_t>(program_.strings.size()));
  if (is_new) program_.strings.push_back(at->first);
  return at->second;
}

} // namespace ir
