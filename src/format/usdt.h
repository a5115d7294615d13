// USDT probes: the points that the authors of a program marked in it with <sys/sdt.h>. Each is a note in the
// section .note.stapsdt: where its instruction is, which counter switches it on, and where its arguments are
// found there, as operands of the assembler. Specification: SystemTap wiki, "UserSpaceProbeImplementation";
// operands: the GNU assembler's manual, "i386-Memory" and "AArch64 Syntax".
//
// The readers take any bytes: a damaged note ends the list, an operand that is not understood has a reason.
#pragma once

#include "base/reader.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace format {

class ElfFile;

struct UsdtNote {
  std::string_view provider, name;
  std::string_view arguments; // "-4@%edi 8@-16(%rbp)"
  uint64_t address = 0;       // of the instruction, as the file has it now (moved by prelinkers, too)
  uint64_t counter = 0;       // address of the 16-bit counter that switches it on; 0: it is always on
};

// What stands in the notes of a file. Texts live as long as the file. No more than `usdt_limit`.
inline constexpr size_t usdt_limit = 100'000;
std::vector<UsdtNote> read_usdt(const ElfFile& file);
// In the bytes of the section. `base`: the address of the section .stapsdt.base; nothing: the file has none.
std::vector<UsdtNote> read_usdt_notes(base::ByteSpan notes, std::optional<uint64_t> base);

// Where one argument is.
struct UsdtOperand {
  enum Form : uint8_t {
    unsupported, // `reason` tells why
    constant,    // `offset` is the value, added to the address of `symbol` if there is one
    reg,         // the value is in the register `base`, from bit `shift` on
    memory,      // at the sum of `offset`, registers, and the address of `symbol`
  };
  Form form = unsupported;
  uint8_t size = 8; // bytes of the value: 1, 2, 4 or 8
  bool is_signed = false, is_floating = false;
  bool is_thread_local = false; // memory: the sum counts from the thread's base (x86: %fs)
  uint8_t shift = 0, scale = 1;
  std::optional<uint32_t> base, index; // places in struct pt_regs
  int64_t offset = 0;
  std::string_view symbol; // added to the rest; its address moves with the file
  std::string_view text;   // as it is written: "-4@%edi"
  std::string reason;
};

// The operands of a probe. `machine`: EM_… of the file, which decides how they are written.
std::vector<UsdtOperand> parse_usdt_arguments(std::string_view arguments, uint16_t machine);
// No probe has more; what is beyond is left out.
inline constexpr size_t usdt_argument_limit = 64;

} // namespace format
