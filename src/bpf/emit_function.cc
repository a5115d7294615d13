// One function: where scratch memory is claimed, what each operation needs of the registers, the prologue,
// and the order of the code.
#include "bpf/emit.h"

namespace bpf {

using ir::Op;

FunctionEmitter::FunctionEmitter(ProgramEmitter& program, Assembler& out, uint32_t index,
                                 const Layout& layout)
    : unit_(program), pool_(program.pool), out_(out), program_(program.program),
      options_(program.pool.options), index_(index), function_(&program_.functions[index]), layout_(layout),
      context_(function_->registers), base_(function_->registers + 1), frame_(function_->registers + 2),
      known_(program.known_addresses(index)) {}

void FunctionEmitter::plan() {
  Flow flow(*function_);
  stack_alignments_ = find_stack_alignments(*function_, layout_);
  place_claim(flow);
  describe(flow);
  allocation_ = allocate_registers(steps_);
}

uint32_t FunctionEmitter::parameters() const {
  switch (function_->role) {
  case ir::Role::probe: return 1;
  case ir::Role::function: return function_->parameters + (unit_.needs_context(index_) ? 1 : 0);
  case ir::Role::body: break;
  }
  return function_->parameters == 1 ? 2 : 4; // (index, frame), (map, key, value, frame)
}

// ---------------------------------------------------------------------------------- scratch memory

bool FunctionEmitter::uses_scratch(const ir::Inst& i) const {
  if (i.op == Op::lend || (i.op == Op::event && claims_before_events_)) return true;
  if (i.op == Op::loop || i.op == Op::for_each) return layout_.base_slot != 0;
  auto in_scratch = [&](uint32_t object) { return layout_.objects[object].kind == ObjectPlace::in_scratch; };
  if (i.op == Op::object) return !is_elided(i) && in_scratch(i.index);
  bool found = false;
  ir::for_each_operand(i, [&](const ir::Operand& o) {
    if (const KnownAddress* k = known(o); k && !is_elided(i)) found |= in_scratch(k->object);
  });
  return found;
}

// The block that every use of scratch memory is behind, or in.
ir::BlockId FunctionEmitter::find_claim(const Flow& flow) const {
  ir::BlockId claim = ir::no_block;
  for (ir::BlockId b = 0; b < function_->blocks.size(); b++) {
    if (!flow.reachable(b)) continue;
    for (const ir::Inst& i : function_->blocks[b].insts)
      if (uses_scratch(i)) {
        if (claim == ir::no_block)
          claim = b;
        else if (!flow.dominates(claim, b))
          claim = flow.common_dominator(claim, b);
        break;
      }
  }
  return claim;
}

// Is a record made before the first use of scratch memory in this block, and not sent yet? A program that gets no
// scratch memory ends, and would lose it.
bool FunctionEmitter::holds_record(const Flow& flow, ir::BlockId claim) const {
  for (ir::BlockId b = claim;; b = flow.dominator[b]) {
    const auto& insts = function_->blocks[b].insts;
    size_t end = insts.size();
    if (b == claim)
      for (end = 0; end < insts.size() && !uses_scratch(insts[end]);) end++;
    while (end-- > 0) {
      if (insts[end].op == Op::send) return false;
      if (insts[end].op == Op::event) return true;
    }
    if (b == 0) return false;
  }
}

// The claim stands as late as possible: where every use of scratch memory is behind it, so that a filter that
// says no costs nothing.
void FunctionEmitter::place_claim(Flow& flow) {
  claimed_.assign(function_->blocks.size(), false);
  if (!is_root() || layout_.scratch_bytes == 0) return;
  ir::BlockId claim = find_claim(flow);
  if (claim == ir::no_block) return;
  if (holds_record(flow, claim)) {
    claims_before_events_ = true;
    claim = find_claim(flow);
  }
  while (claim != 0 && flow.in_cycle(*function_, claim)) claim = flow.dominator[claim];
  if (separate_exits(flow, claim)) flow = Flow(*function_);
  // An exit that is reached with and without a claim: claim at once.
  std::vector<bool> seen(function_->blocks.size(), false);
  std::vector<ir::BlockId> work{claim};
  while (!work.empty()) {
    const ir::BlockId b = work.back();
    work.pop_back();
    if (!flow.dominates(claim, b)) {
      const Op last = function_->blocks[b].insts.back().op;
      if (last == Op::give_back || last == Op::unreachable) claim = 0;
    }
    for (const ir::BlockId s : ir::successors(function_->blocks[b]))
      if (!seen[s]) seen[s] = true, work.push_back(s);
  }
  claim_block_ = claim;
  const auto& insts = function_->blocks[claim].insts;
  while (claim_before_ + 1 < insts.size() && !uses_scratch(insts[claim_before_])) claim_before_++;
  claimed_.assign(function_->blocks.size(), false);
  for (const ir::BlockId b : flow.order) claimed_[b] = b == claim || claimed_[flow.dominator[b]];
}

// Gives the way that holds scratch memory an exit of its own, in a copy of the function; whether that made blocks.
bool FunctionEmitter::separate_exits(const Flow& flow, ir::BlockId claim) {
  const size_t n = function_->blocks.size();
  for (ir::BlockId e = 0; e < n; e++) {
    if (!flow.reachable(e) || flow.dominates(claim, e)) continue;
    const auto& exit = function_->blocks[e].insts;
    if (exit.back().op != Op::give_back || exit.size() > 6) continue;
    ir::BlockId copy = ir::no_block;
    for (const ir::BlockId p : flow.predecessors(e)) {
      if (!flow.dominates(claim, p)) continue;
      if (!own_function_) function_ = (own_function_ = std::make_unique<ir::Function>(*function_)).get();
      auto& blocks = own_function_->blocks;
      if (copy == ir::no_block) {
        copy = static_cast<ir::BlockId>(blocks.size());
        blocks.push_back(ir::Block(blocks[e]));
      }
      ir::Inst& last = blocks[p].insts.back();
      if (last.target == e) last.target = copy;
      if (last.other == e) last.other = copy;
    }
  }
  return function_->blocks.size() != n;
}

// ------------------------------------------------------------------------------------------- steps

bool FunctionEmitter::is_elided(const ir::Inst& i) const {
  return ir::defines(i) && i.dst < known_.size() && known_[i.dst].is_known;
}

void FunctionEmitter::use(const ir::Operand& o, bool until_end) {
  if (!o.is_reg()) return;
  const KnownAddress* k = known(o);
  if (!k) return steps_.use(o.as_reg(), until_end);
  if (layout_.objects[k->object].kind == ObjectPlace::in_scratch)
    steps_.use(base_, until_end);
  else if (!is_root())
    steps_.use(frame_, until_end);
}

void FunctionEmitter::describe(const ir::Inst& i) {
  steps_.begin_step();
  Step& s = steps_.steps.back();
  if (is_elided(i)) return;
  s.call = (ir::is_call(i) && i.op != Op::count_fault) || (i.op == Op::load && loads_by_call(i));
  if (ir::defines(i)) s.def = i.dst;
  switch (i.op) {
  case Op::object: {
    const ObjectPlace& place = layout_.objects[i.index];
    if (place.kind == ObjectPlace::in_scratch)
      steps_.use(base_);
    else if (!is_root())
      steps_.use(frame_);
    return;
  }
  case Op::load:
    if (i.space == ir::Space::context)
      steps_.use(context_);
    else
      use(i.a);
    return;
  case Op::context_address: steps_.use(context_); return;
  case Op::lend:
    if (!is_root()) steps_.use(frame_);
    return;
  case Op::override: steps_.use(context_); break;
  case Op::query:
    if (i.query == ir::Query::cookie) steps_.use(context_);
    break;
  case Op::stack:
    steps_.use(context_, true);
    use(i.a, true);
    return;
  case Op::task_name: use(i.a, true), use(i.b, true); return; // several calls
  case Op::send:
  case Op::commit: use(i.a, true); return;
  case Op::copy:
  case Op::zero: s.call = i.imm2 > 256; break;
  case Op::equal: s.call = true; break; // for its registers
  case Op::read_string: use(i.a, true), use(i.b, true), use(i.c); return;
  case Op::read_bytes: use(i.a), use(i.b), use(i.c, true); return;
  case Op::map_find:
  case Op::map_find_cpu:
  case Op::map_slot:
  case Op::map_store:
  case Op::map_remove:
  case Op::map_size: describe_map(s, i); return;
  case Op::call:
    ir::for_each_operand(i, [&](const ir::Operand& o) { use(o); });
    if (unit_.needs_context(i.index)) steps_.use(context_);
    return;
  case Op::loop:
    use(i.a, true);
    if (!is_root()) steps_.use(frame_, true);
    return;
  case Op::for_each:
    if (!is_root()) steps_.use(frame_);
    return;
  case Op::give_back: use(i.a); return;
  default: break;
  }
  ir::for_each_operand(i, [&](const ir::Operand& o) { use(o); });
  if (ir::is_arithmetic(i.op) && i.a.is_reg() && !known(i.a)) s.same_as = i.a.as_reg();
}

void FunctionEmitter::describe_map(Step& s, const ir::Inst& i) {
  const ir::MapKind kind = map_of(i).kind;
  const bool has_key = !ir::is_scalar(kind) && kind != ir::MapKind::task;
  const bool is_array = kind == ir::MapKind::array;
  switch (i.op) {
  case Op::map_find: s.call = !is_array; break;
  case Op::map_find_cpu:
    use(i.b);
    s.call = !is_array;
    break;
  case Op::map_slot:
    if (i.b.kind != ir::Operand::none) use(i.b, true);
    s.call = !is_array;
    break;
  case Op::map_store: use(i.b, kind == ir::MapKind::task); break;
  case Op::map_size: s.call = !ir::is_scalar(kind); return;
  default: break;
  }
  const bool several_calls = i.op == Op::map_slot || (has_hot(i) && (i.op == Op::map_find || i.op == Op::map_remove));
  if (has_key) use(i.a, several_calls);
}

void FunctionEmitter::describe(const Flow& flow) {
  std::vector<ir::BlockId> place(function_->blocks.size(), ir::no_block);
  size_t most_steps = 1; // with the claim
  for (const ir::BlockId b : flow.order) {
    most_steps += function_->blocks[b].insts.size();
    place[b] = static_cast<ir::BlockId>(order_.size());
    order_.push_back(b);
    for (const ir::Inst& i : function_->blocks[b].insts) {
      has_positions_ |= i.op == Op::event && program_.actions[i.index].overwrites;
      has_stacks_ |= i.op == Op::stack;
      walks_ |= unit_.may_walk(i);
    }
  }
  steps_.registers = function_->registers + 3;
  auto arrives = [&](ir::Reg r, int where) {
    steps_.parameters.push_back(r);
    steps_.arrives.push_back(static_cast<Register>(where));
  };
  const bool is_each = function_->role == ir::Role::body && function_->parameters == 2;
  for (uint32_t p = 1; p <= function_->parameters; p++) arrives(p, static_cast<int>(is_each ? p + 1 : p));
  if (is_root()) {
    arrives(context_, static_cast<int>(function_->parameters + 1));
  } else {
    arrives(frame_, is_each ? r4 : r2);
    arrives(context_, r5); // the prologue fetches these two
    arrives(base_, is_each ? r1 : r4);
  }
  steps_.steps.reserve(most_steps);
  steps_.uses.reserve(2 * most_steps);
  steps_.blocks.reserve(order_.size());
  for (const ir::BlockId b : order_) {
    StepBlock block;
    block.first = static_cast<uint32_t>(steps_.steps.size());
    const auto& insts = function_->blocks[b].insts;
    for (size_t n = 0; n < insts.size(); n++) {
      if (b == claim_block_ && n == claim_before_) {
        steps_.begin_step();
        steps_.steps.back().call = true;
        steps_.steps.back().def = base_;
      }
      describe(insts[n]);
      const bool leaves = insts[n].op == Op::give_back || insts[n].op == Op::unreachable;
      if (leaves && claimed_[b]) steps_.use(base_, true);
    }
    block.last = static_cast<uint32_t>(steps_.steps.size() - 1);
    const ir::Successors to = ir::successors(insts.back());
    for (uint32_t n = 0; n < to.count; n++) block.next[n] = place[to.ids[n]];
    block.def_only_on_first = ir::has_fault_edge(insts.back());
    steps_.blocks.push_back(block);
  }
}

// -------------------------------------------------------------------------------------------- code

void FunctionEmitter::emit_prologue() {
  const bool is_each = function_->role == ir::Role::body && function_->parameters == 2;
  if (is_root()) {
    if (layout_.context_slot)
      out_.store(r10, layout_.context_slot, static_cast<Register>(function_->parameters + 1), 8);
  } else {
    const Register frame = is_each ? r4 : r2;
    if (at(context_).kind != Location::unused) out_.load(r5, frame, layout_.context_slot, 8);
    if (at(base_).kind != Location::unused) {
      // In each-bodies r1 is the map, which nobody reads; otherwise r4 is free.
      out_.load(is_each ? r1 : r4, frame, layout_.base_slot, 8);
    }
  }
  std::vector<Argument> moves;
  for (size_t i = 0; i < steps_.parameters.size(); i++) {
    if (is_root() && steps_.parameters[i] == base_) continue;
    const Location& l = at(steps_.parameters[i]);
    const Register from = steps_.arrives[i];
    if (l.kind == Location::in_slot) out_.store(r10, slot_offset(l), from, 8);
    if (l.kind == Location::in_register && l.reg != from)
      moves.push_back({.kind = Argument::from_register, .to = l.reg, .from = from});
  }
  arguments(std::move(moves));
}

base::Status FunctionEmitter::emit() {
  for (size_t b = 0; b < function_->blocks.size(); b++) block_labels_.push_back(out_.label());
  out_.place(function_->blocks[0].insts[0].where);
  out_.begin_function(index_, function_->name, parameters(), unit_.stands_alone(index_));
  if (is_piece(*function_)) out_.needs_types(); // with which the verifier checks it by itself
  emit_prologue();
  if (function_->role == ir::Role::probe && unit_.walks()) emit_plain_stack();
  for (size_t n = 0; n < order_.size(); n++) emit_block(n);
  out_.end_function();
  return std::move(status_);
}

void FunctionEmitter::emit_block(size_t order) {
  block_ = order_[order];
  next_ = order + 1 < order_.size() ? order_[order + 1] : ir::no_block;
  out_.bind(label(block_));
  fused_ = false;
  const auto& insts = function_->blocks[block_].insts;
  for (size_t n = 0; n < insts.size() && !fused_; n++) { // fused: with the branch that ends the block
    if (block_ == claim_block_ && n == claim_before_) emit_claim();
    if (is_elided(insts[n])) continue;
    out_.place(insts[n].where);
    emit(insts[n]);
  }
}

void FunctionEmitter::emit(const ir::Inst& i) {
  switch (i.op) {
  case Op::mov: {
    const Register w = target(i.dst, r0);
    load_into(w, i.a);
    return finish(i.dst, w);
  }
  case Op::add: return emit_binary(i, BPF_ADD, true);
  case Op::sub: return emit_binary(i, BPF_SUB, false);
  case Op::mul: return emit_binary(i, BPF_MUL, true);
  case Op::udiv: return emit_binary(i, BPF_DIV, false);
  case Op::umod: return emit_binary(i, BPF_MOD, false);
  case Op::and_: return emit_binary(i, BPF_AND, true);
  case Op::or_: return emit_binary(i, BPF_OR, true);
  case Op::xor_: return emit_binary(i, BPF_XOR, true);
  case Op::shl: return emit_binary(i, BPF_LSH, false);
  case Op::lshr: return emit_binary(i, BPF_RSH, false);
  case Op::ashr: return emit_binary(i, BPF_ARSH, false);
  case Op::zext:
  case Op::sext:
  case Op::bswap: return emit_extend(i);
  case Op::number_of: return emit_number_of(i);
  case Op::log2: return emit_log2(i);
  case Op::set: return emit_set(i);
  case Op::object: return emit_object(i);
  case Op::load: return emit_load(i);
  case Op::store: return emit_store(i);
  case Op::copy: return emit_copy(i);
  case Op::zero: return emit_zero(i);
  case Op::read: return emit_read(i);
  case Op::read_string: return emit_read_string(i);
  case Op::read_bytes: return emit_read_bytes(i);
  case Op::equal: return emit_equal(i);
  case Op::context_address: return finish(i.dst, value(context_, r0));
  case Op::lend: return emit_lend(i);
  case Op::borrow: return emit_borrow(i);
  case Op::name: return emit_name(i);
  case Op::query: return emit_query(i);
  case Op::task_name: return emit_task_name(i);
  case Op::cpu_variable: return emit_cpu_variable(i);
  case Op::packet: return emit_packet(i);
  case Op::print: return emit_print(i);
  case Op::socket_cookie:
  case Op::path:
  case Op::signal:
  case Op::write_user:
  case Op::override: return emit_effect(i);
  case Op::stack: return emit_stack(i);
  case Op::stack_depth: return emit_stack_depth(i);
  case Op::blur: return emit_blur(i);
  case Op::memory_map: // the checker lets it pass only for stopped programs
  case Op::cpu_count: return finish_number(i.dst, options_.possible_cpus);
  case Op::table: return emit_table(i);
  case Op::map_find: return emit_find(i);
  case Op::map_find_cpu: return emit_find_cpu(i);
  case Op::map_slot: return emit_slot(i);
  case Op::map_store: return emit_store_value(i);
  case Op::map_remove: return emit_remove(i);
  case Op::map_size: return emit_size(i);
  case Op::exchange: return emit_exchange(i);
  case Op::add_memory: return emit_add_memory(i);
  case Op::event: return emit_event(i);
  case Op::send: return emit_send(i);
  case Op::hold: return emit_hold(i);
  case Op::commit: return emit_commit(i);
  case Op::count_fault: return count(pool_.site_counter(i.index));
  case Op::call: return emit_call(i);
  case Op::loop: return emit_loop(i);
  case Op::for_each: return emit_for_each(i);
  case Op::jump: return go(i.target);
  case Op::branch: return emit_branch(i);
  case Op::give_back:
  case Op::unreachable: return emit_give_back(i);
  }
}

} // namespace bpf
