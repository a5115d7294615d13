// Instructions, and the resolution of labels when all are there. Jumps reach 32,767 instructions; a program
// that needs more is refused.
#include "bpf/assembler.h"

namespace bpf {

static constexpr uint32_t unbound = ~0u;

static uint8_t size_bits(uint8_t bytes) {
  switch (bytes) {
  case 1: return BPF_B;
  case 2: return BPF_H;
  case 4: return BPF_W;
  default: return BPF_DW;
  }
}

void Assembler::expect(size_t operations) {
  insns_.reserve(insns_.size() + 7 * operations / 2);
  lines_.reserve(lines_.size() + operations / 2);
  fixups_.reserve(fixups_.size() + operations);
  labels_.reserve(labels_.size() + operations);
}

void Assembler::emit(uint8_t code, Register to, Register from, int16_t offset, int32_t imm) {
  if (new_place_) {
    lines_.push_back({here(), where_});
    new_place_ = false;
  }
  bpf_insn i{};
  i.code = code;
  i.dst_reg = to;
  i.src_reg = from;
  i.off = offset;
  i.imm = imm;
  insns_.push_back(i);
}

void Assembler::wide(Register to, uint8_t kind, uint64_t n) {
  emit(BPF_LD | BPF_DW | BPF_IMM, to, static_cast<Register>(kind), 0, static_cast<int32_t>(n));
  emit(0, r0, r0, 0, static_cast<int32_t>(n >> 32));
}

void Assembler::mov(Register to, Register from) {
  if (to != from) emit(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

void Assembler::number(Register to, int64_t n) {
  if (fits_imm(n))
    emit(BPF_ALU64 | BPF_MOV | BPF_K, to, r0, 0, static_cast<int32_t>(n));
  else if (n == static_cast<uint32_t>(n))
    emit(BPF_ALU | BPF_MOV | BPF_K, to, r0, 0, static_cast<int32_t>(n));
  else
    wide(to, 0, static_cast<uint64_t>(n));
}

void Assembler::zero_extend(Register to, Register from, uint8_t bytes) {
  if (bytes == 4) return emit(BPF_ALU | BPF_MOV | BPF_X, to, from, 0, 0);
  mov(to, from);
  if (bytes < 4) alu(BPF_AND, to, bytes == 1 ? 0xff : 0xffff);
}

void Assembler::sign_extend(Register to, uint8_t bytes) {
  if (bytes >= 8) return;
  alu(BPF_LSH, to, 64 - 8 * bytes);
  alu(BPF_ARSH, to, 64 - 8 * bytes);
}

void Assembler::to_big_endian(Register to, uint8_t bytes) {
  emit(BPF_ALU | BPF_END | BPF_TO_BE, to, r0, 0, 8 * bytes);
}

void Assembler::load(Register to, Register base, int32_t offset, uint8_t bytes) {
  emit(BPF_LDX | BPF_MEM | size_bits(bytes), to, base, static_cast<int16_t>(offset), 0);
}
void Assembler::store(Register base, int32_t offset, Register from, uint8_t bytes) {
  emit(BPF_STX | BPF_MEM | size_bits(bytes), base, from, static_cast<int16_t>(offset), 0);
}
void Assembler::store(Register base, int32_t offset, int32_t n, uint8_t bytes) {
  emit(BPF_ST | BPF_MEM | size_bits(bytes), base, r0, static_cast<int16_t>(offset), n);
}
void Assembler::atomic(int32_t op, Register base, int32_t offset, Register from) {
  emit(BPF_STX | BPF_ATOMIC | BPF_DW, base, from, static_cast<int16_t>(offset), op);
}

Label Assembler::label() {
  labels_.push_back(unbound);
  return static_cast<Label>(labels_.size() - 1);
}
void Assembler::bind(Label l) { labels_[l] = here(); }

void Assembler::jump(Label to) { branch(BPF_JMP | BPF_JA, r0, r0, 0, to); }
void Assembler::branch(uint8_t code, Register a, Register b, int32_t n, Label to) {
  fixups_.push_back({here(), to, false});
  emit(code, a, b, 0, n);
}

void Assembler::call_kernel(uint32_t btf_id) {
  emit(BPF_JMP | BPF_CALL, r0, static_cast<Register>(BPF_PSEUDO_KFUNC_CALL), 0, static_cast<int32_t>(btf_id));
}
void Assembler::kernel_variable(Register to, uint32_t btf_id) { wide(to, BPF_PSEUDO_BTF_ID, btf_id); }

void Assembler::map(Register to, uint32_t map) {
  relocations_.push_back({here(), map, false});
  wide(to, BPF_PSEUDO_MAP_FD, 0);
}
void Assembler::map_value(Register to, uint32_t map, uint32_t offset) {
  relocations_.push_back({here(), map, true});
  wide(to, BPF_PSEUDO_MAP_VALUE, offset);
}
void Assembler::call_function(uint32_t function) {
  fixups_.push_back({here(), function, true});
  emit(BPF_JMP | BPF_CALL, r0, static_cast<Register>(BPF_PSEUDO_CALL), 0, 0);
}
void Assembler::function_address(Register to, uint32_t function) {
  fixups_.push_back({here(), function, true});
  has_callbacks_ = true;
  wide(to, BPF_PSEUDO_FUNC, 0);
}

void Assembler::library_function(uint32_t number, const LibraryFunction& function,
                                 const std::function<Relocation(const std::string&)>& map,
                                 const std::function<uint32_t(const std::string&)>& callee) {
  // That its parameters are numbers is not looked at in static functions.
  begin_function(number, function.name, 1, function.is_global);
  has_callbacks_ |= function.is_global; // its type tells the verifier that it stands alone
  const uint32_t first = here();
  emit(function.insns[0].code, r0, r0, 0, 0); // notes the line
  insns_.pop_back();
  insns_.insert(insns_.end(), function.insns.begin(), function.insns.end());
  for (const LibraryReference& r : function.references) {
    bpf_insn& insn = insns_[first + r.insn];
    if (!r.is_function) {
      relocations_.push_back(map(r.name));
      relocations_.back().insn = first + r.insn;
      continue;
    }
    const bool is_call = insn.code == (BPF_JMP | BPF_CALL);
    insn.src_reg = is_call ? BPF_PSEUDO_CALL : BPF_PSEUDO_FUNC;
    has_callbacks_ |= !is_call;
    fixups_.push_back({first + r.insn, callee(r.name), true});
  }
  end_function();
}

void Assembler::cold(std::function<void()> body) { cold_.push_back({std::move(body), where_}); }

void Assembler::begin_function(uint32_t function, std::string name, uint32_t parameters,
                               bool is_global) {
  if (function_insns_.size() <= function) function_insns_.resize(function + 1, unbound);
  function_insns_[function] = here();
  functions_.push_back({here(), std::move(name), parameters, is_global});
  new_place_ = true; // the kernel wants a line at each function's start
}

void Assembler::end_function() {
  for (size_t i = 0; i < cold_.size(); i++) { // cold code may leave colder code
    Cold cold = std::move(cold_[i]);
    place(cold.where);
    cold.body();
  }
  cold_.clear();
}

void Assembler::place(base::Range where) {
  if (where.begin == where.end || (where.begin == where_.begin && where.end == where_.end)) return;
  where_ = where;
  new_place_ = true;
}

base::Status Assembler::finish(Code& code) {
  for (const Fixup& f : fixups_) {
    const uint32_t target = f.is_function ? function_insns_[f.target] : labels_[f.target];
    const int64_t distance = static_cast<int64_t>(target) - f.insn - 1;
    if (f.is_function)
      insns_[f.insn].imm = static_cast<int32_t>(distance);
    else if (fits_offset(distance))
      insns_[f.insn].off = static_cast<int16_t>(distance);
    else
      return base::Error{base::Failure::unsupported, "the program is too large for the kernel: a jump over " +
                                                         std::to_string(distance) + " instructions"};
  }
  code.insns = std::move(insns_);
  code.relocations = std::move(relocations_);
  code.functions = std::move(functions_);
  code.lines = std::move(lines_);
  code.has_callbacks = has_callbacks_;
  return {};
}

} // namespace bpf
