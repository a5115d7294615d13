// One long function in pieces: which blocks become one, what they have in common, and how it is written anew.
#include "bpf/pieces.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace bpf {
namespace {

using ir::BlockId;
using ir::Inst;
using ir::Op;
using ir::Operand;
using ir::Reg;
using ir::Role;

constexpr uint32_t rest = 0, no_unit = ~0u, several_units = ~0u - 1;

// Where something is used: in one unit, or in several.
void add_unit(uint32_t& units, uint32_t unit) { units = units == no_unit || units == unit ? unit : several_units; }

// A long function and the functions that have its frame: bodies of loops, which may be long as well. Units are their pieces, and all
// that is left; the body of a loop that is not long belongs to the unit that its loop is in.
class Group {
public:
  Group(ir::Program& program, const AddressUse& addresses, const PieceSizes& sizes, const std::vector<bool>& is_cut, std::vector<uint32_t> members)
      : program_(program), addresses_(addresses), sizes_(sizes), is_cut_(is_cut), members_(std::move(members)),
        frame_(program.functions[members_[0]].frame) {}

  void run() {
    find_units();
    if (pieces_.empty() || !find_uses()) return;
    lay_out();
    for (const uint32_t m : members_)
      if (unit_of_.contains(m))
        keep_rest(m);
      else if (unit_of_body_[m] == rest)
        use_lent_object(program_.functions[m]);
    for (Piece& p : pieces_) fill(p);
    const bool lends = std::ranges::any_of(pieces_, [&](const Piece& p) { return borrows(p); });
    for (const uint32_t m : members_) {
      if (!unit_of_.contains(m)) continue;
      if (!lends) lend_nothing(m);
      clean(m);
    }
    share_borrow();
  }

private:
  struct Piece {
    uint32_t owner = 0; // the long function
    uint32_t unit = 0;
    Region region;
    std::vector<ir::Block> blocks; // as they were, in the order of the region
    uint32_t function = 0;
    std::unordered_map<uint32_t, uint32_t> objects; // of the frame: those of the piece
  };
  // What a function knows while its blocks are written anew.
  struct Writing {
    uint32_t owner = 0, unit = 0;
    ir::Function* function = nullptr;
    Piece* piece = nullptr; // or what is left of the owner
    const std::vector<int64_t>* places = nullptr; // of the owner's registers in the lent object
    Reg shared = 0;            // the address of the lent object
    std::vector<Reg> renamed;  // by register of the owner; 0: it is not used
    std::vector<bool> at_hand; // by register of the owner: it was set or fetched in this block
    std::vector<Reg> named, fetched; // those, to forget them
    Reg name(Reg r) {
      Reg& n = renamed[r];
      if (n) return n;
      named.push_back(r);
      return n = piece ? function->registers++ : r;
    }
    void forget_fetched() {
      for (const Reg r : fetched) at_hand[r] = false;
      fetched.clear();
    }
  };

  void find_units();
  void set_bodies(const ir::Block& block, uint32_t unit);
  bool find_uses();
  void find_registers(uint32_t member);
  void lay_out();
  bool is_shared_object(uint32_t object) const { return place_of_object_[object] >= 0; }
  void use_lent_object(ir::Function& function) const;
  void keep_rest(uint32_t member);
  ir::Block call_of(Piece& piece, ir::Function& owner, BlockId leave);
  void fill(Piece& piece);
  void move_body(Piece& piece, uint32_t body);
  Writing& begin_writing(uint32_t owner, uint32_t unit, ir::Function& function, Piece* piece);
  void rewrite(Writing& w, std::vector<Inst> insts, BlockId block);
  void rewrite_object(Writing& w, std::vector<Inst>& out, Inst i);
  void fetch(Writing& w, std::vector<Inst>& out, Reg r, base::Range where);
  void keep(Writing& w, std::vector<Inst>& out, Reg r, base::Range where);
  void repeat_addresses(Writing& w, std::vector<Inst>& out);
  uint32_t object_of(Piece& piece, uint32_t object);
  bool borrows(const Piece& piece) const;
  void share_borrow();
  void borrow_by(uint32_t finder, std::vector<ir::Block>& blocks);
  void lend_nothing(uint32_t member);
  void clean(uint32_t function);

  ir::Program& program_;
  const AddressUse& addresses_;
  const PieceSizes& sizes_;
  const std::vector<bool>& is_cut_;
  const std::vector<uint32_t> members_; // the function with the frame first
  const uint32_t frame_;
  uint32_t units_ = rest + 1;
  std::vector<Piece> pieces_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> unit_of_; // of long functions: by block
  std::unordered_map<uint32_t, uint32_t> unit_of_body_;         // of bodies: the unit of their loop
  std::vector<uint32_t> units_of_object_;
  std::vector<bool> in_body_piece_; // by object: used in a piece of the body of a loop, which runs several times
  std::vector<bool> is_passed_;     // by object: functions are given its address
  std::vector<bool> is_read_;       // by object: more is done with it than that and writing to it
  std::vector<int64_t> place_of_object_; // in the lent object; -1: not there
  std::unordered_map<uint32_t, std::vector<int64_t>> place_of_register_; // of long functions, by register
  struct Repeated {
    Reg reg = 0;
    Inst made;
    uint32_t unit = no_unit; // that it was in
  };
  std::unordered_map<uint32_t, std::vector<Repeated>> repeated_; // of long functions: what sets registers anew in each unit
  Writing writing_;
  std::vector<Inst> rewritten_; // instructions of the block that is being written
  std::vector<BlockId> number_in_piece_; // by block of a long function: in the piece that is being filled
  uint32_t lent_ = 0; // the object
  uint32_t lent_bytes_ = 0;
};

// ----------------------------------------------------------------------------------------------- units

// Blocks that only return a constant become one for each constant, so that a piece has fewer ways out.
void merge_exits(ir::Function& function) {
  std::unordered_map<int64_t, BlockId> returns;
  std::vector<BlockId> instead(function.blocks.size());
  for (BlockId b = 0; b < function.blocks.size(); b++) {
    const std::vector<Inst>& insts = function.blocks[b].insts;
    const bool is_one = insts.size() == 1 && insts[0].op == Op::give_back && insts[0].a.is_constant();
    instead[b] = is_one ? returns.try_emplace(insts[0].a.value, b).first->second : b;
  }
  for (ir::Block& b : function.blocks) {
    if (b.insts.empty() || ir::successors(b).count == 0) continue;
    Inst& last = b.insts.back();
    last.target = instead[last.target];
    if (last.other != ir::no_block) last.other = instead[last.other];
  }
}

void Group::find_units() {
  for (const uint32_t m : members_) unit_of_body_[m] = rest;
  std::vector<bool> fixed(program_.functions.size(), false);
  for (const uint32_t m : members_) // with the functions around them
    if (is_cut_[m])
      for (uint32_t f = m; program_.functions[f].role == Role::body; f = program_.functions[f].parent) fixed[f] = true;
  for (const uint32_t m : members_) {
    ir::Function& f = program_.functions[m];
    if (!is_cut_[m]) continue;
    const CutFacts facts{program_, addresses_, m, fixed};
    merge_exits(f);
    if (split_blocks(f, facts, sizes_)) take_addresses_anew(f);
    unit_of_[m].assign(f.blocks.size(), rest);
    for (Region& r : find_regions(f, facts, sizes_)) {
      for (const BlockId b : r.blocks) unit_of_[m][b] = units_;
      Piece p;
      p.owner = m;
      p.unit = units_++;
      p.region = std::move(r);
      pieces_.push_back(std::move(p));
    }
  }
  for (const uint32_t m : members_) { // outer ones come first
    const ir::Function& f = program_.functions[m];
    number_in_piece_.resize(std::max(number_in_piece_.size(), f.blocks.size()));
    for (BlockId b = 0; b < f.blocks.size(); b++) set_bodies(f.blocks[b], unit_of_.contains(m) ? unit_of_[m][b] : unit_of_body_[m]);
  }
}

void Group::set_bodies(const ir::Block& block, uint32_t unit) {
  for (const Inst& i : block.insts) {
    if (i.op == Op::loop && !unit_of_.contains(i.index)) unit_of_body_[i.index] = unit;
    if (i.op == Op::for_each && !unit_of_.contains(static_cast<uint32_t>(i.imm))) unit_of_body_[static_cast<uint32_t>(i.imm)] = unit;
  }
}

// ------------------------------------------------------------------------------------------------ uses

// false: an address that is kept in an object would have to be known in several units, so that nothing can be cut.
bool Group::find_uses() {
  const size_t objects = program_.frames[frame_].objects.size();
  units_of_object_.assign(objects, no_unit);
  in_body_piece_.assign(objects, false);
  is_passed_.assign(objects, false);
  is_read_.assign(objects, false);
  std::vector<bool> is_of_body(units_, false);
  for (const Piece& p : pieces_) is_of_body[p.unit] = program_.functions[p.owner].role == Role::body;
  for (const uint32_t m : members_) {
    const ir::Function& f = program_.functions[m];
    for (BlockId b = 0; b < f.blocks.size(); b++) {
      const uint32_t unit = unit_of_.contains(m) ? unit_of_[m][b] : unit_of_body_[m];
      for (const Inst& i : f.blocks[b].insts)
        if (i.op == Op::object) {
          add_unit(units_of_object_[i.index], unit);
          if (is_of_body[unit]) in_body_piece_[i.index] = true;
          if (!unit_of_.contains(m)) is_read_[i.index] = true;
        }
    }
    if (unit_of_.contains(m)) find_registers(m);
  }
  const auto& holders = addresses_.holders[frame_];
  for (size_t o = 0; o < objects; o++) {
    if (!holders[o]) continue;
    if (units_of_object_[o] == several_units) return false;
    in_body_piece_[o] = false;
  }
  return true;
}

// Which registers are kept in the lent object, and which are set anew in each unit.
void Group::find_registers(uint32_t member) {
  const ir::Function& f = program_.functions[member];
  std::vector<uint32_t> units(f.registers, no_unit), set_in(f.registers, no_unit);
  std::vector<uint32_t> assigned(f.registers);
  std::vector<const Inst*> last(f.registers);
  for (Reg r = 1; r <= f.parameters; r++) units[r] = unit_of_[member][0] == rest ? rest : several_units, assigned[r] = 1;
  std::vector<uint32_t> object_at(f.registers, no_unit); // each block takes the addresses that it uses
  for (BlockId b = 0; b < f.blocks.size(); b++) {
    const uint32_t unit = unit_of_[member][b];
    for (const Inst& i : f.blocks[b].insts) {
      if (i.op == Op::object) object_at[i.dst] = i.index;
      ir::for_each_operand(i, [&](const Operand& o) {
        const uint32_t object = o.is_reg() ? object_at[o.as_reg()] : no_unit;
        if (object == no_unit) return;
        const bool is_written = &o == &i.a && (i.op == Op::store || i.op == Op::zero || i.op == Op::name || i.op == Op::copy);
        if (i.op == Op::call)
          is_passed_[object] = true;
        else if (!is_written)
          is_read_[object] = true;
      });
      if (ir::defines(i)) {
        add_unit(units[i.dst], set_in[i.dst] = unit);
        assigned[i.dst]++;
        last[i.dst] = &i;
      }
      ir::for_each_use(i, [&](Reg r) { add_unit(units[r], unit); });
    }
  }
  const auto& is_address = addresses_.addresses[member];
  auto& places = place_of_register_[member];
  auto& repeated = repeated_[member];
  places.assign(f.registers, -1);
  for (Reg r = 1; r < f.registers; r++) {
    if (units[r] != several_units) continue;
    const Inst* made = assigned[r] == 1 ? last[r] : nullptr;
    if (made && is_repeatable(*made) && r < is_address.size() && is_address[r]) {
      repeated.push_back({r, *made, set_in[r]});
      continue;
    }
    places[r] = lent_bytes_;
    lent_bytes_ += 8;
  }
}

void Group::lay_out() {
  place_of_object_.assign(units_of_object_.size(), -1);
  const auto& objects = program_.frames[frame_].objects;
  for (uint32_t o = 0; o < objects.size(); o++) {
    const uint32_t unit = units_of_object_[o];
    const bool is_private = unit != several_units && (unit == no_unit || unit == rest || !in_body_piece_[o]);
    if (is_private) continue;
    place_of_object_[o] = lent_bytes_;
    lent_bytes_ += (objects[o].size + 7) / 8 * 8;
  }
  // Keys that a piece makes for functions stand there, too: what the verifier knows of the stack is worked out anew at the end of each
  // function that may have read it. Pieces use the same memory, as they run one after the other.
  std::vector<uint32_t> used(units_);
  for (uint32_t o = 0; o < objects.size(); o++) {
    const uint32_t unit = units_of_object_[o];
    if (place_of_object_[o] >= 0 || unit == no_unit || unit == rest || !is_passed_[o] || is_read_[o] || addresses_.holders[frame_][o]) continue;
    place_of_object_[o] = lent_bytes_ + used[unit];
    used[unit] += (objects[o].size + 7) / 8 * 8;
  }
  lent_bytes_ += *std::ranges::max_element(used);
  lent_bytes_ = std::max(lent_bytes_, 8u);
  lent_ = static_cast<uint32_t>(objects.size());
  program_.frames[frame_].objects.push_back({lent_bytes_, "shared"});
}

// -------------------------------------------------------------------------------------------- rewriting

// The same memory for each: what it knew is forgotten.
Group::Writing& Group::begin_writing(uint32_t owner, uint32_t unit, ir::Function& function, Piece* piece) {
  Writing& w = writing_;
  w.forget_fetched();
  for (const Reg r : w.named) w.renamed[r] = 0;
  w.named.clear();
  w.owner = owner;
  w.unit = unit;
  w.function = &function;
  w.piece = piece;
  w.places = &place_of_register_[owner];
  w.shared = function.registers++;
  w.renamed.resize(std::max(w.renamed.size(), w.places->size()));
  w.at_hand.resize(w.renamed.size());
  return w;
}

void Group::fetch(Writing& w, std::vector<Inst>& out, Reg r, base::Range where) {
  const int64_t place = (*w.places)[r];
  if (place < 0 || w.at_hand[r]) return;
  w.at_hand[r] = true;
  w.fetched.push_back(r);
  out.push_back({.op = Op::load, .size = 8, .space = ir::Space::script, .dst = w.name(r), .a = Operand::of(w.shared), .imm = place, .where = where});
}

void Group::keep(Writing& w, std::vector<Inst>& out, Reg r, base::Range where) {
  const int64_t place = (*w.places)[r];
  if (place < 0) return;
  if (!w.at_hand[r]) w.fetched.push_back(r);
  w.at_hand[r] = true;
  out.push_back({.op = Op::store, .size = 8, .space = ir::Space::script, .a = Operand::of(w.shared), .b = Operand::of(w.name(r)), .imm = place, .where = where});
}

uint32_t Group::object_of(Piece& piece, uint32_t object) {
  auto& objects = program_.frames[program_.functions[piece.function].frame].objects;
  const auto [at, is_new] = piece.objects.try_emplace(object, static_cast<uint32_t>(objects.size()));
  if (is_new) objects.push_back(program_.frames[frame_].objects[object]);
  return at->second;
}

// The address of an object: of one of the piece, or of a part of the lent one.
void Group::rewrite_object(Writing& w, std::vector<Inst>& out, Inst i) {
  if (is_shared_object(i.index)) {
    i = {.op = Op::add, .dst = i.dst, .a = Operand::of(w.shared), .b = Operand::number(place_of_object_[i.index] + i.imm), .where = i.where};
    if (!w.piece) i = {.op = Op::object, .dst = i.dst, .imm = i.b.value, .index = lent_, .where = i.where};
  } else if (w.piece) {
    i.index = object_of(*w.piece, i.index);
  }
  out.push_back(i);
}

// The instructions of a block, with values that others use fetched from the lent object and kept there.
// Then they are `block` of the function.
void Group::rewrite(Writing& w, std::vector<Inst> insts, BlockId block) {
  w.forget_fetched();
  std::vector<Inst>& out = rewritten_;
  out.clear();
  for (Inst i : insts) {
    ir::for_each_use(i, [&](Reg r) { fetch(w, out, r, i.where); });
    ir::for_each_operand(i, [&](Operand& o) {
      if (o.is_reg()) o = Operand::of(w.name(o.as_reg()));
    });
    const Reg set = ir::defines(i) ? i.dst : 0;
    if (set) i.dst = w.name(set);
    if (w.piece && i.op == Op::loop) move_body(*w.piece, i.index);
    if (w.piece && i.op == Op::for_each) move_body(*w.piece, static_cast<uint32_t>(i.imm));
    if (i.op == Op::object)
      rewrite_object(w, out, i);
    else
      out.push_back(i);
    if (!set || (*w.places)[set] < 0) continue;
    if (!ir::ends_block(out.back())) {
      keep(w, out, set, i.where);
      continue;
    }
    // A load that may fault ends its block: the value is kept on the way where there is one.
    std::vector<Inst> between;
    keep(w, between, set, i.where);
    between.push_back({.op = Op::jump, .target = out.back().target, .where = i.where});
    out.back().target = static_cast<BlockId>(w.function->blocks.size());
    w.function->blocks.push_back({std::move(between)});
  }
  insts.assign(out.begin(), out.end()); // often in the memory they had
  w.function->blocks[block].insts = std::move(insts);
}

// Addresses that the verifier follows and that are set elsewhere.
void Group::repeat_addresses(Writing& w, std::vector<Inst>& out) {
  for (const Repeated& r : repeated_.find(w.owner)->second) {
    if (r.unit == w.unit || !w.renamed[r.reg]) continue;
    Inst again = r.made;
    again.dst = w.name(r.reg);
    out.push_back(again);
  }
}

// ------------------------------------------------------------------------------------- what is left of it

// A function that is not cut.
void Group::use_lent_object(ir::Function& function) const {
  for (ir::Block& b : function.blocks)
    for (Inst& i : b.insts)
      if (i.op == Op::object && is_shared_object(i.index)) {
        i.imm += place_of_object_[i.index];
        i.index = lent_;
      }
}

// Calls a piece, and goes on where it left.
ir::Block Group::call_of(Piece& piece, ir::Function& owner, BlockId leave) {
  const base::Range where = piece.blocks[0].insts[0].where;
  const Reg number = owner.registers++, left = owner.registers++;
  ir::Block first;
  first.insts.push_back({.op = Op::lend, .dst = number, .index = lent_, .where = where});
  first.insts.push_back({.op = Op::call, .dst = left, .a = Operand::of(number), .index = piece.function, .where = where});
  ir::Block* at = &first;
  const auto& exits = piece.region.exits;
  for (size_t n = 0; n < exits.size(); n++) {
    const bool is_last = n + 1 == exits.size();
    const BlockId next = is_last ? leave : static_cast<BlockId>(owner.blocks.size());
    at->insts.push_back({.op = Op::branch, .cond = ir::Cond::eq, .a = Operand::of(left), .b = Operand::number(static_cast<int64_t>(n + 1)),
                         .target = exits[n], .other = next, .where = where});
    if (is_last) break;
    owner.blocks.emplace_back();
    at = &owner.blocks.back();
  }
  if (exits.empty()) first.insts.push_back({.op = Op::jump, .target = leave, .where = where});
  return first;
}

void Group::keep_rest(uint32_t member) {
  const auto empty_frame = [&] {
    program_.frames.emplace_back();
    return static_cast<uint32_t>(program_.frames.size() - 1);
  };
  for (Piece& p : pieces_) {
    if (p.owner != member) continue;
    ir::Function f;
    f.name = program_.functions[member].name + ".piece";
    f.role = Role::function;
    f.parent = member;
    f.parameters = 1;
    f.registers = 2;
    f.frame = empty_frame();
    p.function = static_cast<uint32_t>(program_.functions.size());
    for (const BlockId b : p.region.blocks) p.blocks.push_back(std::move(program_.functions[member].blocks[b]));
    program_.functions.push_back(std::move(f));
  }
  ir::Function& f = program_.functions[member];
  Writing& w = begin_writing(member, rest, f, nullptr);
  const base::Range where = f.blocks[0].insts.empty() ? base::Range{} : f.blocks[0].insts[0].where;
  const std::vector<uint32_t>& units = unit_of_[member];
  for (BlockId b = 0; b < units.size(); b++) {
    if (units[b] == rest) rewrite(w, std::move(f.blocks[b].insts), b);
  }
  const auto leave = static_cast<BlockId>(f.blocks.size());
  f.blocks.push_back({{{.op = Op::give_back, .a = Operand::number(f.role == Role::body), .where = where}}});
  for (Piece& p : pieces_) {
    if (p.owner != member) continue;
    for (const BlockId b : p.region.blocks) f.blocks[b].insts = {{.op = Op::unreachable, .where = where}};
    ir::Block call = call_of(p, f, leave);
    f.blocks[p.region.head] = std::move(call);
  }
  std::vector<Inst> begin{{.op = Op::object, .dst = w.shared, .index = lent_, .where = where}};
  repeat_addresses(w, begin);
  w.forget_fetched();
  for (Reg r = 1; r <= f.parameters; r++) keep(w, begin, r, where);
  f.blocks[0].insts.insert(f.blocks[0].insts.begin(), begin.begin(), begin.end());
}

bool Group::borrows(const Piece& piece) const {
  const std::vector<Inst>& begin = program_.functions[piece.function].blocks[0].insts;
  return std::ranges::any_of(begin, [](const Inst& i) { return i.op == Op::borrow; });
}

// One function finds the lent object for all pieces: the kernel compiles each look-up in a map anew, in time that grows with the
// whole program.
void Group::share_borrow() {
  if (std::ranges::count_if(pieces_, [&](const Piece& p) { return borrows(p); }) < 2) return;
  program_.frames.emplace_back();
  const auto finder = static_cast<uint32_t>(program_.functions.size());
  ir::Function f;
  f.name = program_.functions[members_[0]].name + ".borrow";
  f.role = Role::function;
  f.parent = members_[0];
  f.parameters = 1;
  f.registers = 3;
  f.frame = static_cast<uint32_t>(program_.frames.size() - 1);
  f.blocks.push_back({{{.op = Op::borrow, .dst = 2, .a = Operand::of(1)}, {.op = Op::give_back, .a = Operand::of(2)}}});
  program_.functions.push_back(std::move(f));
  for (const Piece& p : pieces_)
    if (borrows(p)) borrow_by(finder, program_.functions[p.function].blocks);
}

// The piece ends where it gets no object, and so does the long function.
void Group::borrow_by(uint32_t finder, std::vector<ir::Block>& blocks) {
  std::vector<Inst> begin = std::move(blocks[0].insts);
  const auto borrow = std::ranges::find(begin, Op::borrow, &Inst::op);
  const auto there = static_cast<BlockId>(blocks.size()), nothing = there + 1;
  const Inst call{.op = Op::call, .dst = borrow->dst, .a = borrow->a, .index = finder, .where = borrow->where};
  const Inst check{.op = Op::branch, .cond = ir::Cond::ne, .a = Operand::of(call.dst), .b = Operand::number(0),
                   .target = there, .other = nothing, .where = call.where};
  std::vector<Inst> behind(borrow + 1, begin.end());
  begin.erase(borrow, begin.end());
  begin.insert(begin.end(), {call, check});
  blocks[0].insts = std::move(begin);
  blocks.push_back({std::move(behind)});
  blocks.push_back({{{.op = Op::give_back, .a = Operand::number(0), .where = call.where}}});
}

void Group::lend_nothing(uint32_t member) {
  for (ir::Block& b : program_.functions[member].blocks)
    for (Inst& i : b.insts)
      if (i.op == Op::lend) i = {.op = Op::mov, .dst = i.dst, .a = Operand::number(0), .where = i.where};
}

void Group::clean(uint32_t function) {
  ir::Function& f = program_.functions[function];
  ir::PassContext context(program_, f);
  ir::clean_blocks(f, context);
  while (ir::remove_dead_code(f, context)) {}
}

// ----------------------------------------------------------------------------------------------- pieces

void Group::fill(Piece& piece) {
  std::vector<Inst> begin;
  const base::Range where = piece.blocks[0].insts[0].where;
  ir::Function f = std::move(program_.functions[piece.function]);
  program_.functions[piece.function].frame = f.frame;
  Writing& w = begin_writing(piece.owner, piece.unit, f, &piece);
  // Blocks: the entry, those of the region, one for each exit; behind them those that are made on the way.
  BlockId blocks = 1;
  for (const BlockId b : piece.region.blocks) number_in_piece_[b] = blocks++;
  for (const BlockId b : piece.region.exits) number_in_piece_[b] = blocks++;
  f.blocks.resize(blocks);
  for (size_t n = 0; n < piece.blocks.size(); n++) {
    std::vector<Inst>& insts = piece.blocks[n].insts;
    const ir::Successors to = ir::successors(insts.back());
    if (to.count > 0) insts.back().target = number_in_piece_[insts.back().target];
    if (to.count > 1) insts.back().other = number_in_piece_[insts.back().other];
    rewrite(w, std::move(insts), static_cast<BlockId>(n + 1));
  }
  for (size_t n = 0; n < piece.region.exits.size(); n++)
    f.blocks[piece.blocks.size() + 1 + n].insts = {{.op = Op::give_back, .a = Operand::number(static_cast<int64_t>(n + 1)), .where = where}};
  begin.push_back({.op = Op::borrow, .dst = w.shared, .a = Operand::of(1), .where = where});
  repeat_addresses(w, begin);
  if (const auto holder = piece.objects.find(lent_); holder != piece.objects.end()) { // for the bodies of its loops
    const Reg at = f.registers++;
    begin.push_back({.op = Op::object, .dst = at, .index = holder->second, .where = where});
    begin.push_back({.op = Op::store, .size = 8, .space = ir::Space::script, .a = Operand::of(at), .b = Operand::of(w.shared), .where = where});
  }
  begin.push_back({.op = Op::jump, .target = 1, .where = where});
  f.blocks[0].insts = std::move(begin);
  program_.functions[piece.function] = std::move(f);
  clean(piece.function);
}

// The body of a loop goes with its loop. It finds the address of the lent object in an object of the piece.
void Group::move_body(Piece& piece, uint32_t body) {
  ir::Function& f = program_.functions[body];
  if (f.parent == piece.owner) f.parent = piece.function;
  f.frame = program_.functions[piece.function].frame;
  Reg shared = 0;
  for (ir::Block& b : f.blocks)
    for (Inst& i : b.insts) {
      if (i.op == Op::loop) move_body(piece, i.index);
      if (i.op == Op::for_each) move_body(piece, static_cast<uint32_t>(i.imm));
      if (i.op != Op::object) continue;
      if (!is_shared_object(i.index)) {
        i.index = object_of(piece, i.index);
        continue;
      }
      if (!shared) shared = f.registers++;
      i = {.op = Op::add, .dst = i.dst, .a = Operand::of(shared), .b = Operand::number(place_of_object_[i.index] + i.imm), .where = i.where};
    }
  if (!shared) return;
  const auto [at, is_new] = piece.objects.try_emplace(lent_, static_cast<uint32_t>(program_.frames[f.frame].objects.size()));
  if (is_new) program_.frames[f.frame].objects.push_back({8, "address of shared"});
  const Reg holder = f.registers++;
  const base::Range where = f.blocks[0].insts[0].where;
  const Inst fetched[] = {{.op = Op::object, .dst = holder, .index = at->second, .where = where},
                          {.op = Op::load, .size = 8, .space = ir::Space::script, .dst = shared, .a = Operand::of(holder), .where = where}};
  f.blocks[0].insts.insert(f.blocks[0].insts.begin(), std::begin(fetched), std::end(fetched));
}

} // namespace

void cut_group(ir::Program& program, const AddressUse& addresses, const PieceSizes& sizes, const std::vector<bool>& is_cut, std::vector<uint32_t> members) {
  Group(program, addresses, sizes, is_cut, std::move(members)).run();
}

} // namespace bpf
