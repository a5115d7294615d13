#include "runtime/ruby.h"

#include "dwarf/frame_entries.h"
#include "dwarf/frame_rules.h"
#include "format/elf_hash.h"
#include "runtime/function_parts.h"
#include "runtime/object_bytes.h"
#include "runtime/ruby_layouts.h"
#include "runtime/stopped_walk.h"

#include "runtime/ruby_walk.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <map>
#include <set>

namespace runtime {

namespace {

// vm_exec_core: the function that jumps most often to what is in memory, as each instruction ends with the jump to the next one's code. Others
// with as many jumps to a register, as the engine of regular expressions, are not it. 0 to 0: no function does so often enough.
language_code find_evaluation(const format::ElfFile& file) {
  constexpr size_t fewest = 60, smallest = 6000, largest = 1 << 20; // it has 120 such jumps and more in 17,000 bytes
  uint64_t budget = 256 << 20; // bytes: functions of a damaged file may overlap
  const format::ElfSection* text = file.elf().section(".text");
  const dwarf::FrameTables tables = dwarf::frame_tables_of(file);
  dwarf::FrameEntries entries(tables, true);
  language_code out = {};
  size_t most = fewest - 1;
  while (auto entry = entries.next()) {
    if (!text || entry->begin < text->address || entry->end < entry->begin + smallest || entry->end - entry->begin > largest) continue;
    if (entry->end - entry->begin > budget) break;
    budget -= entry->end - entry->begin;
    const base::ByteSpan code = bytes_at(file, entry->begin, entry->end - entry->begin);
    size_t jumps = 0;
    for (size_t at = 1; at + 2 <= code.size(); at++) {
      const auto operand = static_cast<uint8_t>(code[at + 1]);
      if (code[at - 1] == std::byte{0xff}) continue; // both are of a distance
      jumps += code[at] == std::byte{0xff} && (operand & 0x38) == 0x20 && operand >> 6 != 3 && operand != 0x25 && operand != 0x66; // a prefix of the next
    }
    if (jumps <= most) continue;
    most = jumps;
    out = {entry->begin, entry->end};
  }
  return out;
}

// The two words from which the loader finds ruby_current_ec in thread-local memory (its number of this file, and the distance), as rb_thread_current
// has their address: data16 lea words(%rip), %rdi; a call of __tls_get_addr. 0: it does not begin so.
uint64_t thread_local_words(const format::ElfFile& file) {
  const auto function = format::find_exported(file, "rb_thread_current");
  constexpr std::string_view load = "\x66\x48\x8d\x3d";
  constexpr size_t prologue = 24;
  if (!function) return 0;
  const base::ByteSpan code = bytes_at(file, function->value, prologue + load.size() + 4);
  for (size_t at = 0; at + load.size() + 4 <= code.size(); at++) {
    if (std::memcmp(&code[at], load.data(), load.size()) != 0) continue;
    at += load.size();
    return function->value + at + 4 + static_cast<uint64_t>(int64_t{static_cast<int32_t>(number_at(code, at, 4))});
  }
  return 0;
}

// Sets how a thread's context is found, and `root`. False: not known.
bool find_context(const format::ElfFile& file, language_table& table) {
  if (table.ruby.vm_threads) {
    const auto vm = format::find_exported(file, "ruby_current_vm_ptr");
    table.ruby.context = RUBY_IN_LIST;
    table.root = vm ? vm->value : 0;
    return vm.has_value();
  }
  const auto context = format::find_exported(file, "ruby_current_ec");
  auto distance = static_cast<int64_t>(context ? context->value : 0);
  table.ruby.context = RUBY_BY_MODULE;
  table.root = thread_local_words(file);
  if (table.root && !context) {
    distance = static_cast<int64_t>(number_at(bytes_at(file, table.root + 8, 8), 0, 8)); // nobody else may have it: the linker has set it
  } else if (!table.root) {
    // Of an executable: its own memory ends at the thread pointer.
    if (!context || !format::find_exported(file, "main")) return false;
    for (const format::ElfSegment& s : file.elf().segments())
      if (s.type == PT_TLS && s.alignment) distance -= static_cast<int64_t>((s.memory_size + s.alignment - 1) / s.alignment * s.alignment);
    table.ruby.context = RUBY_BY_OFFSET;
    table.root = table.evaluation[0].begin;
    if (distance >= 0) return false;
  }
  table.ruby.context_distance = static_cast<int32_t>(distance);
  return true;
}

// The table of symbols, by the code around rb_id2str: a 32-bit number is compared with the first field (last_id), in either order, and the list of
// names is loaded, most often right behind. 0: not found, or there are several.
uint64_t find_symbols(const format::ElfFile& file, const ruby_layout& l) {
  const auto function = format::find_exported(file, "rb_id2str");
  constexpr uint64_t around = 0x4000, right_behind = 24;
  if (!function || function->value < around) return 0;
  const uint64_t begin = function->value - around;
  const base::ByteSpan code = bytes_at(file, begin, 2 * around);
  // The address that an instruction refers to by its distance, at `at`; 0: it does not.
  const auto target = [&](size_t at) -> uint64_t {
    if ((code[at] & std::byte{0xc7}) != std::byte{0x05}) return 0;
    return begin + at + 5 + static_cast<uint64_t>(int64_t{static_cast<int32_t>(number_at(code, at + 1, 4))});
  };
  std::map<uint64_t, std::vector<size_t>> compared, loaded; // by target: where
  for (size_t at = 0; at + 7 <= code.size(); at++) {
    if (code[at] == std::byte{0x39} || code[at] == std::byte{0x3b}) compared[target(at + 1)].push_back(at);
    if ((code[at] & std::byte{0xfb}) == std::byte{0x48} && code[at + 1] == std::byte{0x8b}) loaded[target(at + 2)].push_back(at); // 64 bits
  }
  std::set<uint64_t> near, all;
  for (const auto& [to, places] : compared) {
    const auto load = to ? loaded.find(to + l.symbols_ids) : loaded.end();
    if (load == loaded.end()) continue;
    all.insert(to);
    for (const size_t place : places)
      if (std::ranges::any_of(load->second, [&](size_t at) { return at > place && at - place < right_behind; })) near.insert(to);
  }
  const std::set<uint64_t>& found = near.size() == 1 ? near : all;
  return found.size() == 1 ? *found.begin() : 0;
}

// A string of Ruby, as ruby_copy_text() has copied it.
std::string text_of(Bytes object, const ruby_layout& l, const ReadMemory& read) {
  constexpr uint64_t longest = 4096;
  const uint64_t flags = number_at(object, 0, 8);
  if ((flags & RUBY_OBJECT_KIND) != RUBY_STRING) return {};
  const bool is_elsewhere = flags & RUBY_TEXT_IS_ELSEWHERE;
  const uint64_t length = is_elsewhere    ? number_at(object, l.text_heap_length, 8)
                          : l.text_length ? number_at(object, l.text_length, 8)
                                          : flags >> (RUBY_INTERNAL_SHIFT + 2) & 31;
  if (!length || length > longest) return {};
  const Bytes known = object.subspan(is_elsewhere ? size_t{RUBY_TEXT_HEADER} : l.text_embedded);
  std::string out(length, '\0');
  const size_t there = std::min<size_t>(length, known.size());
  std::memcpy(out.data(), known.data(), there);
  if (there == length) return out;
  if (is_elsewhere && read && read(number_at(object, RUBY_TEXT_AT, 8), std::as_writable_bytes(std::span(out)))) return out;
  out.resize(there);
  return out + "…";
}

} // namespace

std::optional<FileRuntime> recognise_ruby(const format::ElfFile& file) {
  const auto version = format::find_exported(file, "ruby_version");
  if (!version || !format::find_exported(file, "ruby_init")) return std::nullopt;
  const base::ByteSpan text = bytes_at(file, version->value, std::min<uint64_t>(version->size, 16));
  const std::string number(base::text_at(text, 0));
  FileRuntime out = {.version = "Ruby " + number, .problem = "layout not known"};
  unsigned major = 0, minor = 0;
  std::sscanf(number.c_str(), "%u.%u", &major, &minor);
  const auto* row = std::ranges::find(ruby_layouts, static_cast<uint16_t>(major << 8 | minor), &ruby_layout::version);
  if (row == std::end(ruby_layouts)) return out;
  out.problem = "vm_exec_core not found";
  out.table.ruby = *row;
  out.table.evaluation[0] = find_evaluation(file);
  if (!out.table.evaluation[0].end) return out;
  out.table.evaluation[1] = cold_part(file, out.table.evaluation[0]);
  out.problem = "layout not known (thread-local memory)";
  if (!find_context(file, out.table)) return out;
  const uint64_t symbols = find_symbols(file, *row);
  out.table.ruby.symbols = symbols ? static_cast<int32_t>(static_cast<int64_t>(symbols - out.table.root)) : 0;
  out.table.kind = LANGUAGE_RUBY;
  out.problem.clear();
  return out;
}

std::optional<Code> decode_ruby(const language_object& object, const language_table& table, const ReadMemory& read) {
  const ruby_layout& l = table.ruby;
  const Bytes body = as_bytes(object.object);
  Code out = {.name = text_of(as_bytes(object.name), l, read), .kind = LANGUAGE_RUBY, .version = l.version};
  const bool is_in_c = number_at(body, RUBY_IS_IN_C, 1);
  if (is_in_c && !l.symbols) out.name = "[function in C]";
  if (out.name.empty()) return std::nullopt;
  if (is_in_c) return out;
  out.file = text_of(as_bytes(object.file), l, read);
  if (out.file.empty()) return std::nullopt;
  const uint64_t line = number_at(body, l.body_first_line, l.first_line_is_tagged ? 8 : 4);
  out.first_line = static_cast<uint32_t>(l.first_line_is_tagged ? line >> 1 : line);
  return out;
}

void correct_ruby(const language_table& table, const ReadMemory& read, unwind::Frame& frame, bool has_table) {
  using unwind::Registers;
  const auto rsp = frame.registers.get(Registers::rsp);
  __u64 words[RUBY_COMPILED_READ] = {};
  if (has_table || !rsp || !read(*rsp, std::as_writable_bytes(std::span(words)))) return;
  const uint32_t count = ruby_compiled_words(table.evaluation[0].begin, words);
  if (!count) return;
  frame.registers.set(Registers::rip, table.evaluation[0].begin + 1);
  frame.registers.set(Registers::rsp, *rsp + 8 * count);
  frame.is_exact = false;
}

LanguageStack walk_ruby(const language_table& table, const ThreadWalk& thread, const ReadMemory& read) {
  walked_memory = &read;
  language_walk walk = {};
  walk.thread_pointer = thread.thread_pointer;
  bool is_known = false;
  if (table.ruby.context != RUBY_IN_LIST) {
    is_known = !ruby_find_context(&table, &walk);
  } else if (!ruby_search(&table, &walk)) {
    for (unsigned turns = 0; turns < LANGUAGE_MAX_THREADS && !ruby_search_turn(&table, &walk); turns++) {}
    is_known = walk.end == LANGUAGE_COMPLETE;
  }
  if (!is_known || ruby_begin(&table, &walk)) return {.words = {}, .objects = {}, .end = walk.end};
  return walk_frames(
      spec::FrameKind::ruby, walk, [&] { return ruby_turn(&table, &walk); },
      [&](language_object& object) {
        std::memcpy(object.object, walk.ruby.body_bytes, RUBY_BODY_BYTES);
        ruby_describe(&table, &walk, &object);
      });
}

uint32_t line_of_ruby(const Code&, uint64_t position) { return static_cast<uint32_t>(position); }

} // namespace runtime
