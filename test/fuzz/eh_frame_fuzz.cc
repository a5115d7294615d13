// Any bytes as .eh_frame or .debug_frame (by the first byte): tables are made of them, whose rules must be
// those that a look-up of each address gives, and stacks full of arbitrary numbers are walked by them.
#include "unwind/compile_rule.h"
#include "unwind/compile_tables.h"
#include "unwind/walk.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr uint64_t first_address = 0x400000; // of the tables, in the middle of what passes for code

[[noreturn]] void fail(const char* what, uint64_t address) {
  std::fprintf(stderr, "%s at %#llx\n", what, static_cast<unsigned long long>(address));
  std::abort();
}

void compare(const unwind::Tables& tables, dwarf::FrameLookup& lookup) {
  for (size_t page = 0; page < tables.header().pages; page++)
    for (uint32_t i = tables.starts()[page]; i < tables.starts()[page + 1]; i++) {
      unwind_row row = tables.rows()[i];
      uint64_t address = ((tables.first_page() + page) << UNWIND_PAGE_BITS) + row.address;
      unwind_rule rule = tables.rule_at(address);
      if (unwind::bits_of(rule) != unwind::bits_of(tables.rules()[row.rule])) fail("not found", address);
      if (row.rule == UNWIND_RULE_NO_TABLE || row.address == 0) continue; // 0: may stand in padding
      std::optional<dwarf::FrameRow> full = lookup.find(address);
      if (!full || unwind::bits_of(unwind::compile_rule(*full)) != unwind::bits_of(rule))
        fail("another rule", address);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  dwarf::FrameTables frames;
  base::ByteSpan bytes = std::as_bytes(std::span(data + 1, size - 1));
  (data[0] & 1 ? frames.debug_frame : frames.eh_frame) = bytes;
  frames.is_open_ended = data[0] & 2;
  frames.eh_frame_address = first_address;
  unwind::Tables tables = unwind::compile_tables(frames, {{1, UINT64_MAX, {}}}, {});
  if (!unwind::Tables::of(tables.bytes(), nullptr).ok()) fail("not whole", 0);
  dwarf::FrameLookup lookup(frames);
  if (tables.header().damaged == 0) compare(tables, lookup);

  unwind::FileFrames file(frames, tables);
  unwind::Registers start;
  for (unsigned i = 0; i < unwind::Registers::count; i++) start.set(i, first_address + i * 8);
  auto read = [&](uint64_t address, std::span<std::byte> to) {
    if (address % 64 == 63) return false;
    for (size_t i = 0; i < to.size(); i++)
      to[i] = bytes.empty() ? std::byte{} : bytes[(address + i) % bytes.size()];
    return true;
  };
  auto find = [&](uint64_t address) { return unwind::CodePlace{address % 16 != 15, &file, 0}; };
  for (bool all : {false, true})
    for (uint64_t address : {tables.first_page() << UNWIND_PAGE_BITS, first_address}) {
      start.set(unwind::Registers::rip, address + data[0]);
      unwind::Walk walk = unwind::walk(start, read, find, {.most_frames = 32, .all_registers = all});
      if (walk.frames.empty() || walk.frames.size() > 32) fail("not a walk", address);
    }
  return 0;
}
