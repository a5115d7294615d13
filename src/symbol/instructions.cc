#include "symbol/instructions.h"

#include "base/text.h"

#include <cstdio>

namespace symbol {

namespace {

using base::ByteSpan;

// More than these are not worth the look.
constexpr unsigned most_passed = 6, most_passed_bytes = 40;

// An instruction's bytes before its operands, as far as the few that matter here need.
struct Decoded {
  bool has_66 = false, has_rep = false; // prefixes (f2, f3)
  bool has_segment = false;             // (2e, 3e), which mean nothing in 64 bits, or are hints
  uint8_t rex = 0;
  bool two_bytes = false; // 0f and then `opcode`
  uint8_t opcode = 0;
  unsigned at = 0; // of what follows the opcode
};

uint8_t byte(ByteSpan code, size_t at) { return at < code.size() ? static_cast<uint8_t>(code[at]) : 0; }

bool decode(ByteSpan code, Decoded& out) {
  unsigned at = 0;
  for (;; at++) {
    uint8_t b = byte(code, at);
    if (b == 0x66)
      out.has_66 = true;
    else if (b == 0xf2 || b == 0xf3)
      out.has_rep = true;
    else if (b == 0x2e || b == 0x3e)
      out.has_segment = true;
    else
      break;
    if (at > 4 || at >= code.size()) return false;
  }
  if ((byte(code, at) & 0xf0) == 0x40) out.rex = byte(code, at++);
  out.opcode = byte(code, at++);
  if (out.opcode == 0x0f) {
    out.two_bytes = true;
    out.opcode = byte(code, at++);
  }
  out.at = at;
  return at < code.size() || at == code.size();
}

// The bytes of an operand in memory or a register: ModRM, SIB and displacement.
struct Operand {
  bool is_register = false;
  uint8_t reg = 0, rm = 0; // numbers of registers, with the bits of rex
  unsigned length = 0;
};

Operand read_operand(ByteSpan code, const Decoded& d) {
  uint8_t modrm = byte(code, d.at);
  uint8_t mode = modrm >> 6, rm = modrm & 7;
  Operand out;
  out.reg = static_cast<uint8_t>((modrm >> 3 & 7) | (d.rex & 4) << 1);
  out.rm = static_cast<uint8_t>(rm | (d.rex & 1) << 3);
  out.is_register = mode == 3;
  out.length = 1;
  if (mode == 3) return out;
  bool sib = rm == 4;
  if (sib) out.length++;
  if (mode == 1) out.length += 1;
  if (mode == 2 || (mode == 0 && rm == 5) || (mode == 0 && sib && (byte(code, d.at + 1) & 7) == 5))
    out.length += 4;
  return out;
}

// What nothing was passed in, and what the caller does not want back: rax, r11. (r10 is where nested
// functions get their frame from.)
bool is_free(uint8_t reg) { return reg == 0 || reg == 11; }

bool is_long_nop(const Decoded& d) { return d.two_bytes && d.opcode == 0x1f; }

// Of an instruction with one operand by ModRM: its length if it only compares, or writes to a free register.
unsigned plain_length(ByteSpan code, const Decoded& d) {
  Operand o = read_operand(code, d);
  unsigned length = d.at + o.length;
  switch (d.opcode) {
  case 0x38:
  case 0x39:
  case 0x3a:
  case 0x3b:
  case 0x84:
  case 0x85: // cmp, test
    return length;
  case 0x80:
  case 0x83: // cmp with a small number
    return o.reg % 8 == 7 ? length + 1 : 0;
  case 0x81: return o.reg % 8 == 7 ? length + (d.has_66 ? 2 : 4) : 0;
  case 0xf6: // test
    return o.reg % 8 == 0 ? length + 1 : 0;
  case 0xf7: return o.reg % 8 == 0 ? length + (d.has_66 ? 2 : 4) : 0;
  case 0x89: // mov to what the operand tells
    return o.is_register && is_free(o.rm) ? length : 0;
  case 0x8b: // mov from there
    return is_free(o.reg) ? length : 0;
  case 0x8d: // lea
    return !o.is_register && is_free(o.reg) ? length : 0;
  case 0x31:
  case 0x33: // xor of a register with itself
    return o.is_register && o.reg == o.rm && is_free(o.reg) ? length : 0;
  case 0x63: // movslq
    return is_free(o.reg) ? length : 0;
  case 0xc7: // mov of a number
    return o.is_register && o.reg % 8 == 0 && is_free(o.rm) ? length + (d.has_66 ? 2 : 4) : 0;
  }
  return 0;
}

} // namespace

// The code is not taken apart: whatever looks like a branch counts, wherever it begins.
bool is_branched_to(ByteSpan code, unsigned first, unsigned last) {
  auto leads = [&](size_t next, int64_t distance) {
    int64_t target = static_cast<int64_t>(next) + distance;
    return target >= first && target <= last;
  };
  for (size_t i = 0; i < code.size(); i++) {
    uint8_t b = byte(code, i);
    bool is_short = b == 0xeb || (b & 0xf0) == 0x70 || (b & 0xfc) == 0xe0;
    if (is_short && i + 1 < code.size() && leads(i + 2, static_cast<int8_t>(byte(code, i + 1)))) return true;
    bool is_long = b == 0xe9 || b == 0xe8 || (b == 0x0f && (byte(code, i + 1) & 0xf0) == 0x80);
    size_t at = i + (b == 0x0f ? 2 : 1);
    if (!is_long || at + 4 > code.size()) continue;
    int32_t distance;
    std::memcpy(&distance, code.data() + at, sizeof distance);
    if (leads(at + 4, distance)) return true;
  }
  return false;
}

bool is_emulated(ByteSpan code, bool with_nops) {
  Decoded d;
  if (code.empty() || !decode(code, d) || d.has_segment) return false;
  // Linux 6.18 knows those of up to 8 bytes.
  if (is_long_nop(d)) return with_nops && d.at + read_operand(code, d).length <= 8;
  if (d.two_bytes) return (d.opcode & 0xf0) == 0x80 && !d.has_66; // jcc
  if (d.opcode == 0x90) return !(d.rex & 1);
  if ((d.opcode & 0xf8) == 0x50) // push; with rex.b alone, or no prefix at all
    return (d.rex == 0 && d.at == 1) || (d.rex == 0x41 && d.at == 2);
  bool is_branch = d.opcode == 0xeb || d.opcode == 0xe9 || d.opcode == 0xe8 || (d.opcode & 0xf0) == 0x70;
  return is_branch && !d.has_66;
}

// Opcodes of one byte that are refused: they do not exist in 64 bits, talk to devices, trap, or belong to the
// kernel.
static bool is_refused_opcode(uint8_t b) {
  uint8_t column = b & 0xf;
  if (b < 0x40) return column == 6 || column == 7 || column >= 0xe;
  switch (b & 0xf0) {
  case 0x40: return true; // behind rex
  case 0x60: return column <= 2 || column == 6 || column == 7 || column >= 0xc;
  case 0x80: return column == 2;
  case 0x90: return column == 0xa;
  case 0xc0: return column == 4 || column == 5 || column >= 0xc;
  case 0xd0: return column >= 4 && column <= 6;
  case 0xe0: return (column >= 4 && column <= 7) || column == 0xa || column >= 0xc;
  case 0xf0: return column <= 1 || column == 4 || column == 0xa || column == 0xb;
  }
  return false;
}

// Opcodes of instructions on vectors (VEX, EVEX) are looked at by the kernel as if they were those of one
// byte. Some are refused therefore; others are "carried out" as the branch or nop that has the same number
// (vpbroadcastb as jp); and others are taken for a return, an indirect jump or popf, behind which the kernel
// does not put right where the program goes on (vcmpps) or leaves it in single steps (vfnmadd132ss). All of
// it was seen on Linux 6.18. There must be no probe on any of them.
static bool is_mistaken_opcode(uint8_t b) {
  // Numbers that are prefixes elsewhere pass.
  bool is_prefix = (b & 0xe7) == 0x26 || (b & 0xf0) == 0x40 || b == 0x66 || b == 0x67 || b == 0xc4 ||
                   b == 0xc5 || b == 0xf0 || b == 0x0f;
  if ((is_refused_opcode(b) && !is_prefix) || (b & 0xf0) == 0x70) return true;
  switch (b) {
  case 0x90: // nop
  case 0x9d: // popf
  case 0xc2:
  case 0xc3:
  case 0xca:
  case 0xcb: // returns
  case 0xe8:
  case 0xe9:
  case 0xeb: // branches
  case 0xff: // indirect ones
    return true;
  }
  return false;
}

// Those that execute elsewhere with another result than in place. A system call goes on behind the single
// step, on whatever follows it there, and may give two processes or none; pushf stores the flag of single
// steps; a repeated instruction comes back to the probe after each turn; a new stack segment hides the step.
static bool tells_single_steps(ByteSpan code, size_t at, bool is_repeated) {
  uint8_t opcode = byte(code, at);
  bool is_string = (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf);
  if (opcode == 0x0f) return byte(code, at + 1) == 0x05 || byte(code, at + 1) == 0x34;
  if (opcode == 0x8e) return (byte(code, at + 1) >> 3 & 7) == 2;
  return opcode == 0x9c || (is_repeated && is_string);
}

// Branches with an operand size of 16 bits are refused: processors do not agree on what they do.
static bool is_branch(ByteSpan code, size_t at) {
  uint8_t opcode = byte(code, at);
  if (opcode == 0x0f) return (byte(code, at + 1) & 0xf0) == 0x80;
  return opcode == 0xe8 || opcode == 0xe9 || opcode == 0xeb || (opcode & 0xf0) == 0x70;
}

bool is_refused(ByteSpan code) {
  size_t at = 0;
  bool has_66 = false, is_repeated = false;
  for (; at < code.size(); at++) {
    uint8_t b = byte(code, at);
    if (b == 0x26 || b == 0x2e || b == 0x36 || b == 0x3e || b == 0xf0) return true;
    if (b != 0x66 && b != 0x67 && b != 0xf2 && b != 0xf3 && b != 0x64 && b != 0x65) break;
    has_66 |= b == 0x66;
    is_repeated |= b == 0xf2 || b == 0xf3;
  }
  if (at >= code.size()) return false;
  uint8_t rex = (byte(code, at) & 0xf0) == 0x40 ? byte(code, at++) : 0;
  if (tells_single_steps(code, at, is_repeated) || (has_66 && is_branch(code, at))) return true;
  switch (byte(code, at)) {
  case 0x0f: return byte(code, at + 1) == 0x0b; // ud2
  case 0x90: return rex & 1;                    // xchg of r8 and rax, which the kernel takes for a nop
  case 0xc5: return is_mistaken_opcode(byte(code, at + 2));
  case 0xc4: {
    uint8_t opcode = byte(code, at + 3);
    bool is_fma4 = (byte(code, at + 1) & 0x1f) == 3 && ((opcode & 0xf8) == 0x68 || (opcode & 0xfc) == 0x5c);
    return is_fma4 || is_mistaken_opcode(opcode);
  }
  case 0x8f: return (byte(code, at + 1) & 0x1f) >= 8; // XOP
  case 0x62: return is_mistaken_opcode(byte(code, at + 4));
  }
  return is_refused_opcode(byte(code, at));
}

bool emulates_nops(const std::string& release) {
  unsigned major = 0, minor = 0;
  if (std::sscanf(release.c_str(), "%u.%u", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 18);
}

// In any form: Linux 6.18 replaces nops with prefixes too.
bool is_nop5(ByteSpan code) {
  constexpr unsigned size = 5;
  Decoded d;
  if (code.size() < size || !decode(code, d) || d.has_rep) return false;
  if (is_long_nop(d)) return d.at + read_operand(code, d).length == size;
  return !d.two_bytes && d.opcode == 0x90 && !(d.rex & 1) && d.at == size;
}

unsigned passable_length(ByteSpan code) {
  constexpr uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (code.size() >= sizeof endbr64 && std::memcmp(code.data(), endbr64, sizeof endbr64) == 0) return 4;
  Decoded d;
  if (code.empty() || !decode(code, d)) return 0;
  unsigned length = 0;
  if (is_long_nop(d))
    length = d.at + read_operand(code, d).length;
  else if (d.two_bytes || d.has_rep)
    return 0;
  else if (d.opcode == 0x3c || d.opcode == 0xa8) // cmp, test of al with a number
    length = d.at + 1;
  else if (d.opcode == 0x3d || d.opcode == 0xa9)
    length = d.at + (d.has_66 ? 2 : 4);
  else if ((d.opcode & 0xf8) == 0xb8 && is_free(static_cast<uint8_t>((d.opcode & 7) | (d.rex & 1) << 3)))
    length = d.at + (d.rex & 8 ? 8 : d.has_66 ? 2 : 4); // mov of a number
  else
    length = plain_length(code, d);
  return length <= code.size() ? length : 0;
}

unsigned best_entry(ByteSpan code, bool with_nops) {
  unsigned at = 0;
  for (unsigned i = 0; i <= most_passed && at < most_passed_bytes; i++) {
    if (is_emulated(code.subspan(at), with_nops)) return at && is_branched_to(code, 1, at) ? 0 : at;
    unsigned length = passable_length(code.subspan(at));
    if (!length || at + length >= code.size()) return 0;
    at += length;
  }
  return 0;
}

} // namespace symbol
