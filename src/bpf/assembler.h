// Building of eBPF instructions for one kernel program: labels, references to maps and functions, code that
// is moved out of line, and the tables (functions, lines, relocations) of a Code.
//
// Instruction set: Documentation/bpf/standardization/instruction-set.rst of the kernel. Everything used here
// is understood since Linux 5.12 (version 3 of the set: 64-bit registers, atomics with fetch).
#pragma once

#include "base/result.h"
#include "bpf/library.h"
#include "bpf/object.h"

#include <functional>
#include <vector>

namespace bpf {

// r0 result of calls; r1-r5 arguments, lost in calls; r6-r9 kept by calls; r10 end of the stack frame.
enum Register : uint8_t { r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10 };

using Label = uint32_t;

inline constexpr bool fits_imm(int64_t n) { return n == static_cast<int32_t>(n); }
inline constexpr bool fits_offset(int64_t n) { return n == static_cast<int16_t>(n); }

class Assembler {
public:
  // Makes room at once for what so many operations of the IR normally become.
  void expect(size_t operations);

  // --- arithmetic (64-bit) and moves
  void mov(Register to, Register from); // nothing where they are the same
  void number(Register to, int64_t n);
  void alu(uint8_t op, Register to, Register from) { emit(BPF_ALU64 | BPF_X | op, to, from, 0, 0); }
  void alu(uint8_t op, Register to, int32_t n) { emit(BPF_ALU64 | BPF_K | op, to, r0, 0, n); }
  void zero_extend(Register to, Register from, uint8_t bytes);
  void sign_extend(Register to, uint8_t bytes);
  void negate(Register to) { emit(BPF_ALU64 | BPF_NEG, to, r0, 0, 0); }
  void to_big_endian(Register to, uint8_t bytes);

  // --- memory: `bytes` 1, 2, 4 or 8 at base + offset
  void load(Register to, Register base, int32_t offset, uint8_t bytes);
  void store(Register base, int32_t offset, Register from, uint8_t bytes);
  void store(Register base, int32_t offset, int32_t n, uint8_t bytes); // n is sign-extended
  void atomic(int32_t op, Register base, int32_t offset, Register from);

  // --- control
  Label label();
  void bind(Label l);
  void jump(Label to);
  void jump_if(uint8_t op, Register a, Register b, Label to) { branch(BPF_JMP | BPF_X | op, a, b, 0, to); }
  void jump_if(uint8_t op, Register a, int32_t n, Label to) { branch(BPF_JMP | BPF_K | op, a, r0, n, to); }
  void call(int32_t helper) { emit(BPF_JMP | BPF_CALL, r0, r0, 0, helper); }
  void exit() { emit(BPF_JMP | BPF_EXIT, r0, r0, 0, 0); }

  // --- references
  void call_kernel(uint32_t btf_id);                     // a function of the kernel that is no helper
  void kernel_variable(Register to, uint32_t btf_id);    // its address, or what stands for it where it is per CPU
  void map(Register to, uint32_t map);
  void map_value(Register to, uint32_t map, uint32_t offset); // address of the value of an array map
  void call_function(uint32_t function);
  void function_address(Register to, uint32_t function);
  // A whole function of ours, under this number; what it refers to becomes what these give for its name.
  void library_function(uint32_t number, const LibraryFunction& function, const std::function<Relocation(const std::string&)>& map,
                        const std::function<uint32_t(const std::string&)>& callee);

  // Code that is rarely reached: it is appended behind the function, to keep the usual path straight and to
  // let the kernel's verifier walk it last. `body` must leave by a jump or exit.
  void cold(std::function<void()> body);

  // --- order: begin_function … end_function for each function, the entry first; then finish
  void begin_function(uint32_t function, std::string name, uint32_t parameters, bool is_global = false);
  void end_function();
  void needs_types() { has_callbacks_ = true; } // of functions
  void place(base::Range where); // of the instructions that follow
  base::Status finish(Code& code);
  size_t size() const { return insns_.size(); }

private:
  struct Fixup {
    uint32_t insn;
    uint32_t target; // label or function
    bool is_function;
  };
  struct Cold {
    std::function<void()> body;
    base::Range where;
  };
  void emit(uint8_t code, Register to, Register from, int16_t offset, int32_t imm);
  void wide(Register to, uint8_t kind, uint64_t n);
  void branch(uint8_t code, Register a, Register b, int32_t n, Label to);
  uint32_t here() const { return static_cast<uint32_t>(insns_.size()); }

  std::vector<bpf_insn> insns_;
  std::vector<Relocation> relocations_;
  std::vector<FunctionInfo> functions_;
  std::vector<LineInfo> lines_;
  std::vector<uint32_t> labels_;         // instruction
  std::vector<uint32_t> function_insns_; // by function number
  std::vector<Fixup> fixups_;
  std::vector<Cold> cold_;
  base::Range where_;
  bool new_place_ = true;
  bool has_callbacks_ = false;
};

} // namespace bpf
