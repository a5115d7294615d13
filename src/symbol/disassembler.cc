// Where instructions begin, by Zydis (MIT license), which is loaded when an address within a function has to
// be checked: its tables would be three times as large as all of acu's, and hardly any script needs them.
#include "symbol/binary.h"
#include "symbol/instructions.h"

#include "base/library.h"
#include "base/text.h"

#if defined(__x86_64__)
#include <Zydis/Decoder.h>
#include <Zydis/Zydis.h>
#endif

namespace symbol {

static constexpr uint64_t most_code = 16 << 20; // bytes of one function

#if defined(__x86_64__)
namespace {

constexpr const char* library = "libZydis.so.4.0";

struct Disassembler {
  decltype(&ZydisDecoderDecodeInstruction) decode_one = nullptr;
  ZydisDecoder decoder;
  std::string problem;

  Disassembler() {
    const base::Result<base::Library> zydis = base::Library::open(library);
    if (!zydis.ok()) {
      problem = "whether an instruction begins there can't be checked without a disassembler (" + zydis.error().message + "): install " + library + " (package libzydis4.0)";
      return;
    }
    auto init = zydis->find<decltype(&ZydisDecoderInit)>("ZydisDecoderInit");
    auto version = zydis->find<decltype(&ZydisGetVersion)>("ZydisGetVersion");
    decode_one = zydis->find<decltype(decode_one)>("ZydisDecoderDecodeInstruction");
    bool same = version && ZYDIS_VERSION_MAJOR(version()) == ZYDIS_VERSION_MAJOR(ZYDIS_VERSION);
    if (!same || !init || !decode_one ||
        !ZYAN_SUCCESS(init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
      problem = std::string(library) + " is not the disassembler that acu was built with";
  }
};

const Disassembler& disassembler() {
  static const Disassembler one;
  return one;
}

Flow flow_of(const ZydisDecodedInstruction& one) {
  switch (one.mnemonic) {
  case ZYDIS_MNEMONIC_UD0:
  case ZYDIS_MNEMONIC_UD1:
  case ZYDIS_MNEMONIC_UD2:
  case ZYDIS_MNEMONIC_HLT:
  case ZYDIS_MNEMONIC_INT3: return Flow::stops;
  case ZYDIS_MNEMONIC_XABORT: return Flow::next;
  default: break;
  }
  switch (one.meta.category) {
  case ZYDIS_CATEGORY_CALL: return Flow::calls;
  case ZYDIS_CATEGORY_RET: return Flow::returns;
  case ZYDIS_CATEGORY_UNCOND_BR: return Flow::jumps;
  case ZYDIS_CATEGORY_COND_BR: return Flow::branches;
  default: return one.mnemonic == ZYDIS_MNEMONIC_XBEGIN ? Flow::branches : Flow::next;
  }
}

Instruction described(const ZydisDecodedInstruction& one, uint64_t address) {
  Instruction out = {.address = address, .length = one.length, .flow = flow_of(one)};
  const auto& distance = one.raw.imm[0];
  if (out.flow != Flow::next && distance.is_relative)
    out.target = address + one.length + static_cast<uint64_t>(distance.value.s);
  return out;
}

} // namespace

base::Status for_each_instruction(const Binary& binary, uint64_t begin, uint64_t end,
                                  const std::function<bool(const Instruction&)>& take) {
  const Disassembler& d = disassembler();
  if (!d.problem.empty()) return base::Error{base::Failure::unsupported, d.problem};
  base::ByteSpan code = binary.code_at(begin, std::min(most_code, end - begin));
  uint64_t at = 0;
  while (at < code.size()) {
    ZydisDecodedInstruction instruction;
    if (!ZYAN_SUCCESS(d.decode_one(&d.decoder, nullptr, code.data() + at, code.size() - at, &instruction)) ||
        instruction.length == 0)
      return base::Error{base::Failure::runtime,
                         "the bytes at " + std::to_string(at) + " behind the start are no instruction"};
    if (!take(described(instruction, begin + at))) return {};
    at += instruction.length;
  }
  return {};
}
#else
base::Status for_each_instruction(const Binary&, uint64_t begin, uint64_t end,
                                  const std::function<bool(const Instruction&)>& take) {
  for (uint64_t at = begin; at < end; at += 4) // all are of one size
    if (!take({.address = at, .length = 4})) break;
  return {};
}
#endif

base::Result<uint64_t> find_instruction(const Binary& binary, uint64_t begin, uint64_t address) {
  if (address == begin) return address;
  // The longest one has 15 bytes.
  uint64_t found = begin;
  base::Status read = for_each_instruction(binary, begin, address + 16, [&](const Instruction& i) {
    found = i.address;
    return i.address + i.length <= address;
  });
  if (!read.ok() && found + 15 < address) return std::move(read.error());
  if (!read.ok() && read.error().kind == base::Failure::unsupported) return std::move(read.error());
  return found;
}

} // namespace symbol
