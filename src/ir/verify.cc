// The rules of the IR, checked: what ir.h promises to the engines. Lowering and every pass end with it, so
// that an engine never meets a program it must distrust.
//
// Method: the tables first; then each instruction by itself (operands, sizes, indexes, objects it stays
// inside of); then, where the blocks are sound, a forward data-flow over sets of registers: at the head of a
// block those are set that are set at the end of all its predecessors. A fault edge carries everything but
// the dst of its load.
#include "ir/passes.h"

#include <algorithm>

namespace ir {
namespace {

// A set of numbered registers as bits.
class RegSet {
public:
  RegSet(uint32_t size, bool all) : words_((size + 63) / 64, all ? ~0ull : 0) {}
  bool has(uint32_t n) const { return words_[n / 64] >> (n % 64) & 1; }
  void add(uint32_t n) { words_[n / 64] |= 1ull << (n % 64); }
  void remove(uint32_t n) { words_[n / 64] &= ~(1ull << (n % 64)); }
  // Returns whether it lost a member.
  bool intersect(const RegSet& with) {
    bool changed = false;
    for (size_t i = 0; i < words_.size(); i++) {
      const uint64_t both = words_[i] & with.words_[i];
      changed |= both != words_[i];
      words_[i] = both;
    }
    return changed;
  }

private:
  std::vector<uint64_t> words_;
};

bool is_access_size(uint8_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }
std::string str(uint64_t n) { return std::to_string(n); }

class FunctionVerifier {
public:
  FunctionVerifier(const Program& program, uint32_t index, std::vector<std::string>& mistakes)
      : program_(program), function_(program.functions[index]), index_(index), mistakes_(mistakes) {}

  void verify() {
    if (!check_head()) return;
    find_objects();
    for (block_ = 0; block_ < function_.blocks.size(); block_++) check_block();
    if (sound_) check_definitions();
  }

private:
  void mistake(const std::string& what) {
    std::string where = "function " + function_.name;
    if (block_ < function_.blocks.size()) where += ", b" + str(block_);
    if (inst_) where += ", `" + to_string(*inst_, program_) + "`";
    mistakes_.push_back(where + ": " + what);
  }
  // A mistake after which the flow between blocks cannot be followed.
  void unsound(const std::string& what) {
    sound_ = false;
    mistake(what);
  }

  bool check_head() {
    if (function_.frame >= program_.frames.size()) {
      mistake("frame " + str(function_.frame) + " does not exist");
      return false;
    }
    if (function_.blocks.empty()) {
      mistake("it has no blocks");
      return false;
    }
    const uint32_t n = function_.parameters;
    if (n >= function_.registers) unsound("its parameters are not counted among its registers");
    switch (function_.role) {
    case Role::probe:
      if (n) mistake("a probe has no parameters");
      break;
    case Role::function:
      if (n > 5) mistake("a function has at most 5 parameters, not " + str(n));
      break;
    case Role::body:
      if (n != 1 && n != 2) mistake("a body has 1 or 2 parameters, not " + str(n));
      break;
    }
    check_parent();
    return true;
  }

  void check_parent() {
    const bool has_parent = function_.parent != ~0u;
    if (function_.role != Role::body) {
      if (has_parent && function_.role == Role::probe) mistake("only a body or a piece has a parent");
    } else if (function_.parent >= program_.functions.size() || function_.parent == index_) {
      mistake("a body needs the function it stands in as its parent");
    } else if (program_.functions[function_.parent].frame != function_.frame) {
      mistake("a body shares the frame of its parent");
    }
  }

  // Registers that are always the address of one object: those assigned once, by `object`.
  void find_objects() {
    known_.assign(function_.registers, nullptr);
    std::vector<uint8_t> assigned(function_.registers, 0);
    for (Reg r = 1; r <= function_.parameters && r < function_.registers; r++) assigned[r] = 1;
    for (const Block& b : function_.blocks) {
      for (const Inst& i : b.insts) {
        if (!defines(i) || i.dst >= function_.registers) continue;
        known_[i.dst] = i.op == Op::object && !assigned[i.dst] ? &i : nullptr;
        assigned[i.dst] = 1;
      }
    }
  }

  void check_block() {
    const Block& block = function_.blocks[block_];
    inst_ = nullptr;
    if (block.insts.empty()) return unsound("it is empty");
    for (const Inst& i : block.insts) {
      inst_ = &i;
      const bool last = &i == &block.insts.back();
      if (ends_block(i) && !last) unsound("it ends a block, but stands inside one");
      if (!ends_block(i) && last) unsound("it is the last of its block, but does not end it");
      check_inst(i);
    }
    inst_ = nullptr;
  }

  void check_inst(const Inst& i) {
    const OpRow& r = row(i.op);
    check_operand(r, in_a, i.a, "a");
    check_operand(r, in_b, i.b, "b");
    check_operand(r, in_c, i.c, "c");
    check_operand(r, in_d, i.d, "d");
    check_operand(r, in_e, i.e, "e");
    if (i.dst >= function_.registers) unsound("register %" + str(i.dst) + " is not counted");
    if (i.dst && !r.has_dst) mistake("it gives no value, but has a dst");
    if (r.has_dst && !i.dst && r.is_pure) mistake("its value goes nowhere");
    for (const BlockId to : successors(i)) {
      if (to >= function_.blocks.size())
        unsound("a target does not exist");
      else if (to == 0)
        mistake("it goes to the entry, which has no predecessors");
    }
    if (is_map_op(i.op))
      check_map_op(i);
    else
      check_op(i);
  }

  void check_operand(const OpRow& r, uint8_t bit, const Operand& o, const char* name) {
    if (!(r.reads & bit)) {
      if (o.kind != Operand::none) mistake(std::string("it has no operand ") + name);
    } else if (o.kind == Operand::none) {
      if (!(r.optional & bit)) mistake(std::string("operand ") + name + " is missing");
    } else if (o.is_reg() && (o.value <= 0 || o.value >= function_.registers)) {
      unsound("register %" + std::to_string(o.value) + " does not exist");
    }
  }

  static bool is_map_op(Op op) { return op >= Op::map_find && op <= Op::map_size; }
  void check_map_op(const Inst& i) {
    if (i.index >= program_.maps.size()) return mistake("map " + str(i.index) + " does not exist");
    const Map& m = program_.maps[i.index];
    const bool keyless = is_scalar(m.kind) || m.kind == MapKind::task || i.op == Op::map_size;
    if (!keyless && i.a.kind == Operand::none) mistake("the key of @" + m.name + " is missing");
    if (i.a.kind != Operand::none && is_scalar(m.kind)) mistake("@" + m.name + " has no keys");
    if (i.a.kind != Operand::none) check_inside(i.a, 0, m.key_size);
    if (i.op == Op::map_store && m.kind == MapKind::percpu_hash) mistake("@" + m.name + " has no single value to store");
    if (i.op == Op::map_slot && i.b.kind != Operand::none && m.kind != MapKind::percpu_hash)
      mistake("words of @" + m.name + " have no slots");
    if (i.op == Op::map_store) check_inside(i.b, 0, m.value_size);
  }

  void check_op(const Inst& i) {
    switch (i.op) {
    case Op::zext:
    case Op::sext:
    case Op::bswap: check_size(i); break;
    case Op::object:
      if (i.index >= objects().size())
        mistake("object " + str(i.index) + " does not exist");
      else if (i.imm < 0 || i.imm > objects()[i.index].size)
        mistake("it points outside its object");
      break;
    case Op::load: check_load(i); break;
    case Op::store: check_size(i), check_inside(i.a, i.imm, i.size); break;
    case Op::exchange: check_inside(i.a, i.imm, 8); break;
    case Op::add_memory:
      if (i.size != 8) mistake("only 8 bytes can be added to");
      check_inside(i.a, i.imm, 8);
      break;
    case Op::copy:
      if (check_length(i)) check_inside(i.a, i.imm, i.imm2), check_inside(i.b, i.imm3, i.imm2);
      break;
    case Op::zero:
      if (check_length(i)) check_inside(i.a, i.imm, i.imm2);
      break;
    case Op::equal:
      if (check_length(i)) check_inside(i.a, 0, i.imm2), check_inside(i.b, 0, i.imm2);
      break;
    case Op::name:
    case Op::task_name: check_inside(i.a, 0, 16); break;
    case Op::path:
      if (check_length(i)) check_inside(i.a, 0, i.imm2);
      break;
    case Op::write_user:
      if (check_length(i)) check_inside(i.b, 0, i.imm2);
      break;
    case Op::read:
    case Op::read_string:
    case Op::read_bytes:
      if (i.space != Space::kernel && i.space != Space::user && (i.op == Op::read || i.space != Space::script))
        mistake("it reads kernel or user memory only");
      if (check_length(i)) check_inside(i.a, 0, i.imm2);
      break;
    default: check_control(i); break;
    }
  }

  void check_control(const Inst& i) {
    switch (i.op) {
    case Op::signal:
      if (i.index > 1) mistake("a signal is for the process (0) or the thread (1)");
      break;
    case Op::cpu_variable: check_symbol(i.index); break;
    case Op::print:
      if (check_length(i)) check_inside(i.b, 0, i.imm2);
      if (i.imm3 < 0 || i.imm3 % 8) mistake("its values have 8 bytes each");
      if (i.imm3 > 0) check_inside(i.c, 0, static_cast<uint32_t>(i.imm3));
      break;
    case Op::packet:
      if (i.index >= program_.actions.size()) mistake("action " + str(i.index) + " does not exist");
      if (check_length(i)) check_inside(i.c, 0, i.imm2);
      break;
    case Op::stack:
      if (i.index > walked_stack)
        mistake("a stack is the kernel's (0) or the user's (1, 2)");
      else if (i.index && i.a.kind == Operand::none)
        mistake("a user stack is one of a process");
      if (i.imm2 < 1) mistake("a stack has at least one frame");
      break;
    case Op::table:
      if (i.index >= program_.tables.size()) mistake("table " + str(i.index) + " does not exist");
      break;
    case Op::hold:
      if (program_.speculations >= program_.maps.size()) mistake("there is no map of speculations");
      [[fallthrough]];
    case Op::event:
      if (i.index >= program_.actions.size())
        mistake("action " + str(i.index) + " does not exist");
      else if (const uint64_t size = program_.actions[i.index].record_size();
               i.imm2 != static_cast<int64_t>(size))
        mistake("the record of its action has " + str(size) + " bytes, not " + std::to_string(i.imm2));
      break;
    case Op::count_fault:
      if (i.index >= program_.sites.size()) mistake("site " + str(i.index) + " does not exist");
      break;
    case Op::call: check_call(i); break;
    case Op::loop:
      if (i.imm < 0) mistake("its limit is negative");
      if (static_cast<uint64_t>(i.imm2) >= program_.sites.size()) mistake("its site does not exist");
      check_body(i.index, 1);
      break;
    case Op::for_each:
      if (i.index >= program_.maps.size())
        mistake("map " + str(i.index) + " does not exist");
      else if (is_scalar(program_.maps[i.index].kind))
        mistake("a scalar map has no entries to go through");
      check_body(static_cast<uint64_t>(i.imm), 2);
      break;
    case Op::give_back: check_give_back(i); break;
    default: break;
    }
  }

  void check_symbol(uint64_t index) {
    if (index >= program_.kernel_symbols.size()) mistake("kernel symbol " + str(index) + " does not exist");
  }
  void check_size(const Inst& i) {
    if (!is_access_size(i.size)) mistake("the size is 1, 2, 4 or 8, not " + str(i.size));
  }
  bool check_length(const Inst& i) {
    if (i.imm2 > 0 && i.imm2 <= INT32_MAX) return true;
    mistake("a length of " + std::to_string(i.imm2) + " bytes makes no sense");
    return false;
  }
  void check_load(const Inst& i) {
    check_size(i);
    const bool faults = i.space != Space::context;
    if (i.other != no_block && !faults)
      mistake("memory of space " + std::string(to_string(i.space)) + " cannot fault");
    if (i.space == Space::script && i.other == no_block) check_inside(i.a, i.imm, i.size);
    if (i.space == Space::context && i.imm < 0) mistake("it reads before the context");
    if (i.space != Space::context && i.a.kind == Operand::none) mistake("operand a is missing");
  }

  // Where `base` is known to be the address of an object: are [offset, offset + length) bytes of it?
  void check_inside(const Operand& base, int64_t offset, int64_t length) {
    if (!base.is_reg() || base.value <= 0 || base.value >= function_.registers) return;
    const Inst* made = known_[base.as_reg()];
    if (!made || made->index >= objects().size()) return;
    const Object& o = objects()[made->index];
    const int64_t from = made->imm + offset;
    if (from >= 0 && from + length <= o.size) return;
    mistake("bytes " + std::to_string(from) + " to " + std::to_string(from + length) +
            " are not inside object o" + str(made->index) + " of " + str(o.size) + " bytes");
  }

  void check_call(const Inst& i) {
    if (i.index >= program_.functions.size()) return mistake("function " + str(i.index) + " does not exist");
    const Function& callee = program_.functions[i.index];
    if (callee.role != Role::function) mistake(callee.name + " is no function that can be called");
    const Operand* arguments[] = {&i.a, &i.b, &i.c, &i.d, &i.e};
    uint32_t given = 0;
    while (given < 5 && arguments[given]->kind != Operand::none) given++;
    for (uint32_t n = given; n < 5; n++)
      if (arguments[n]->kind != Operand::none) return mistake("an argument is missing");
    if (given != callee.parameters)
      mistake(callee.name + " takes " + str(callee.parameters) + " arguments, not " + str(given));
  }
  void check_body(uint64_t index, uint32_t parameters) {
    if (index >= program_.functions.size()) return mistake("function " + str(index) + " does not exist");
    const Function& body = program_.functions[index];
    if (body.role != Role::body) return mistake(body.name + " is not the body of a loop");
    if (body.parent != index_) mistake(body.name + " is the body of another function's loop");
    if (body.parameters != parameters)
      mistake(body.name + " takes " + str(body.parameters) + " parameters, not " + str(parameters));
  }
  void check_give_back(const Inst& i) {
    if (!i.a.is_constant()) return;
    // What acu runs itself (tests) may tell something; the kernel takes a meaning from what others return.
    const bool run_by_acu = std::all_of(program_.probes.begin(), program_.probes.end(), [&](const Probe& p) {
      return p.function != index_ || p.context == probe::Context::none;
    });
    if (function_.role == Role::probe && i.a.value != 0 && !run_by_acu) mistake("a probe returns 0");
    if (function_.role == Role::body && i.a.value != 0 && i.a.value != 1) mistake("a body returns 0 or 1");
  }

  // Most registers are read only behind their assignment in the same block; the others are numbered, for the
  // sets.
  void number_registers() {
    numbers_.assign(function_.registers, unnumbered);
    std::vector<BlockId> set_in(function_.registers, no_block);
    for (BlockId b = 0; b < function_.blocks.size(); b++) {
      for (const Inst& i : function_.blocks[b].insts) {
        for_each_use(i, [&](Reg r) {
          if (set_in[r] != b && numbers_[r] == unnumbered) numbers_[r] = numbered_++;
        });
        if (defines(i)) set_in[i.dst] = b;
      }
    }
  }
  void add(RegSet& set, Reg r) const {
    if (numbers_[r] != unnumbered) set.add(numbers_[r]);
  }

  void check_definitions() {
    const auto& blocks = function_.blocks;
    number_registers();
    std::vector<RegSet> at_head(blocks.size(), RegSet(numbered_, true));
    std::vector<bool> waiting(blocks.size(), false), reached(blocks.size(), false);
    at_head[0] = RegSet(numbered_, false);
    for (Reg r = 1; r <= function_.parameters; r++) add(at_head[0], r);
    std::vector<BlockId> work{0};
    reached[0] = true;
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      waiting[b] = false;
      RegSet set = at_head[b];
      for (const Inst& i : blocks[b].insts)
        if (defines(i)) add(set, i.dst);
      const Inst& last = blocks[b].insts.back();
      for (const BlockId to : successors(last)) {
        RegSet passed = set;
        const bool at_fault = has_fault_edge(last) && to == last.other && defines(last);
        if (at_fault && numbers_[last.dst] != unnumbered) passed.remove(numbers_[last.dst]);
        if ((at_head[to].intersect(passed) || !reached[to]) && !waiting[to]) {
          waiting[to] = true;
          work.push_back(to);
        }
        reached[to] = true;
      }
    }
    for (block_ = 0; block_ < blocks.size(); block_++)
      if (reached[block_]) report_undefined(at_head[block_]);
  }
  void report_undefined(RegSet set) {
    for (const Inst& i : function_.blocks[block_].insts) {
      inst_ = &i;
      for_each_use(i, [&](Reg r) {
        if (numbers_[r] == unnumbered || set.has(numbers_[r])) return;
        mistake("register %" + str(r) + " may be read before it is set");
        add(set, r); // once is enough
      });
      if (defines(i)) add(set, i.dst);
    }
    inst_ = nullptr;
  }

  const std::vector<Object>& objects() const { return program_.frames[function_.frame].objects; }

  const Program& program_;
  const Function& function_;
  const uint32_t index_;
  std::vector<std::string>& mistakes_;
  std::vector<const Inst*> known_; // by register: the only instruction that sets it, if that is `object`
  static constexpr uint32_t unnumbered = ~0u;
  std::vector<uint32_t> numbers_; // by register: its bit in a RegSet
  uint32_t numbered_ = 0;
  bool sound_ = true;
  size_t block_ = ~size_t{0};
  const Inst* inst_ = nullptr;
};

void verify_maps(const Program& program, std::vector<std::string>& mistakes) {
  for (const Map& m : program.maps) {
    const std::string name = "map @" + m.name + ": ";
    if (m.value_size == 0 || m.value_size % 8) mistakes.push_back(name + "values have a multiple of 8 bytes");
    if (is_scalar(m.kind) && m.key_size) mistakes.push_back(name + "a scalar map has no key");
    if (!is_scalar(m.kind) && m.kind != MapKind::task && (m.key_size == 0 || m.key_size % 8))
      mistakes.push_back(name + "keys have a multiple of 8 bytes");
    if (m.present_offset != ~0u && (m.present_offset % 8 || m.present_offset + 8 > m.value_size))
      mistakes.push_back(name + "its flag stands outside its value");
    if (m.max_entries == 0) mistakes.push_back(name + "it has no room");
  }
}

void verify_tables(const Program& program, std::vector<std::string>& mistakes) {
  for (size_t i = 0; i < program.actions.size(); i++) {
    const Action& a = program.actions[i];
    if (has_map(a.kind) && a.map >= program.maps.size())
      mistakes.push_back("action " + str(i) + ": map " + str(a.map) + " does not exist");
    if (a.kind != ActionKind::join && a.items)
      mistakes.push_back("action " + str(i) + ": only join has items");
  }
  for (const Probe& p : program.probes) {
    const std::string name = "probe " + p.name + ": ";
    if (p.function >= program.functions.size())
      mistakes.push_back(name + "its function does not exist");
    else if (program.functions[p.function].role != Role::probe)
      mistakes.push_back(name + program.functions[p.function].name + " is not the function of a probe");
    for (const uint32_t e : p.events)
      if (e >= program.events.size()) mistakes.push_back(name + "event " + str(e) + " does not exist");
  }
}

} // namespace

std::vector<std::string> verify(const Program& program) {
  std::vector<std::string> mistakes;
  verify_maps(program, mistakes);
  verify_tables(program, mistakes);
  for (uint32_t f = 0; f < program.functions.size(); f++) FunctionVerifier(program, f, mistakes).verify();
  return mistakes;
}

std::vector<std::string> verify_function(const Program& program, uint32_t function) {
  std::vector<std::string> mistakes;
  FunctionVerifier(program, function, mistakes).verify();
  return mistakes;
}

} // namespace ir
