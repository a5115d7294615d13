// Operations on maps as functions of one operation each, which return what it gives. A key or value that is one number is passed as
// that: a function of numbers is looked at once, not at each call, and what the verifier knows of the caller's stack stays as it was.
#include "bpf/pieces.h"

#include "ir/ops.h"

#include <map>
#include <tuple>

namespace bpf {
namespace {

using ir::Inst;
using ir::MapKind;
using ir::Op;
using ir::Operand;

constexpr size_t often = 4;      // occurrences that are worth a function
constexpr uint32_t nobody = ~0u; // no function

// How an operand is passed: not at all, as it is, or as the number that stands at the address.
enum class Pass : uint8_t { nothing, operand, number };
// Operations that one function can do: the same one on the same map, with the same operands there.
struct Kind {
  Op op = Op::map_find;
  uint32_t map = 0;
  Pass a = Pass::nothing, b = Pass::nothing;
  auto operator<=>(const Kind&) const = default;
};

bool is_shared(const Inst& i, const ir::Program& program) {
  const bool is_of_map = i.op == Op::map_find || i.op == Op::map_slot || i.op == Op::map_store || i.op == Op::map_remove;
  if (!is_of_map) return false;
  const MapKind kind = program.maps[i.index].kind;
  // These take no call of a helper on a map, or one that knows the task.
  if (kind == MapKind::task || kind == MapKind::array) return false;
  return !ir::is_scalar(kind) || i.op == Op::map_find || i.op == Op::map_slot;
}

// Objects of 8 bytes that one number is stored in, which are used as keys and values of such operations alone.
class Numbers {
public:
  explicit Numbers(const ir::Program& program) : program_(program) {
    for (const ir::Frame& frame : program.frames) held_.emplace_back(frame.objects.size());
    for (uint32_t f = 0; f < program.functions.size(); f++) {
      known_.push_back(find_known_addresses(program.functions[f]));
      const ir::Definitions definitions(program.functions[f]);
      for (const ir::Block& b : program.functions[f].blocks)
        for (const Inst& i : b.insts) visit(f, i, definitions);
    }
  }

  // The number at this address; none: it is not known.
  Operand at(uint32_t function, const Operand& address) {
    const Held* held = find(function, address);
    return held && held->function == function && !held->has_other_use ? held->number : Operand{};
  }

  // Says that this instruction stays as it is.
  void keep(uint32_t function, const Inst& i) {
    ir::for_each_operand(i, [&](const Operand& o) {
      Held* h = i.op == Op::store && &o == &i.a ? nullptr : find(function, o);
      if (h) h->is_read = true;
    });
  }
  // Whether it only stores a number that nobody reads any more.
  bool is_needless(uint32_t function, const Inst& i) {
    return i.op == Op::store && at(function, i.a).kind != Operand::none && !find(function, i.a)->is_read;
  }

private:
  struct Held {
    Operand number;
    uint32_t function = nobody; // that uses it
    bool has_other_use = false, is_read = false;
  };

  Held* find(uint32_t function, const Operand& address) {
    if (!address.is_reg() || address.as_reg() >= known_[function].size()) return nullptr;
    const KnownAddress& k = known_[function][address.as_reg()];
    return k.is_known ? &held_[program_.functions[function].frame][k.object] : nullptr;
  }

  void visit(uint32_t function, const Inst& i, const ir::Definitions& definitions) {
    const auto& known = known_[function];
    if (i.op == Op::lend) held_[program_.functions[function].frame][i.index].has_other_use = true;
    if (ir::defines(i) && known[i.dst].is_known) return; // it only passes the address on
    ir::for_each_operand(i, [&](const Operand& o) {
      Held* h = find(function, o);
      if (!h) return;
      const KnownAddress& k = known[o.as_reg()];
      const uint32_t size = program_.frames[program_.functions[function].frame].objects[k.object].size;
      const bool is_elsewhere = h->function != nobody && h->function != function;
      h->function = function;
      if (i.op == Op::store && &o == &i.a && h->number.kind == Operand::none && definitions.is_stable(i.b) && !find(function, i.b) && i.size == 8) {
        h->number = i.b;
        h->has_other_use |= k.offset + i.imm != 0;
      } else {
        const ir::Map* map = is_shared(i, program_) ? &program_.maps[i.index] : nullptr;
        const bool is_key = map && &o == &i.a && map->key_size == 8, is_value = map && i.op == Op::map_store && &o == &i.b && map->value_size == 8;
        h->has_other_use |= (!is_key && !is_value) || k.offset != 0;
      }
      h->has_other_use |= is_elsewhere || size != 8;
    });
  }

  const ir::Program& program_;
  std::vector<std::vector<KnownAddress>> known_; // by function, by register
  std::vector<std::vector<Held>> held_;          // by frame, by object
};

uint32_t add_function(ir::Program& program, const Kind& kind) {
  ir::Function f;
  f.name = std::string(to_string(kind.op)) + "_" + program.maps[kind.map].name;
  f.role = ir::Role::function;
  f.frame = static_cast<uint32_t>(program.frames.size());
  f.parameters = (kind.a != Pass::nothing) + (kind.b != Pass::nothing);
  f.registers = f.parameters + 1;
  program.frames.emplace_back();
  ir::Block body;
  ir::Reg parameter = 1;
  const auto operand = [&](Pass pass) {
    if (pass == Pass::nothing) return Operand{};
    const Operand given = Operand::of(parameter++);
    if (pass == Pass::operand) return given;
    auto& objects = program.frames.back().objects;
    const Operand address = Operand::of(f.registers++);
    body.insts.push_back({.op = Op::object, .dst = address.as_reg(), .index = static_cast<uint32_t>(objects.size())});
    body.insts.push_back({.op = Op::store, .size = 8, .a = address, .b = given});
    objects.push_back({8, "number"});
    return address;
  };
  Inst i{.op = kind.op, .index = kind.map};
  i.a = operand(kind.a);
  i.b = operand(kind.b);
  i.dst = f.registers++;
  body.insts.push_back(i);
  body.insts.push_back({.op = Op::give_back, .a = Operand::of(i.dst)});
  f.blocks.push_back(std::move(body));
  program.functions.push_back(std::move(f));
  return static_cast<uint32_t>(program.functions.size() - 1);
}

} // namespace

void share_operations(ir::Program& program) {
  const auto functions = static_cast<uint32_t>(program.functions.size());
  Numbers numbers(program);
  const auto pass = [&](uint32_t function, const Operand& o) {
    if (o.kind == Operand::none) return Pass::nothing;
    return numbers.at(function, o).kind == Operand::none ? Pass::operand : Pass::number;
  };
  const auto kind_of = [&](uint32_t f, const Inst& i) { return Kind{i.op, i.index, pass(f, i.a), pass(f, i.b)}; };
  std::map<Kind, size_t> count;
  for (uint32_t f = 0; f < functions; f++)
    for (const ir::Block& b : program.functions[f].blocks)
      for (const Inst& i : b.insts)
        if (is_shared(i, program)) count[kind_of(f, i)]++;
  std::map<Kind, uint32_t> made;
  for (const auto& [kind, n] : count)
    if (n >= often) made[kind] = add_function(program, kind);
  for (uint32_t f = 0; f < functions; f++)
    for (ir::Block& b : program.functions[f].blocks)
      for (Inst& i : b.insts) {
        const Kind kind = is_shared(i, program) ? kind_of(f, i) : Kind{};
        const auto shared = made.find(kind);
        if (!is_shared(i, program) || shared == made.end()) {
          numbers.keep(f, i);
          continue;
        }
        Inst call{.op = Op::call, .dst = i.dst, .index = shared->second, .where = i.where};
        Operand* to = &call.a;
        const auto give = [&](Pass how, const Operand& o) {
          if (how == Pass::nothing) return;
          *to = how == Pass::number ? numbers.at(f, o) : o;
          to = &call.b;
        };
        give(kind.a, i.a);
        give(kind.b, i.b);
        i = call;
      }
  for (uint32_t f = 0; f < functions; f++)
    for (ir::Block& b : program.functions[f].blocks)
      std::erase_if(b.insts, [&](const Inst& i) { return numbers.is_needless(f, i); });
}

} // namespace bpf
