#include "format/go_waits.h"

#include "format/go_table.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace format {

using base::ByteSpan;

namespace {

constexpr uint64_t word = 8, longest_function = 1 << 16;
constexpr size_t most_reasons = 128, longest_reason = 64;

struct Functions {
  std::optional<GoTable::Function> park, execute, each;
};

Functions find_functions(const GoTable& table) {
  Functions out;
  for (uint64_t i = 0; i < table.size(); i++) {
    const auto f = table.at(i);
    if (!f) continue;
    if (f->name == "runtime.gopark") out.park = f;
    if (f->name == "runtime.execute") out.execute = f;
    if (f->name == "runtime.forEachG") out.each = f;
  }
  return out;
}

ByteSpan code_of(const ElfWords& words, const GoTable::Function& f) {
  const ByteSpan code = words.bytes(f.begin);
  return code.first(std::min<uint64_t>({code.size(), f.end - f.begin, longest_function}));
}

uint8_t byte(ByteSpan code, size_t at) { return at < code.size() ? static_cast<uint8_t>(code[at]) : 0; }

uint32_t number(ByteSpan code, size_t at) {
  uint32_t out = 0;
  if (at + sizeof out <= code.size()) std::memcpy(&out, code.data() + at, sizeof out);
  return out;
}

// cmp 0x10(%r14), %rsp; jbe
bool checks_stack(ByteSpan code) {
  constexpr uint8_t compare[] = {0x49, 0x3b, 0x66, 0x10};
  if (code.size() < sizeof compare + 2 || std::memcmp(code.data(), compare, sizeof compare) != 0) return false;
  return byte(code, GoWaits::branch) == 0x76 || (byte(code, GoWaits::branch) == 0x0f && byte(code, GoWaits::branch + 1) == 0x86);
}

// mov %cl, NUMBER(%register): gopark stores its third argument in g.waitreason. The stack is not meant (modrm 0x8c).
uint32_t reason_field(ByteSpan code) {
  constexpr uint32_t least = 128, most = 1024;
  for (size_t i = 0; i + 6 <= code.size(); i++) {
    const bool has_prefix = byte(code, i) == 0x41;
    const size_t at = i + (has_prefix ? 1 : 0);
    const uint8_t modrm = byte(code, at + 1);
    if (byte(code, at) != 0x88 || (modrm & 0xf8) != 0x88 || (modrm & 7) == 4) continue;
    const uint32_t field = number(code, at + 2);
    if (field >= least && field < most) return field;
  }
  return 0;
}

// The address of a slice whose first two words the function loads: mov X(%rip), mov X+8(%rip).
uint64_t slice_loaded_by(ByteSpan code, uint64_t address) {
  std::vector<uint64_t> loaded;
  for (size_t i = 0; i + 7 <= code.size(); i++)
    if ((byte(code, i) & 0xfb) == 0x48 && byte(code, i + 1) == 0x8b && (byte(code, i + 2) & 0xc7) == 0x05)
      loaded.push_back(address + i + 7 + static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(number(code, i + 3)))));
  for (uint64_t at : loaded)
    if (std::ranges::find(loaded, at + word) != loaded.end()) return at;
  return 0;
}

// The string at an address of data: address, length.
std::optional<std::string> string_at(const ElfWords& words, uint64_t at) {
  const auto text = words.at(at), length = words.at(at + word);
  if (!text || !length || *length > longest_reason) return std::nullopt;
  if (*length == 0) return std::string();
  const ByteSpan bytes = words.bytes(*text);
  if (bytes.size() < *length) return std::nullopt;
  std::string out(reinterpret_cast<const char*>(bytes.data()), *length);
  const bool is_text = std::ranges::all_of(out, [](char c) { return c >= ' ' && c <= '~'; });
  return is_text ? std::optional(out) : std::nullopt;
}

// runtime.waitReasonStrings: an array of strings that begins with "", "GC assist marking", "IO wait".
std::vector<std::string> read_reasons(const ElfFile& file, const ElfWords& words) {
  constexpr std::string_view first = "GC assist marking", second = "IO wait";
  constexpr size_t most_places = 64;
  for (const ElfSegment& s : file.elf().segments()) {
    if (s.type != PT_LOAD || (s.flags & PF_W)) continue;
    const ByteSpan bytes = words.bytes(s.address);
    for (size_t from = 0; bytes.size() >= from + first.size();) {
      const void* found = ::memmem(bytes.data() + from, bytes.size() - from, first.data(), first.size());
      if (!found) break;
      from = static_cast<size_t>(static_cast<const std::byte*>(found) - bytes.data());
      for (uint64_t place : words.find(s.address + from, most_places)) {
        if (string_at(words, place) != first || string_at(words, place + 2 * word) != second) continue;
        std::vector<std::string> out = {""};
        for (uint64_t at = place; out.size() < most_reasons; at += 2 * word) {
          std::optional<std::string> text = string_at(words, at);
          if (!text || text->empty()) break;
          out.push_back(std::move(*text));
        }
        return out;
      }
      from++;
    }
  }
  return {};
}

base::Error unknown(std::string why) { return {base::Failure::unsupported, std::move(why)}; }

} // namespace

bool looks_like_go(const ElfFile& file) {
  return file.elf().section(".gopclntab") || file.elf().section(".data.rel.ro.gopclntab") || file.elf().section(".go.buildinfo");
}

base::Result<GoWaits> find_go_waits(const ElfFile& file) {
  if (file.elf().machine() != EM_X86_64) return unknown("only Go programs for x86-64 are supported");
  const std::optional<GoTable> table = GoTable::find(file);
  if (!table) return unknown("the table of functions of Go's runtime (.gopclntab) was not found, or has an unknown form");
  const Functions functions = find_functions(*table);
  if (!functions.park || !functions.execute) return unknown("the runtime has no functions runtime.gopark and runtime.execute");
  const ElfWords& words = table->words();
  const ByteSpan park = code_of(words, *functions.park);
  if (!checks_stack(park) || !checks_stack(code_of(words, *functions.execute)))
    return unknown("runtime.gopark does not begin as that of Go 1.17 to 1.24");
  GoWaits out = {.park = functions.park->begin, .execute = functions.execute->begin, .reasons = read_reasons(file, words), .goroutines = 0, .reason_at = reason_field(park)};
  if (functions.each) out.goroutines = slice_loaded_by(code_of(words, *functions.each), functions.each->begin);
  return out;
}

} // namespace format
