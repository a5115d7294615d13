#include "snapshot/goroutines.h"

#include "dwarf/types.h"
#include "symbol/binary.h"

#include <cstring>

namespace snapshot {

namespace {

constexpr size_t max_goroutines = 1 << 20;
constexpr uint64_t longest_reason = 64;

// Values of atomicstatus (runtime/runtime2.go); the collector adds 0x1000 while it looks at a stack.
constexpr uint32_t being_scanned = 0x1000, running = 2, in_system_call = 3, waiting = 4, dead = 6;
constexpr std::string_view states[] = {"idle", "runnable", "running", "in a system call", "waiting",
                                       "",     "dead",     "",        "copying its stack", "preempted"};

class Runtime {
public:
  Runtime(probe::StoppedProgram& stopped, symbol::Binary& binary, uint64_t bias, dwarf::Types& types)
      : stopped_(stopped), memory_(stopped.target().memory()), binary_(binary), bias_(bias) {
    const type::Type* g = types.find("struct", "runtime.g");
    if (!g) return;
    const auto sched = g->find("sched"), status = g->find("atomicstatus"), id = g->find("goid"), reason = g->find("waitreason"),
               call_pc = g->find("syscallpc"), call_sp = g->find("syscallsp");
    if (!sched || !sched->type->is(type::Kind::structure) || !status || !id || !reason || !call_pc || !call_sp) return;
    const auto pc = sched->type->find("pc"), sp = sched->type->find("sp"), bp = sched->type->find("bp");
    if (!pc || !sp || !bp) return;
    status_ = status->offset, id_ = id->offset, reason_ = reason->offset, call_pc_ = call_pc->offset, call_sp_ = call_sp->offset;
    pc_ = sched->offset + pc->offset, sp_ = sched->offset + sp->offset, bp_ = sched->offset + bp->offset;
    is_known_ = true;
  }

  Goroutines read() {
    Goroutines out;
    const auto list = address_of("runtime.allgs"); // a slice: address, length, capacity
    if (!is_known_ || !list) {
      out.problem = "the debug information lacks the runtime's types or its list of goroutines";
      return out;
    }
    const auto first = memory_.word(*list), count = memory_.word(*list + 8);
    if (!first || !count) out.problem = "the runtime's list of goroutines could not be read";
    for (uint64_t i = 0; first && count && i < std::min<uint64_t>(*count, max_goroutines); i++) {
      const auto g = memory_.word(*first + 8 * i);
      if (!g || !add(out, *g)) out.unreadable++;
    }
    return out;
  }

private:
  std::optional<uint64_t> address_of(std::string_view symbol) {
    const auto at = binary_.symbol_address(symbol);
    return at ? std::optional(*at + bias_) : std::nullopt;
  }

  // False: it cannot be read.
  bool add(Goroutines& to, uint64_t g) {
    const auto id = memory_.word(g + id_), word = memory_.word(g + status_);
    if (!id || !word) return false;
    const uint32_t status = static_cast<uint32_t>(*word) & ~being_scanned;
    if (status == dead || status == 0) return true;
    Goroutine out{.id = *id};
    out.state = status < std::size(states) ? std::string(states[status]) : "in state " + std::to_string(status);
    if (status == waiting) {
      const std::string reason = reason_text(g);
      if (!reason.empty()) out.state += ": " + reason;
    }
    if (status != running) {
      const bool in_call = status == in_system_call;
      const auto pc = memory_.word(g + (in_call ? call_pc_ : pc_)), sp = memory_.word(g + (in_call ? call_sp_ : sp_)), bp = memory_.word(g + bp_);
      if (!pc || !sp || !bp) return false;
      unwind::Registers start;
      start.set(unwind::Registers::rip, *pc);
      start.set(unwind::Registers::rsp, *sp);
      if (!in_call) start.set(unwind::Registers::rbp, *bp);
      out.walk = stopped_.stacks().from(start);
    }
    to.all.push_back(std::move(out));
    return true;
  }

  // runtime.waitReasonStrings: an array of strings (address, length).
  std::string reason_text(uint64_t g) {
    const auto texts = address_of("runtime.waitReasonStrings");
    const auto number = memory_.word(g + reason_);
    if (!texts || !number) return {};
    const uint64_t at = *texts + 16 * (*number & 0xff);
    const auto text = memory_.word(at), length = memory_.word(at + 8);
    if (!text || !length || *length > longest_reason) return {};
    std::string out(*length, '\0');
    return memory_.read(*text, std::as_writable_bytes(std::span(out))) == target::Missing::none ? out : std::string();
  }

  probe::StoppedProgram& stopped_;
  target::Memory& memory_;
  symbol::Binary& binary_;
  uint64_t bias_;
  bool is_known_ = false;
  uint64_t status_ = 0, id_ = 0, reason_ = 0, call_pc_ = 0, call_sp_ = 0, pc_ = 0, sp_ = 0, bp_ = 0; // in struct g
};

} // namespace

std::optional<Goroutines> find_goroutines(probe::StoppedProgram& stopped, type::Table& types) {
  for (symbol::Binary* binary : stopped.binaries()) {
    if (!binary->is_go()) continue;
    dwarf::Types* described = binary->types(types);
    if (!described) return Goroutines{.all = {}, .problem = "the program has no debug information (it was linked with -w or stripped)"};
    return Runtime(stopped, *binary, stopped.bias_of(*binary).value_or(0), *described).read();
  }
  return std::nullopt;
}

} // namespace snapshot
