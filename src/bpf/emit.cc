// From IR to kernel programs: a program for each probe with the functions it reaches.
//
// The stack of a chain of calls may have 512 bytes in all (each function's part rounded up to 32). Objects
// are first placed on the stack freely; where a chain gets too deep, the program is made again with less of
// the stack.
#include "bpf/emit.h"

#include "bpf/pieces.h"
#include "bpf/walk_maps.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace bpf {

using ir::Op;

static constexpr uint32_t most_stack = 512;
static constexpr uint32_t largest_scratch = 16 << 20;

static base::Error unsupported(std::string what) { return {base::Failure::unsupported, std::move(what)}; }
static uint32_t frame_size(uint32_t bytes) { return (std::max(1u, bytes) + 31) / 32 * 32; }

// ---------------------------------------------------------------------------------------- program

std::vector<uint32_t> find_callees(const ir::Function& function) {
  std::vector<uint32_t> found;
  std::unordered_set<uint32_t> seen;
  const auto find = [&](uint32_t callee) {
    if (seen.insert(callee).second) found.push_back(callee);
  };
  for (const ir::Block& b : function.blocks)
    for (const ir::Inst& i : b.insts) {
      if (i.op == Op::for_each) find(static_cast<uint32_t>(i.imm));
      if (i.op == Op::call || i.op == Op::loop) find(i.index);
    }
  return found;
}

// `callees`: by function, of those that are reached.
static std::vector<uint32_t> find_reached(const ir::Program& program, uint32_t function, std::vector<std::vector<uint32_t>>& callees) {
  std::vector<uint32_t> reached{function};
  std::vector<bool> seen(program.functions.size());
  seen[function] = true;
  for (size_t n = 0; n < reached.size(); n++) {
    callees[reached[n]] = find_callees(program.functions[reached[n]]);
    for (const uint32_t c : callees[reached[n]])
      if (!seen[c]) seen[c] = true, reached.push_back(c);
  }
  return reached;
}

std::vector<uint32_t> find_reached(const ir::Program& program, uint32_t function) {
  std::vector<std::vector<uint32_t>> callees(program.functions.size());
  return find_reached(program, function, callees);
}

ProgramEmitter::ProgramEmitter(Pool& p, const ir::Probe& probe)
    : pool(p), program(p.program), probe(probe), callees_(program.functions.size()),
      needs_context_(program.functions.size(), false), scratch_bytes_(program.frames.size()) {
  find_functions();
}

void ProgramEmitter::find_functions() {
  functions_ = find_reached(program, probe.function, callees_);
  for (const uint32_t f : functions_) needs_context_[f] = reads_context(f);
  for (bool changed = true; changed;) {
    changed = false;
    for (const uint32_t f : functions_) {
      if (needs_context_[f] || std::ranges::none_of(callees_[f], [&](uint32_t c) { return needs_context_[c]; })) continue;
      needs_context_[f] = changed = true;
    }
  }
  addresses_ = find_address_use(program, functions_);
  for (const uint32_t f : functions_)
    for (const ir::Block& b : program.functions[f].blocks)
      walks_ |= std::any_of(b.insts.begin(), b.insts.end(), [&](const ir::Inst& i) { return may_walk(i); });
}

bool ProgramEmitter::reads_context(uint32_t function) const {
  for (const ir::Block& b : program.functions[function].blocks)
    for (const ir::Inst& i : b.insts) {
      if (i.op == Op::load && i.space == ir::Space::context) return true;
      if (i.op == Op::context_address) return true;
      if (i.op == Op::stack) return true;
      if (i.op == Op::query && i.query == ir::Query::cookie) return true;
    }
  return false;
}

// Of the stack that a function has, so many bytes are for reading user stacks: the more, the fewer reads.
// Places of frames are told by a few bits (emit_walk.cc).
static int32_t walk_bytes(uint32_t limit) { return 8 + (limit >= 400 ? 256 : limit >= 256 ? 128 : limit >= 128 ? 64 : 16); }

// The root and the bodies of its loops, also of nested ones.
std::vector<uint32_t> ProgramEmitter::find_group(uint32_t root) const {
  std::vector<uint32_t> group{root};
  std::unordered_set<uint32_t> seen{root};
  for (size_t g = 0; g < group.size(); g++)
    for (const uint32_t c : callees_[group[g]])
      if (program.functions[c].role == ir::Role::body && seen.insert(c).second) group.push_back(c);
  return group;
}

// What these need, read as one.
Needs ProgramEmitter::find_needs(uint32_t root) const {
  Needs needs;
  needs.addresses = addresses_.holders[program.functions[root].frame];
  needs.stored_in_loops = addresses_.stored_in_loops[program.functions[root].frame];
  const size_t n = program.frames[program.functions[root].frame].objects.size();
  needs.objects.assign(n, false);
  needs.in_bodies.assign(n, false);
  const std::vector<uint32_t> group = find_group(root);
  for (size_t g = 0; g < group.size(); g++) {
    const ir::Function& f = program.functions[group[g]];
    if (g && needs_context_[group[g]]) needs.bodies_use_context = true;
    for (const ir::Block& b : f.blocks)
      for (const ir::Inst& i : b.insts) {
        if (i.op == Op::object) {
          needs.objects[i.index] = true;
          if (g) needs.in_bodies[i.index] = true;
        }
        if (i.op == Op::lend) needs.lent = i.index;
      }
  }
  return needs;
}

base::Status ProgramEmitter::emit_group(Assembler& out, uint32_t root, uint32_t limit,
                                        std::vector<uint32_t>& stacks) {
  const ir::Frame& frame = program.frames[program.functions[root].frame];
  const Needs needs = find_needs(root);
  constexpr uint32_t spills = 48; // what values without a register take, as a rule of thumb
  Layout layout = place_objects(frame, needs, limit);
  uint32_t budget = limit;
  // Objects fill the whole stack, and there is other memory anyway: leave room for values at once.
  if (layout.scratch_bytes && layout.stack_bytes + spills > limit && limit > spills)
    layout = place_objects(frame, needs, budget -= spills);
  for (;; layout = place_objects(frame, needs, budget = budget > spills ? budget - spills : 0)) {
    layout.walk_bytes = walk_bytes(limit);
    if (layout.scratch_bytes > largest_scratch)
      return unsupported("it needs " + std::to_string(layout.scratch_bytes) +
                         " bytes of memory in one run; there are " + std::to_string(largest_scratch) +
                         ": shorter strings (max_strlen) or fewer of them need less");
    FunctionEmitter first(*this, out, root, layout);
    first.plan();
    if (first.stack_bytes() > limit && budget > 0) continue;
    stacks[root] = first.stack_bytes();
    scratch_bytes_[program.functions[root].frame] = layout.scratch_bytes;
    ACU_CHECK(first.emit());
    for (const uint32_t b : find_group(root)) {
      if (b == root) continue;
      FunctionEmitter body(*this, out, b, layout);
      body.plan();
      stacks[b] = body.stack_bytes();
      ACU_CHECK(body.emit());
    }
    return {};
  }
}

uint32_t ProgramEmitter::deepest_chain(uint32_t function, const std::vector<uint32_t>& stacks) const {
  uint32_t below = counts_ || walk_bytes_ || hashes_ ? 32 : 0;
  for (const uint32_t f : library_) below = std::max(below, library_stack(f));
  for (const uint32_t c : callees_[function]) below = std::max(below, deepest_chain(c, stacks));
  return frame_size(stacks[function]) + below;
}

base::Result<Code> ProgramEmitter::attempt(uint32_t limit, uint32_t& deepest) {
  Assembler out;
  size_t operations = 0;
  for (const uint32_t f : functions_)
    for (const ir::Block& b : program.functions[f].blocks) operations += b.insts.size();
  out.expect(operations);
  Code code;
  code.name = probe.name;
  std::vector<uint32_t> stacks(program.functions.size(), 0);
  for (const uint32_t f : functions_)
    if (program.functions[f].role != ir::Role::body) ACU_CHECK(emit_group(out, f, limit, stacks));
  if (counts_) emit_counting_callback(out);
  if (walk_bytes_) emit_walking_callback(out, walking_callback(walk_bytes_), walk_bytes_);
  if (hashes_) emit_hashing_callback(out, hashing_callback(), pool.most_frames());
  emit_library(out);
  ACU_CHECK(out.finish(code));
  code.leaves_out_walkers = leaves_out_walkers_;
  deepest = deepest_chain(probe.function, stacks);
  return code;
}

// A chain of calls that comes back to a function.
static bool is_recursive(uint32_t f, const std::vector<std::vector<uint32_t>>& callees,
                         std::vector<uint8_t>& state) {
  if (state[f]) return state[f] == 1;
  state[f] = 1;
  for (const uint32_t c : callees[f])
    if (is_recursive(c, callees, state)) return true;
  state[f] = 2;
  return false;
}

base::Result<Code> ProgramEmitter::emit() {
  std::vector<uint8_t> state(callees_.size(), 0);
  if (is_recursive(probe.function, callees_, state))
    return unsupported("functions that call themselves cannot run in the kernel");
  const bool has_pieces = std::any_of(functions_.begin(), functions_.end(), [&](uint32_t f) { return is_piece(program.functions[f]); });
  for (const uint32_t limit : {400u, 320u, 256u, 192u, 128u, 96u, 64u, 32u}) {
    if (has_pieces && limit > most_stack / 2) continue; // each is called by a long function: half of the stack is left
    uint32_t deepest = 0;
    ACU_TRY(Code code, attempt(limit, deepest));
    if (deepest <= most_stack) return code;
  }
  return unsupported("its calls need more than the 512 bytes of stack that the kernel has");
}

uint32_t ProgramEmitter::scratch_map(uint32_t frame) {
  const uint32_t bytes = scratch_bytes_[frame];
  return bytes > largest_percpu_value ? pool.large_scratch(bytes) : pool.scratch(bytes);
}

uint32_t ProgramEmitter::counting_callback() {
  counts_ = true;
  return static_cast<uint32_t>(program.functions.size());
}

uint32_t ProgramEmitter::walking_callback(int32_t bytes) {
  walk_bytes_ = bytes;
  return static_cast<uint32_t>(program.functions.size() + 1);
}

uint32_t ProgramEmitter::hashing_callback() {
  hashes_ = true;
  return static_cast<uint32_t>(program.functions.size() + 2);
}

uint32_t ProgramEmitter::library_function(std::string_view name) {
  const uint32_t index = library_index(name);
  if (std::find(library_.begin(), library_.end(), index) == library_.end()) library_.push_back(index);
  return static_cast<uint32_t>(program.functions.size()) + 3 + index;
}

// What is run once, or cannot jump to another program, has all walkers from the start. The kernel takes no program that overrides into an array.
Languages ProgramEmitter::languages() const {
  const bool overrides = std::ranges::any_of(functions_, [&](uint32_t f) {
    return std::ranges::any_of(program.functions[f].blocks, [](const ir::Block& b) { return std::ranges::find(b.insts, ir::Op::override, &ir::Inst::op) != b.insts.end(); });
  });
  const bool is_whole = probe.context == probe::Context::none || probe.context == probe::Context::iterator || overrides;
  return is_whole ? all_languages : pool.options.languages;
}

void ProgramEmitter::emit_library(Assembler& out) {
  const Languages walked = languages();
  for (size_t n = 0; n < library_.size(); n++) { // each may bring others along
    const LibraryFunction& function = library()[library_[n]];
    const bool is_nothing = is_left_out(function, walked);
    leaves_out_walkers_ |= is_nothing;
    out.library_function(
        static_cast<uint32_t>(program.functions.size()) + 3 + library_[n], is_nothing ? does_nothing(function) : function,
        [this](const std::string& map) { return pool.walk_reference(map); },
        [this](const std::string& name) { return library_function(name); });
  }
}

void ProgramEmitter::emit_counting_callback(Assembler& out) {
  out.begin_function(static_cast<uint32_t>(program.functions.size()), "count", 4);
  out.number(r0, 0);
  out.exit();
  out.end_function();
}

base::Result<Object> emit(const ir::Program& whole, const EmitOptions& options) {
  std::optional<ir::Program> cut;
  if (has_long_functions(whole, options.pieces)) cut.emplace(cut_into_pieces(whole, options.pieces));
  const ir::Program& program = cut ? *cut : whole;
  Pool pool(program, options);
  std::vector<Code> programs;
  for (const ir::Probe& p : program.probes) {
    auto code = ProgramEmitter(pool, p).emit();
    if (!code.ok()) return std::move(code.error()).with("probe " + p.name);
    programs.push_back(std::move(code.value()));
  }
  pool.object.programs = std::move(programs);
  if (pool.object.walks) ACU_CHECK(add_walk_watchers(pool));
  return std::move(pool.object);
}

} // namespace bpf
