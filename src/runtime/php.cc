#include "runtime/php.h"

#include "format/elf_hash.h"
#include "runtime/function_parts.h"
#include "runtime/object_bytes.h"
#include "runtime/php_layouts.h"
#include "runtime/stopped_walk.h"

#include "runtime/php_walk.h"

#include <algorithm>
#include <cstdio>

namespace runtime {

namespace {

std::string version_of(const format::ElfFile& file) {
  constexpr std::string_view header = "X-Powered-By: PHP/";
  const base::ByteSpan constants = file.section(".rodata");
  const size_t at = std::string_view(reinterpret_cast<const char*>(constants.data()), constants.size()).find(header);
  return at == std::string_view::npos ? std::string() : std::string(base::text_at(constants, at + header.size()));
}

// Code of a small function, without the mark of a target of indirect jumps (endbr64).
base::ByteSpan code_of(const format::ElfFile& file, const format::ElfSymbol& function) {
  const base::ByteSpan code = bytes_at(file, function.value, std::min<uint64_t>(function.size, 64));
  return base::Reader(code).number<uint32_t>() == 0xfa1e0ff3 ? code.subspan(4) : code;
}

// Where current_execute_data is in executor_globals, by the function that compares it with 0: cmpq $0, offset(register) with or without another
// register. Nothing: it does so in another way.
std::optional<uint32_t> current_by_code(const format::ElfFile& file) {
  const auto function = format::find_exported(file, "zend_is_executing");
  if (!function) return std::nullopt;
  const base::ByteSpan code = code_of(file, *function);
  for (size_t at = 0; at + 9 <= code.size(); at++) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(code[at + i]); };
    if ((byte(0) & 0xf8) != 0x48 || byte(1) != 0x83 || (byte(2) & 0xf8) != 0xb8) continue;
    return base::Reader(code, at + ((byte(2) & 7) == 4 ? 4 : 3)).number<uint32_t>();
  }
  return std::nullopt;
}

constexpr uint32_t load_number = 0xc0c748, load_memory = 0x058b48; // mov $number, %rax; mov number(%rip), %rax

// What the first instruction of a function loads: a number, or what is at a distance of so many bytes from `root`. Nothing: neither.
std::optional<std::pair<uint32_t, int32_t>> loaded_by(const format::ElfFile& file, const format::ElfSymbol& function, uint64_t root) {
  const base::ByteSpan code = code_of(file, function);
  base::Reader in(code);
  const uint32_t instruction = in.number<uint16_t>() | uint32_t{in.number<uint8_t>()} << 16;
  const auto number = static_cast<int32_t>(in.number<uint32_t>());
  if (!in.ok() || (instruction != load_number && instruction != load_memory)) return std::nullopt;
  if (instruction == load_number) return std::pair(instruction, number);
  const uint64_t next = function.value + (function.size > 64 ? 64 : function.size) - code.size() + 7;
  const int64_t distance = static_cast<int64_t>(next - root) + number;
  if (distance != static_cast<int32_t>(distance)) return std::nullopt;
  return std::pair(instruction, static_cast<int32_t>(distance));
}

// Sets how the executor's variables are found. Of a build with threads, by the function that returns the offset of _tsrm_ls_cache from the thread
// pointer (PHP 8.0 and later); of a shared library without, by the one that loads the variables' address. False: not known.
bool find_executor(const format::ElfFile& file, bool has_threads, uint64_t root, php_layout& layout) {
  const auto function = format::find_exported(file, has_threads ? "tsrm_get_ls_cache_tcb_offset" : "zend_is_executing");
  const auto loaded = function ? loaded_by(file, *function, root) : std::nullopt;
  if (has_threads && !loaded) return false;
  if (!loaded || (!has_threads && loaded->first == load_number)) return true;
  layout.executor = !has_threads ? PHP_BY_POINTER : loaded->first == load_number ? PHP_THREADS : PHP_THREADS_BY_MEMORY;
  layout.executor_distance = loaded->second;
  return true;
}

// A string of PHP: its length, then its bytes.
std::string text_of(Bytes object, uint64_t address, const php_layout& l, const ReadMemory& read) {
  constexpr uint64_t longest = 4096;
  const uint64_t length = number_at(object, l.text_length, 8);
  if (!address || !length || length > longest) return {};
  std::string out(length, '\0');
  const Bytes known = object.subspan(std::min<size_t>(l.text_data, object.size()));
  if (length <= known.size() || !read || !read(address + l.text_data, std::as_writable_bytes(std::span(out)))) {
    const size_t there = std::min<size_t>(length, known.size());
    out.assign(reinterpret_cast<const char*>(known.data()), there);
    if (there < length) out += "…";
  }
  return out;
}

} // namespace

std::optional<FileRuntime> recognise_php(const format::ElfFile& file) {
  const auto evaluation = format::find_exported(file, "execute_ex");
  if (!evaluation || !evaluation->is_function() || !evaluation->size || !format::find_exported(file, "zend_vm_kind")) return std::nullopt;
  const std::string version = version_of(file);
  FileRuntime out = {.version = version.empty() ? "PHP" : "PHP " + version, .problem = "layout not known"};
  unsigned major = 0, minor = 0;
  std::sscanf(version.c_str(), "%u.%u", &major, &minor);
  const auto* row = std::ranges::find(php_layouts, static_cast<uint16_t>(major << 8 | minor), &php_layout::version);
  if (row == std::end(php_layouts) || current_by_code(file).value_or(row->current) != row->current) return out;
  php_layout layout = *row;
  auto root = format::find_exported(file, "executor_globals");
  const bool has_threads = !root;
  if (has_threads) root = format::find_exported(file, "executor_globals_offset");
  if (!root || !find_executor(file, has_threads, root->value, layout)) {
    out.problem = "layout not known (built with threads)";
    return out;
  }
  if (const auto functions = format::find_exported(file, "zend_flf_functions"))
    layout.frameless = static_cast<int32_t>(static_cast<int64_t>(functions->value - root->value));
  out.problem.clear();
  out.table.kind = LANGUAGE_PHP;
  out.table.root = root->value;
  out.table.root_bytes = static_cast<uint32_t>(root->size);
  out.table.php = layout;
  out.table.evaluation[0] = {evaluation->value, evaluation->value + evaluation->size};
  out.table.evaluation[1] = cold_part(file, out.table.evaluation[0]);
  return out;
}

// The name of code that has none, as PHP's backtraces have it.
static std::string_view name_of_code(uint32_t kind) {
  switch (kind & PHP_KIND_MASK) {
  case PHP_EVAL: return "eval";
  case PHP_INCLUDE: return "include";
  case PHP_INCLUDE_ONCE: return "include_once";
  case PHP_REQUIRE: return "require";
  case PHP_REQUIRE_ONCE: return "require_once";
  default: return "{main}";
  }
}

// Names as in PHP's backtraces: "Class->method", "Class::method". Functions in C have no file.
std::optional<Code> decode_php(const language_object& object, const language_table& table, const ReadMemory& read) {
  const php_layout& l = table.php;
  const Bytes function = as_bytes(object.object);
  const auto pointer = [&](uint16_t field) { return number_at(function, field, 8); };
  const uint64_t type = number_at(function, l.function_type, 1);
  const auto kind = static_cast<uint32_t>(number_at(function, PHP_KIND, 1));
  if (type != PHP_INTERNAL_FUNCTION && type != PHP_USER_FUNCTION && type != PHP_EVALUATED_CODE) return std::nullopt;
  Code out = {.name = text_of(as_bytes(object.name), pointer(l.function_name), l, read), .kind = LANGUAGE_PHP, .version = l.version};
  if (type != PHP_INTERNAL_FUNCTION) {
    out.file = text_of(as_bytes(object.file), pointer(l.function_file), l, read);
    out.first_line = static_cast<uint32_t>(number_at(function, l.function_line, 4));
    if (out.file.empty()) return std::nullopt;
  }
  const bool has_name = pointer(l.function_name) != 0;
  if (has_name == out.name.empty()) return std::nullopt;
  if (!has_name) out.name = name_of_code(kind);
  // The class's own address is not what was read: its name may be cut. Classes without a name have where they are from behind a NUL.
  std::string scope = has_name && pointer(l.function_scope) ? text_of(as_bytes(object.lines), pointer(l.function_scope), l, {}) : std::string();
  if (const size_t nul = scope.find('\0'); nul != std::string::npos) scope.resize(nul);
  if (!scope.empty()) out.name = scope + (kind & PHP_WITH_OBJECT ? "->" : "::") + out.name;
  return out;
}

LanguageStack walk_php(const language_table& table, const ThreadWalk& thread, const ReadMemory& read) {
  walked_memory = &read;
  language_walk walk = {};
  walk.thread_pointer = thread.thread_pointer;
  if (php_begin(&table, &walk)) return {.words = {}, .objects = {}, .end = walk.end};
  return walk_frames(
      spec::FrameKind::php, walk, [&] { return php_turn(&table, &walk); },
      [&](language_object& object) {
        std::memcpy(object.object, walk.php.function_bytes, PHP_FUNCTION_BYTES);
        php_describe(&table.php, &walk, &object);
      });
}

uint32_t line_of_php(const Code&, uint64_t position) { return static_cast<uint32_t>(position); }

} // namespace runtime
