#include "bpf/library.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <elf.h>
#include <set>

// The object files, one for each of lib/; ACU_BPF_OBJECTS is their folder when acu is built.
#define EMBED(name)                                                                                                                  \
  asm(".pushsection .rodata\n"                                                                                                       \
      ".balign 8\n"                                                                                                                  \
      "acu_object_" #name ":\n"                                                                                                      \
      ".incbin \"" ACU_BPF_OBJECTS "/" #name ".bpf.o\"\n"                                                                            \
      "acu_object_" #name "_end:\n"                                                                                                  \
      ".popsection\n");                                                                                                              \
  extern "C" const char acu_object_##name[], acu_object_##name##_end[]
EMBED(unwind);
EMBED(language);
EMBED(python);
EMBED(php);
EMBED(luajit);
EMBED(perl);
EMBED(lua);
EMBED(hotspot);
EMBED(ruby);
EMBED(node);

namespace bpf {
namespace {

// What clang wrote is not foreign: that it is as expected is asserted, and tested when acu is built.
class ObjectFile {
public:
  explicit ObjectFile(std::span<const char> bytes) : bytes_(bytes) {
    assert(bytes.size() >= sizeof(Elf64_Ehdr) && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0);
    header_ = at<Elf64_Ehdr>(0, 1).data();
    sections_ = at<Elf64_Shdr>(header_->e_shoff, header_->e_shnum);
    for (const Elf64_Shdr& s : sections_)
      if (s.sh_type == SHT_SYMTAB) {
        symbols_ = at<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
        names_ = bytes.data() + sections_[s.sh_link].sh_offset;
      }
  }

  std::vector<LibraryFunction> functions() const {
    std::vector<LibraryFunction> out;
    for (const Elf64_Sym& s : symbols_)
      if (ELF64_ST_TYPE(s.st_info) == STT_FUNC) out.push_back(function(s));
    return out;
  }

private:
  template<class T> std::span<const T> at(uint64_t offset, uint64_t count) const {
    assert(offset + count * sizeof(T) <= bytes_.size());
    return {reinterpret_cast<const T*>(bytes_.data() + offset), count};
  }

  LibraryFunction function(const Elf64_Sym& symbol) const {
    const Elf64_Shdr& code = sections_[symbol.st_shndx];
    LibraryFunction f;
    f.name = names_ + symbol.st_name;
    auto insns = at<bpf_insn>(code.sh_offset, code.sh_size / sizeof(bpf_insn));
    f.insns.assign(insns.begin(), insns.end());
    for (const Elf64_Shdr& s : sections_)
      if (s.sh_type == SHT_REL && s.sh_info == symbol.st_shndx)
        for (const Elf64_Rel& r : at<Elf64_Rel>(s.sh_offset, s.sh_size / sizeof(Elf64_Rel)))
          f.references.push_back(reference(r, f.insns[r.r_offset / sizeof(bpf_insn)].code == (BPF_JMP | BPF_CALL)));
    std::sort(f.references.begin(), f.references.end(), [](auto& a, auto& b) { return a.insn < b.insn; });
    f.stack_bytes = stack_of(f);
    f.is_global = ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL;
    return f;
  }

  // What is called and not in this file is a function of another one; all else that is not here is a map.
  LibraryReference reference(const Elf64_Rel& r, bool is_call) const {
    const Elf64_Sym& to = symbols_[ELF64_R_SYM(r.r_info)];
    auto insn = static_cast<uint32_t>(r.r_offset / sizeof(bpf_insn));
    if (to.st_shndx == SHN_UNDEF) return {insn, names_ + to.st_name, is_call};
    for (const Elf64_Sym& s : symbols_) // references to static functions name their section
      if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx == to.st_shndx) return {insn, names_ + s.st_name, true};
    assert(!"a reference to what is no function and no map");
    return {};
  }

  // The lowest place below r10 that is accessed or whose address is taken.
  static uint32_t stack_of(const LibraryFunction& f) {
    int32_t lowest = 0;
    for (size_t i = 0; i < f.insns.size(); i++) {
      const bpf_insn& n = f.insns[i];
      const int kind = BPF_CLASS(n.code);
      if ((kind == BPF_LDX && n.src_reg == BPF_REG_10) || ((kind == BPF_STX || kind == BPF_ST) && n.dst_reg == BPF_REG_10))
        lowest = std::min<int32_t>(lowest, n.off);
      if (n.code == (BPF_ALU64 | BPF_MOV | BPF_X) && n.src_reg == BPF_REG_10)
        for (size_t k = i + 1; k < f.insns.size() && k < i + 4; k++)
          if (f.insns[k].code == (BPF_ALU64 | BPF_ADD | BPF_K) && f.insns[k].dst_reg == n.dst_reg)
            lowest = std::min(lowest, f.insns[k].imm);
    }
    return static_cast<uint32_t>(-lowest);
  }

  std::span<const char> bytes_;
  const Elf64_Ehdr* header_ = nullptr;
  std::span<const Elf64_Shdr> sections_;
  std::span<const Elf64_Sym> symbols_;
  const char* names_ = nullptr;
};

} // namespace

std::span<const LibraryFunction> library() {
  static const std::vector<LibraryFunction> functions = [] {
    std::vector<LibraryFunction> all;
    const auto add = [&](const char* begin, const char* end) {
      for (LibraryFunction& f : ObjectFile({begin, static_cast<size_t>(end - begin)}).functions()) all.push_back(std::move(f));
    };
    add(acu_object_unwind, acu_object_unwind_end);
    add(acu_object_language, acu_object_language_end);
    add(acu_object_python, acu_object_python_end);
    add(acu_object_php, acu_object_php_end);
    add(acu_object_luajit, acu_object_luajit_end);
    add(acu_object_perl, acu_object_perl_end);
    add(acu_object_lua, acu_object_lua_end);
    add(acu_object_hotspot, acu_object_hotspot_end);
    add(acu_object_ruby, acu_object_ruby_end);
    add(acu_object_node, acu_object_node_end);
    std::set<std::string_view> names;
    for (const LibraryFunction& f : all) assert(names.insert(f.name).second);
    return all;
  }();
  return functions;
}

uint32_t library_index(std::string_view name) {
  auto all = library();
  auto found = std::find_if(all.begin(), all.end(), [&](const LibraryFunction& f) { return f.name == name; });
  assert(found != all.end());
  return static_cast<uint32_t>(found - all.begin());
}

bool is_left_out(const LibraryFunction& function, Languages languages) {
  return std::ranges::any_of(language_walkers, [&](const LanguageWalker& w) {
    return !(languages & only(w.language)) && std::ranges::find(w.functions, function.name) != w.functions.end();
  });
}

LibraryFunction does_nothing(const LibraryFunction& function) {
  return {.name = function.name,
          .insns = {{BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}},
          .is_global = function.is_global};
}

uint32_t library_stack(uint32_t index) {
  const LibraryFunction& f = library()[index];
  uint32_t below = 0;
  for (const LibraryReference& r : f.references)
    if (r.is_function) below = std::max(below, library_stack(library_index(r.name)));
  return (std::max(1u, f.stack_bytes) + 31) / 32 * 32 + below;
}

} // namespace bpf
