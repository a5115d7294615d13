// See join_returns.h. The joined function asks on which side it is, and goes on in the blocks of the one or the
// other. Both share one frame: they never run at the same time.
#include "ir/join_returns.h"

#include <algorithm>
#include <tuple>

namespace ir {
namespace {

using Site = std::tuple<std::string_view, uint64_t, uint32_t>; // file, offset, index in Program::events

struct Sides {
  probe::Context context;
  probe::Kind entry, leave;
};
constexpr Sides sides_of(Joined whose) {
  if (whose == Joined::user) return {probe::Context::registers, probe::Kind::uprobe, probe::Kind::uretprobe};
  return {probe::Context::kernel_registers, probe::Kind::kprobe, probe::Kind::kretprobe};
}

// The places of a probe's events in the order of their files and offsets; empty if they are of another kind.
std::vector<Site> sites_of(const Program& program, const Probe& probe, probe::Context context, probe::Kind kind) {
  std::vector<Site> out;
  if (probe.context != context || probe.is_session) return out;
  for (uint32_t e : probe.events) {
    const probe::Event& event = program.events[e];
    if (event.kind != kind) return {};
    if (event.offset) return {}; // within a function of the kernel
    if (event.at_return_instruction) return {};
    out.emplace_back(event.binary.empty() ? event.function : event.binary, event.file_offset, e);
  }
  std::sort(out.begin(), out.end());
  return out;
}

bool are_same(const std::vector<Site>& a, const std::vector<Site>& b) {
  return !a.empty() && std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Site& x, const Site& y) {
    return std::get<0>(x) == std::get<0>(y) && std::get<1>(x) == std::get<1>(y);
  });
}

// The probe at the return of the functions at whose entry probe `index` is; nothing if there is none.
std::optional<uint32_t> find_return(const Program& program, Joined whose, uint32_t index) {
  const Sides sides = sides_of(whose);
  const Probe& entry = program.probes[index];
  std::vector<Site> sites = sites_of(program, entry, sides.context, sides.entry);
  if (sites.empty()) return std::nullopt;
  for (uint32_t i = 0; i < program.probes.size(); i++) {
    const Probe& other = program.probes[i];
    if (other.events.size() != sites.size()) continue;
    // What both are told of an event is not the same.
    if (!entry.cookies.empty() && !other.cookies.empty()) continue;
    if (are_same(sites, sites_of(program, other, sides.context, sides.leave))) return i;
  }
  return std::nullopt;
}

bool have_common(const std::vector<Site>& a, const std::vector<Site>& b) {
  return std::any_of(a.begin(), a.end(), [&](const Site& x) {
    return std::any_of(b.begin(), b.end(), [&](const Site& y) { return std::get<0>(x) == std::get<0>(y) && std::get<1>(x) == std::get<1>(y); });
  });
}

// Blocks on one event run in the order of the script. A probe that is joined stands at the place of its entry: another one at the return of
// the same functions must be on the same side of both.
bool keeps_order(const Program& program, Joined whose, uint32_t entry, uint32_t leave) {
  const Sides sides = sides_of(whose);
  const std::vector<Site> sites = sites_of(program, program.probes[leave], sides.context, sides.leave);
  for (uint32_t i = 0; i < program.probes.size(); i++) {
    if (i == leave || !have_common(sites_of(program, program.probes[i], sides.context, sides.leave), sites)) continue;
    uint32_t place = i;
    for (uint32_t e = 0; e < program.probes.size(); e++)
      if (find_return(program, whose, e) == i) place = e;
    if ((i < leave) != (place < entry)) return false;
  }
  return true;
}

// Behind `blocks` blocks and `registers` registers of another function.
void shift(Function& function, uint32_t blocks, uint32_t registers) {
  auto move = [&](Operand& o) {
    if (o.is_reg()) o.value += registers;
  };
  for (Block& block : function.blocks)
    for (Inst& i : block.insts) {
      if (i.target != no_block) i.target += blocks;
      if (i.other != no_block) i.other += blocks;
      if (i.dst) i.dst += registers;
      for (Operand* o : {&i.a, &i.b, &i.c, &i.d, &i.e}) move(*o);
    }
}

void share_frame(Program& program, Function& entry, const Function& leave) {
  auto& objects = program.frames[entry.frame].objects;
  const auto& others = program.frames[leave.frame].objects;
  for (size_t i = 0; i < others.size(); i++)
    if (i < objects.size())
      objects[i].size = std::max(objects[i].size, others[i].size);
    else
      objects.push_back(others[i]);
}

// Bodies of loops, also inside of others, use the frame of the function they stand in.
void adopt_bodies(Program& program, uint32_t to, uint32_t from) {
  uint32_t old_frame = program.functions[from].frame;
  for (Function& f : program.functions) {
    if (f.role != Role::body || f.frame != old_frame) continue;
    f.frame = program.functions[to].frame;
    if (f.parent == from) f.parent = to;
  }
}

void join(Program& program, uint32_t entry_index, uint32_t return_index) {
  Function& entry = program.functions[entry_index];
  Function& leave = program.functions[return_index];
  share_frame(program, entry, leave);
  adopt_bodies(program, entry_index, return_index);
  shift(entry, 1, 0);
  auto entry_blocks = static_cast<uint32_t>(entry.blocks.size());
  shift(leave, entry_blocks + 1, entry.registers - 1);
  Reg side = entry.registers + leave.registers - 1;
  Block first;
  first.insts.push_back({.op = Op::query, .query = Query::is_return, .dst = side});
  first.insts.push_back({.op = Op::branch,
                         .cond = Cond::ne,
                         .a = Operand::of(side),
                         .b = Operand::number(0),
                         .target = entry_blocks + 1,
                         .other = 1});
  entry.blocks.insert(entry.blocks.begin(), std::move(first));
  std::move(leave.blocks.begin(), leave.blocks.end(), std::back_inserter(entry.blocks));
  entry.registers = side + 1;
  // Nobody runs it any more.
  leave.blocks.assign(1, {});
  leave.blocks[0].insts.push_back({.op = Op::give_back, .a = Operand::number(0)});
  leave.registers = 1;
}

} // namespace

bool has_returns_to_join(const Program& program, Joined whose) {
  for (uint32_t i = 0; i < program.probes.size(); i++)
    if (find_return(program, whose, i)) return true;
  return false;
}

size_t join_returns(Program& program, Joined whose, uint32_t is_return) {
  size_t joined = 0;
  for (uint32_t i = 0; i < program.probes.size(); i++) {
    std::optional<uint32_t> found = find_return(program, whose, i);
    if (!found || !keeps_order(program, whose, i, *found)) continue;
    Probe& entry = program.probes[i];
    Probe& leave = program.probes[*found];
    join(program, entry.function, leave.function);
    if (!leave.cookies.empty()) {
      entry.cookies = leave.cookies; // they are those of its own list of events
      entry.events = leave.events;
    }
    entry.is_session = true;
    entry.stands_for += leave.stands_for;
    program.probes.erase(program.probes.begin() + *found);
    if (*found < i) i--;
    joined++;
  }
  if (joined) program.session_is_return = is_return;
  return joined;
}

} // namespace ir
