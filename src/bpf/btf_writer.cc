// Writing BTF. All words are little-endian u32, as is the machine.
#include "bpf/btf_writer.h"

#include <algorithm>
#include <cstring>
#include <linux/btf.h>

namespace bpf {

BtfWriter::BtfWriter() : strings_(1, '\0') {} // offset 0 is the empty name

uint32_t BtfWriter::string(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  if (text.empty()) return 0;
  auto [place, is_new] = places_.try_emplace(std::string(text), static_cast<uint32_t>(strings_.size()));
  if (is_new) strings_.append(text).push_back('\0');
  return place->second;
}

void BtfWriter::put(uint32_t word) { types_.push_back(word); }

uint32_t BtfWriter::add(uint32_t name, uint32_t kind, uint32_t length, uint32_t size_or_type) {
  put(name);
  put(kind << 24 | length);
  put(size_or_type);
  return ++count_;
}

uint32_t BtfWriter::integer(std::string_view name, uint32_t bytes, bool is_signed) {
  uint32_t id = add(string(name), BTF_KIND_INT, 0, bytes);
  put((is_signed ? BTF_INT_SIGNED : 0) << 24 | bytes * 8);
  return id;
}

uint32_t BtfWriter::array(uint32_t element, uint32_t index, uint32_t count) {
  uint32_t id = add(0, BTF_KIND_ARRAY, 0, 0);
  put(element);
  put(index);
  put(count);
  return id;
}

uint32_t BtfWriter::function(std::string_view name, uint32_t parameters, uint32_t parameter,
                             uint32_t result, bool is_global) {
  uint32_t prototype = add(0, BTF_KIND_FUNC_PROTO, parameters, result);
  for (uint32_t i = 0; i < parameters; i++) {
    put(string("a" + std::to_string(i)));
    put(parameter);
  }
  return add(string(name), BTF_KIND_FUNC, is_global ? BTF_FUNC_GLOBAL : BTF_FUNC_STATIC, prototype);
}

std::vector<std::byte> BtfWriter::finish() const {
  btf_header header{};
  header.magic = BTF_MAGIC;
  header.version = BTF_VERSION;
  header.hdr_len = sizeof header;
  header.type_len = static_cast<uint32_t>(types_.size() * sizeof(uint32_t));
  header.str_off = header.type_len;
  header.str_len = static_cast<uint32_t>(strings_.size());
  std::vector<std::byte> blob(sizeof header + header.type_len + header.str_len);
  std::memcpy(blob.data(), &header, sizeof header);
  if (!types_.empty()) std::memcpy(blob.data() + sizeof header, types_.data(), header.type_len);
  std::memcpy(blob.data() + sizeof header + header.type_len, strings_.data(), strings_.size());
  return blob;
}

namespace {

// Function names must be C identifiers.
std::string identifier(std::string_view text) {
  std::string name(text.substr(0, 127)); // the kernel's KSYM_NAME_LEN was 128
  for (char& c : name) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!letter) c = '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(name.begin(), '_');
  return name;
}

std::vector<bpf_func_info> describe_functions(BtfWriter& writer, const Code& code, uint32_t word) {
  std::vector<bpf_func_info> infos;
  if (code.functions.empty() || code.functions[0].insn != 0) {
    infos.push_back({0, writer.function(identifier(code.name), 1, word, word)});
  }
  for (const FunctionInfo& f : code.functions) {
    infos.push_back({f.insn, writer.function(identifier(f.name), f.parameters, word, word, f.is_global)});
  }
  return infos;
}

// The second half of a 64-bit constant is no instruction and may not have a line.
bool is_second_half(const Code& code, uint32_t insn) {
  return insn > 0 && code.insns[insn - 1].code == (BPF_LD | BPF_IMM | BPF_DW);
}

bpf_line_info describe_line(BtfWriter& writer, const base::Source& source, uint32_t insn, base::Range where) {
  base::Position at = source.position(where.begin);
  // Ten bits are for the column.
  return {insn, writer.string(source.name(where.begin)), writer.string(source.line_at(where.begin)),
          at.line << 10 | std::min(at.column, 1023u)};
}

// Every function must begin with a line; one that has none takes that of the place before it.
std::vector<bpf_line_info> describe_lines(BtfWriter& writer, const Code& code,
                                          const std::vector<bpf_func_info>& functions,
                                          const base::Source& source) {
  std::vector<bpf_line_info> infos;
  size_t next = 0;
  base::Range last;
  auto add = [&](uint32_t insn, base::Range where) {
    last = where;
    if (insn >= code.insns.size() || is_second_half(code, insn)) return;
    if (!infos.empty() && infos.back().insn_off >= insn) return;
    infos.push_back(describe_line(writer, source, insn, where));
  };
  for (const bpf_func_info& f : functions) {
    while (next < code.lines.size() && code.lines[next].insn < f.insn_off) {
      add(code.lines[next].insn, code.lines[next].where);
      next++;
    }
    bool has_line = next < code.lines.size() && code.lines[next].insn == f.insn_off;
    if (!has_line) add(f.insn_off, last);
  }
  for (; next < code.lines.size(); next++) add(code.lines[next].insn, code.lines[next].where);
  return infos;
}

} // namespace

ObjectTypes describe(std::span<const MapSpec> maps, std::span<const Code> programs,
                     const base::Source* source) {
  ObjectTypes types;
  types.values.resize(maps.size());
  types.programs.resize(programs.size());
  auto needs_types = [](const MapSpec& m) { return m.needs_btf; };
  auto needs_functions = [&](const Code& c) { return source || c.has_callbacks; };
  if (std::none_of(maps.begin(), maps.end(), needs_types) &&
      std::none_of(programs.begin(), programs.end(), needs_functions)) {
    return types;
  }

  BtfWriter writer;
  types.key = writer.integer("int", 4, true);
  uint32_t word = writer.integer("unsigned long", 8, false);
  for (size_t i = 0; i < maps.size(); i++) {
    if (!needs_types(maps[i])) continue;
    types.values[i] = writer.array(word, types.key, maps[i].value_size / 8);
  }
  for (size_t i = 0; i < programs.size(); i++) {
    const Code& code = programs[i];
    if (!needs_functions(code)) continue;
    types.programs[i].functions = describe_functions(writer, code, word);
    if (source) types.programs[i].lines = describe_lines(writer, code, types.programs[i].functions, *source);
  }
  types.blob = writer.finish();
  return types;
}

} // namespace bpf
