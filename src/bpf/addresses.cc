// From what gives an address, along copies, sums, calls, and objects that hold one, until nothing new is
// found.
#include "bpf/addresses.h"

#include "ir/ops.h"

#include <numeric>

namespace bpf {

using ir::Op;

namespace {

class Search {
public:
  Search(const ir::Program& program, const std::vector<uint32_t>& functions)
      : program_(program), functions_(functions), addresses_(program.functions.size()), gives_address_(program.functions.size(), false), called_(gives_address_) {
    use.known.resize(program.functions.size());
    for (const ir::Frame& frame : program.frames) use.holders.emplace_back(frame.objects.size(), false);
    use.stored_in_loops = use.holders;
    for (const uint32_t f : functions) {
      const ir::Function& function = program.functions[f];
      use.known[f] = find_known_addresses(function);
      addresses_[f].assign(function.registers, false);
      const bool is_each = function.role == ir::Role::body && function.parameters == 2;
      for (ir::Reg r = 1; is_each && r <= 2; r++) addresses_[f][r] = true;
    }
  }

  void run() {
    // Callees stand behind those who call them.
    do {
      is_known_elsewhere_ = false;
      for (size_t n = functions_.size(); n-- > 0;) look_at(functions_[n]);
    } while (is_known_elsewhere_);
    for (size_t f = 0; f < addresses_.size(); f++) {
      bool any = gives_address_[f];
      for (ir::Reg r = 1; r <= program_.functions[f].parameters && r < addresses_[f].size(); r++)
        any |= addresses_[f][r];
      use.numbers_only.push_back(!any);
    }
    use.addresses = std::move(addresses_);
  }

  AddressUse use;

private:
  void look_at(uint32_t f) {
    do {
      changed_ = false;
      for (const ir::Block& b : program_.functions[f].blocks)
        for (const ir::Inst& i : b.insts) visit(f, i);
    } while (changed_);
  }

  // A fact that others may have asked for before.
  void mark_for_all(std::vector<bool>::reference bit) {
    is_known_elsewhere_ |= !bit;
    mark(bit);
  }
  void mark(std::vector<bool>::reference bit) {
    changed_ |= !bit;
    bit = true;
  }

  bool is_address(uint32_t f, const ir::Operand& o) const { return o.is_reg() && addresses_[f][o.as_reg()]; }

  const KnownAddress* object_at(uint32_t f, const ir::Operand& o) const {
    if (!o.is_reg() || !use.known[f][o.as_reg()].is_known) return nullptr;
    return &use.known[f][o.as_reg()];
  }

  bool gives_address(uint32_t f, const ir::Inst& i) const {
    switch (i.op) {
    case Op::object:
    case Op::map_find:
    case Op::map_find_cpu:
    case Op::map_slot:
    case Op::cpu_variable:
    case Op::context_address:
    case Op::borrow:
    case Op::event:
    case Op::hold: return true;
    case Op::query: return i.query == ir::Query::task || i.query == ir::Query::user_registers;
    case Op::mov: return is_address(f, i.a);
    case Op::sub: return is_address(f, i.a) && !is_address(f, i.b);
    case Op::add: return is_address(f, i.a) || is_address(f, i.b);
    case Op::call: return gives_address_[i.index];
    case Op::load: {
      if (i.space == ir::Space::context || i.space == ir::Space::task) return i.size == 8;
      const KnownAddress* from = i.space == ir::Space::script && i.size == 8 ? object_at(f, i.a) : nullptr;
      return from && use.holders[program_.functions[f].frame][from->object];
    }
    default: return false;
    }
  }

  void visit(uint32_t f, const ir::Inst& i) {
    if (ir::defines(i) && gives_address(f, i)) mark(addresses_[f][i.dst]);
    if (i.op == Op::give_back && is_address(f, i.a)) called_[f] ? mark_for_all(gives_address_[f]) : mark(gives_address_[f]);
    if (i.op == Op::store && i.size == 8 && is_address(f, i.b)) {
      const ir::Function& function = program_.functions[f];
      if (const KnownAddress* to = object_at(f, i.a)) mark_for_all(use.holders[function.frame][to->object]);
      const KnownAddress* stored = function.role == ir::Role::body ? object_at(f, i.b) : nullptr;
      if (stored) mark(use.stored_in_loops[function.frame][stored->object]);
    }
    if (i.op != Op::call) return;
    called_[i.index] = true;
    ir::Reg parameter = 1;
    ir::for_each_operand(i, [&](const ir::Operand& o) {
      if (is_address(f, o) && parameter <= program_.functions[i.index].parameters)
        mark_for_all(addresses_[i.index][parameter]);
      parameter++;
    });
  }

  const ir::Program& program_;
  const std::vector<uint32_t>& functions_;
  std::vector<std::vector<bool>> addresses_; // by function, by register
  std::vector<bool> gives_address_, called_; // by function; called_: by one that was looked at
  bool changed_ = false, is_known_elsewhere_ = false;
};

} // namespace

AddressUse find_address_use(const ir::Program& program, const std::vector<uint32_t>& functions) {
  Search search(program, functions);
  search.run();
  return std::move(search.use);
}

AddressUse find_address_use(const ir::Program& program) {
  std::vector<uint32_t> all(program.functions.size());
  std::iota(all.begin(), all.end(), 0);
  return find_address_use(program, all);
}

} // namespace bpf
