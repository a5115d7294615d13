#include "runtime/node.h"

#include "format/elf_hash.h"
#include "runtime/function_parts.h"
#include "runtime/hotspot_code.h"
#include "runtime/node_layouts.h"
#include "runtime/object_bytes.h"
#include "runtime/stopped_walk.h"

#include "runtime/node_walk.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace runtime {

namespace {

// Of the sizes of bytecodes; some builds do not export them.
std::optional<format::ElfSymbol> bytecode_sizes(const format::ElfFile& file) {
  constexpr std::string_view name = "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE";
  std::optional<format::ElfSymbol> out = format::find_exported(file, name);
  if (const format::ElfSection* table = out ? nullptr : file.elf().section(".symtab"))
    file.elf().for_each_symbol(*table, [&](const format::ElfSymbol& symbol) {
      if (symbol.name == name) out = symbol;
    });
  return out;
}

std::optional<uint64_t> exported_number(const format::ElfFile& file, std::string_view name) {
  const auto symbol = format::find_exported(file, name);
  const base::ByteSpan bytes = symbol ? bytes_at(file, symbol->value, 4) : base::ByteSpan();
  return bytes.size() == 4 ? std::optional(number_at(bytes, 0, 4)) : std::nullopt;
}

// Where the interpreter calls the handler of a bytecode, with the address in rcx; it goes on with the frame's bytecode array and offset. False: not found.
bool find_returns(const format::ElfFile& file, node_layout& l) {
  constexpr std::string_view call = "\xff\xd1\x4c\x8b\x65\xe0\x44\x8b\x4d\xdc";
  constexpr size_t call_bytes = 2;
  size_t count = 0;
  for (const format::ElfSegment& s : file.elf().segments()) {
    if (s.type != PT_LOAD || !(s.flags & PF_X)) continue;
    const base::ByteSpan code = base::slice(file.bytes(), s.offset, s.file_size);
    for (base::ByteSpan rest = code; count < NODE_RETURNS;) {
      const auto* const found = static_cast<const std::byte*>(::memmem(rest.data(), rest.size(), call.data(), call.size())); // find() takes ten times as long
      if (!found) break;
      l.returns[count++] = static_cast<uint16_t>((s.address + static_cast<uint64_t>(found - code.data()) + call_bytes) & 0xfff);
      rest = rest.subspan(static_cast<size_t>(found - rest.data()) + 1);
    }
  }
  if (count == 1) l.returns[1] = l.returns[0];
  std::memcpy(&l.return_text, call.data() + call_bytes, sizeof l.return_text);
  return count != 0;
}

} // namespace

std::optional<FileRuntime> recognise_node(const format::ElfFile& file) {
  const auto major = exported_number(file, "_ZN2v88internal7Version6major_E"), minor = exported_number(file, "_ZN2v88internal7Version6minor_E");
  if (!major || !minor) return std::nullopt;
  FileRuntime out = {.version = "V8 " + std::to_string(*major) + "." + std::to_string(*minor), .problem = "layout not known"};
  const auto* const row = std::ranges::find(node_layouts, *major * 100 + *minor * 10, &NodeLayout::version);
  const auto sizes = bytecode_sizes(file);
  constexpr uint64_t largest_table = 3 * 256; // a byte for each bytecode and width of operands
  if (row == node_layouts.end() || !sizes || sizes->size > largest_table) return out;
  out.table.kind = LANGUAGE_NODE;
  out.table.node = row->walk;
  node_layout& l = out.table.node;
  l.version = row->version;
  l.row = static_cast<uint16_t>(row - node_layouts.begin());
  out.table.root = sizes->value;
  out.table.root_bytes = static_cast<uint32_t>(sizes->size);
  l.root_word = number_at(bytes_at(file, sizes->value, 8), 0, 8);
  if (find_returns(file, l)) out.problem.clear();
  return out;
}

// V8 maps its builtins a second time, elsewhere: the table is that of the place where the variables are.
std::optional<std::string> complete_node(language_table& table, const ReadMemory& read) {
  uint64_t word = 0;
  if (!read(table.root, std::as_writable_bytes(std::span(&word, 1))) || word != table.node.root_word) return std::nullopt;
  return std::string();
}

std::optional<RuntimeFrame> frame_of_node(const language_table& table, const ReadMemory& read, const unwind::Frame& frame) {
  using unwind::Registers;
  if (!frame.by_frame_pointer) return std::nullopt;
  language_walk walk = {};
  node_memory& m = walk.node;
  walked_memory = &read;
  m.pc = frame.registers.get(Registers::rip).value_or(0);
  m.sp = frame.registers.get(Registers::rsp).value_or(0);
  m.bp = frame.registers.get(Registers::rbp).value_or(0);
  m.is_exact = frame.is_exact;
  node_frame(&table.node, &walk);
  RuntimeFrame out = {.object = language_object{.address = walk.code, .check = walk.check}, .number = language_entry(&walk)};
  if (walk.check) node_describe(&table.node, &walk, &*out.object);
  return out;
}

// Frames of the engine between frames of JavaScript are left out, and so are stubs, which lead from one to the other.
Expanded expand_node(std::span<const uint64_t> words, const ProcessRuntime& process, Show show, const FindCodeObject& find) {
  const spec::UserStack parts = spec::split_user_stack(words);
  Expanded out;
  size_t index = 0; // of the entry
  bool is_inside = false;
  const auto put = [&](std::initializer_list<uint64_t> entry) {
    out.words.insert(out.words.end(), entry);
    out.from.push_back(index);
  };
  for (std::span<const uint64_t> rest = parts.frames; !rest.empty(); index++) {
    const uint64_t word = rest.front();
    const spec::StackEntry entry = spec::take_entry(rest);
    const auto check = static_cast<uint32_t>(entry.number >> LANGUAGE_CHECK_SHIFT & LANGUAGE_CHECK_MASK);
    if (entry.tag != LANGUAGE_TAG_NODE || !check) {
      const uint64_t code = entry.address - (index ? 1 : 0);
      const bool is_stub = entry.tag == LANGUAGE_TAG_NODE && index && (entry.number & LANGUAGE_POSITION_MASK) == NODE_NO_POSITION;
      const bool folds = is_stub || (is_inside && code - process.code.begin < process.code.end - process.code.begin);
      if (folds && show == Show::foldable)
        put({spec::tagged_word(spec::FrameKind::interpreter, 0), code});
      else if (!folds || show == Show::both || show == Show::native)
        put({entry.address});
      continue;
    }
    is_inside = true;
    const Code* code = find(entry.address, check);
    if (!code || !code->compiled) {
      put({word, entry.address});
      continue;
    }
    for (const CompiledCode::Call& call : code->compiled->calls) {
      const uint64_t number = uint64_t{call.check} << LANGUAGE_CHECK_SHIFT | (call.position & LANGUAGE_POSITION_MASK);
      put({spec::tagged_word(spec::FrameKind::javascript, number), call.method});
    }
  }
  if (parts.end) out.words.push_back(parts.end);
  return out;
}

} // namespace runtime
