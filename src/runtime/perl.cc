#include "runtime/perl.h"

#include "dwarf/frame_entries.h"
#include "dwarf/frame_rules.h"
#include "format/elf_hash.h"
#include "runtime/function_parts.h"
#include "runtime/object_bytes.h"
#include "runtime/perl_layouts.h"
#include "runtime/stopped_walk.h"

#include "runtime/perl_walk.h"

#include <algorithm>
#include <map>
#include <set>

namespace runtime {

namespace {

struct Version {
  unsigned major, minor, patch;
};

std::optional<Version> version_of(const format::ElfFile& file) {
  const auto number = [&](std::string_view name) -> std::optional<unsigned> {
    const auto variable = format::find_exported(file, name);
    const base::ByteSpan bytes = variable ? bytes_at(file, variable->value, 1) : base::ByteSpan();
    return bytes.empty() ? std::nullopt : std::optional(std::to_integer<unsigned>(bytes[0]));
  };
  const auto major = number("PL_revision"), minor = number("PL_version"), patch = number("PL_subversion");
  if (!major || !minor || !patch) return std::nullopt;
  return Version{*major, *minor, *patch};
}

int64_t signed_at(base::ByteSpan code, size_t at) { return static_cast<int32_t>(base::Reader(code, at).number<uint32_t>()); }

// Whether a function has an instruction that loads a field: mov offset(register), register.
bool loads(const format::ElfFile& file, std::string_view function, int32_t offset) {
  const auto symbol = format::find_exported(file, function);
  const base::ByteSpan code = symbol ? bytes_at(file, symbol->value, symbol->size) : base::ByteSpan();
  for (size_t at = 0; at + 7 <= code.size(); at++) {
    const auto byte = [&](size_t i) { return std::to_integer<unsigned>(code[at + i]); };
    const bool is_load = (byte(0) & 0xf8) == 0x48 && byte(1) == 0x8b && (byte(2) & 0xc0) == 0x80 && (byte(2) & 7) != 4;
    if (is_load && signed_at(code, at + 3) == offset) return true;
  }
  return false;
}

// docatch(): an eval in a sub that C code has called runs the rest of the sub in another call of the evaluation function, where exceptions can
// return to. It is the same activation. Neither docatch() nor, from 5.38 on, the operations that begin an eval are exported. Each of these ends
// with a jump to docatch() that passes its own address, so docatch() is where at least two functions that load their own address jump next.
language_code docatch(const format::ElfFile& file) {
  const base::ByteSpan code = file.section(".text");
  const format::ElfSection* section = file.elf().section(".text");
  if (!section) return {};
  const dwarf::FrameTables tables = dwarf::frame_tables_of(file);
  dwarf::FrameEntries entries(tables, true);
  const auto byte = [&](size_t at) { return std::to_integer<unsigned>(code[at]); };
  const auto target = [&](size_t at) { return section->address + at + 4 + static_cast<uint64_t>(signed_at(code, at)); };
  const auto begins_at = [&](uint64_t address) {
    const auto place = dwarf::search_frame_header(tables, address);
    const auto entry = place ? entries.at(*place) : std::nullopt;
    return entry && entry->begin == address ? entry : std::nullopt;
  };
  constexpr size_t lea = 7, jump = 5, between = 32, longest_operation = 8192;
  std::map<uint64_t, std::pair<std::set<uint64_t>, uint64_t>> found; // by begin: who jumps there, and the end
  for (size_t at = 0; at + lea + jump + between <= code.size(); at++) {
    if (byte(at) != 0x48 || byte(at + 1) != 0x8d || (byte(at + 2) & 0xf7) != 0x35) continue; // lea distance(%rip), %rsi or %rdi
    const uint64_t from = section->address + at, own = target(at + 3);
    if (own >= from || from - own > longest_operation) continue;
    const auto function = begins_at(own);
    if (!function || from >= function->end) continue;
    for (size_t next = at + lea; next < at + lea + between; next++) {
      if ((byte(next) & 0xfe) != 0xe8) continue; // call, jmp
      const auto to = begins_at(target(next + 1));
      if (!to || to->begin == own) continue;
      found[to->begin].first.insert(own);
      found[to->begin].second = to->end;
      break;
    }
  }
  const auto most = std::ranges::max_element(found, {}, [](const auto& f) { return f.second.first.size(); });
  return most == found.end() || most->second.first.size() < 2 ? language_code{} : language_code{most->first, most->second.second};
}

language_code range_of(const std::optional<format::ElfSymbol>& function) {
  return function && function->is_function() ? language_code{function->value, function->value + function->size} : language_code{};
}

std::string utf8_of_latin1(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80)
      out += c;
    else
      out += {static_cast<char>(0xc0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3f))};
  }
  return out;
}

// A name as Perl keeps it (HEK): its length, the characters, a zero, and flags.
std::string name_of(Bytes object, uint64_t address, const perl_layout& l, const ReadMemory& read) {
  constexpr uint32_t longest = 4096;
  constexpr unsigned is_utf8 = 1;
  const auto length = base::Reader(object, l.key_length).number<uint32_t>();
  if (!address || !length || length > longest) return {};
  std::string out(length + 2, '\0');
  const Bytes known = object.subspan(std::min<size_t>(l.key_text, object.size()));
  if (out.size() <= known.size() || !read || !read(address + l.key_text, std::as_writable_bytes(std::span(out)))) {
    const size_t there = std::min<size_t>(length, known.size());
    if (there < length) return std::string(reinterpret_cast<const char*>(known.data()), there) + "…";
    std::memcpy(out.data(), known.data(), std::min(out.size(), known.size()));
  }
  const auto flags = static_cast<unsigned char>(out.back());
  out.resize(length);
  return flags & is_utf8 ? out : utf8_of_latin1(out);
}

// A text that ends with a zero.
std::string text_of(Bytes object, uint64_t address, const ReadMemory& read) {
  constexpr size_t longest = 4096;
  if (!address) return {};
  std::string out(reinterpret_cast<const char*>(object.data()), object.size());
  while (out.find('\0') == std::string::npos) {
    std::string more(object.size(), '\0');
    if (out.size() >= longest || !read || !read(address + out.size(), std::as_writable_bytes(std::span(more)))) return out + "…";
    out += more;
  }
  out.resize(out.find('\0'));
  return out;
}

} // namespace

std::optional<FileRuntime> recognise_perl(const format::ElfFile& file) {
  const auto evaluation = format::find_exported(file, "Perl_runops_standard");
  if (!evaluation || !evaluation->is_function() || !evaluation->size) return std::nullopt;
  FileRuntime out = {.version = "Perl", .problem = "layout not known"};
  const auto version = version_of(file);
  if (!version) return out;
  out.version += " " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." + std::to_string(version->patch);
  const auto key = format::find_exported(file, "PL_thr_key"), stack = format::find_exported(file, "PL_curstackinfo"),
             statement = format::find_exported(file, "PL_curcop");
  const bool has_threads = key.has_value();
  const auto* layout = std::ranges::find_if(perl_layouts, [&](const perl_layout& l) {
    return l.version == (version->major << 8 | version->minor) && l.has_threads == has_threads;
  });
  if (layout == std::end(perl_layouts)) return out;
  if (has_threads ? !loads(file, "Perl_cxinc", layout->current_stack) || !loads(file, "Perl_ckwarn", layout->current_statement) : !stack || !statement)
    return out;
  out.problem.clear();
  out.table.kind = LANGUAGE_PERL;
  out.table.root = has_threads ? key->value : stack->value;
  out.table.root_bytes = static_cast<uint32_t>(has_threads ? key->size : stack->size);
  out.table.perl = *layout;
  if (!has_threads) out.table.perl.current_statement = static_cast<int32_t>(statement->value - stack->value);
  out.table.evaluation[0] = range_of(evaluation);
  out.table.evaluation[1] = range_of(format::find_exported(file, "Perl_runops_debug")); // with -DDEBUGGING
  out.table.nested = docatch(file);
  return out;
}

// "Package::sub", as caller() names it; what has no name has one in parentheses.
std::optional<Code> decode_perl(const language_object& object, const language_table& table, const ReadMemory& read) {
  static constexpr std::string_view names[] = {"", "(eval)", "(require)", "(sort)", "(?{})", "(defer)", "(main)"};
  static_assert(std::size(names) == PERL_FRAME_PROGRAM + 1);
  const perl_layout& l = table.perl;
  perl_object found = {};
  std::memcpy(&found, object.object, sizeof found);
  if (found.kind >= std::size(names)) return std::nullopt;
  Code out = {.name = std::string(names[found.kind]), .kind = LANGUAGE_PERL, .version = l.version};
  if (l.has_threads)
    out.file = text_of(as_bytes(object.file), found.file, read);
  else if (const std::string file = name_of(as_bytes(object.file), found.file, l, read); file.starts_with("_<"))
    out.file = file.substr(2);
  if (found.kind != PERL_FRAME_SUB) return out;
  out.name = name_of(as_bytes(object.name), found.name, l, read);
  if (out.name.empty()) out.name = "(unknown)";
  if (const std::string package = name_of(as_bytes(object.lines), found.stash, l, read); !package.empty()) out.name = package + "::" + out.name;
  return out;
}

LanguageStack walk_perl(const language_table& table, const ThreadWalk& thread, const ReadMemory& read) {
  walked_memory = &read;
  language_walk walk = {};
  walk.thread_pointer = thread.thread_pointer;
  walk.end = LANGUAGE_NO_THREAD;
  if (table.perl.has_threads) {
    uint32_t turn = 0;
    while (turn < PERL_DESCRIPTOR_BYTES / 8 && !perl_search_turn(&walk, turn)) turn++;
    if (walk.end != LANGUAGE_COMPLETE) return {.words = {}, .objects = {}, .end = walk.end};
  }
  if (perl_find_interpreter(&table, &walk) || perl_begin(&table, &walk)) return {.words = {}, .objects = {}, .end = walk.end};
  return walk_frames(
      spec::FrameKind::perl, walk, [&] { return perl_turn(&table, &walk); }, [&](language_object& object) { perl_describe(&table.perl, &walk, &object); });
}

uint32_t line_of_perl(const Code&, uint64_t position) { return position == LANGUAGE_POSITION_MASK ? 0 : static_cast<uint32_t>(position); }

} // namespace runtime
