// Both demanglers (libstdc++'s for C++, libiberty's for Rust) hand the text over in pieces. A hostile name
// may stand for a text that never ends, so the pieces are counted and the demangler is left by longjmp: they
// are C, keep what they know on the stack, and return no other way.
#include "symbol/demangle.h"

#include <cctype>
#include <csetjmp>
#include <cstddef>

#include <libiberty/demangle.h>

// What abi::__cxa_demangle does, without its buffer that grows.
extern "C" int __gcclibcxx_demangle_callback(const char*, void (*)(const char*, size_t, void*), void*);

namespace symbol {

namespace {

// Real names: up to some 10,000 bytes mangled (templates of templates), more when written out.
constexpr size_t longest_mangled = 32 << 10, longest_text = 64 << 10;

// Plain data only: what is left by longjmp runs no destructors.
struct Pieces {
  std::string* text;
  std::jmp_buf out;
};

void take(const char* piece, size_t size, void* to) {
  auto* pieces = static_cast<Pieces*>(to);
  if (pieces->text->size() + size > longest_text) std::longjmp(pieces->out, 1);
  pieces->text->append(piece, size);
}

// Rust's older names are C++ names with a hash at the end.
bool may_be_rust(std::string_view name) { return name[1] == 'R' || name.find("17h") != name.npos; }

// In Rust's names `G` and a number say how many lifetimes a function or trait binds, and the demangler goes
// through them, be it to print nothing. Real numbers have one digit, of base 62.
bool binds_too_many(std::string_view name) {
  for (size_t at = name.find('G'); at != name.npos; at = name.find('G', at + 1)) {
    size_t end = at + 1;
    while (end < name.size() && std::isalnum(static_cast<unsigned char>(name[end]))) end++;
    bool is_binder =
        at > 0 && (name[at - 1] == 'F' || name[at - 1] == 'D') && end < name.size() && name[end] == '_';
    if (is_binder && end - at > 2) return true;
  }
  return false;
}

// A function of its own, so that no variable lives across setjmp.
bool run(const char* name, bool rust, std::string* text) {
  Pieces pieces;
  pieces.text = text;
  if (setjmp(pieces.out)) return false;
  if (rust) return rust_demangle_callback(name, 0, take, &pieces) != 0;
  return __gcclibcxx_demangle_callback(name, take, &pieces) == 0;
}

} // namespace

std::string demangle(std::string_view name) {
  if (!is_mangled(name) || name.size() > longest_mangled) return {};
  std::string mangled(name), text;
  for (bool rust : {true, false}) {
    if (rust ? !may_be_rust(mangled) || binds_too_many(mangled) : mangled[1] == 'R') continue;
    text.clear();
    if (run(mangled.c_str(), rust, &text)) return text;
  }
  return {};
}

std::string demangle_type(std::string_view name) {
  constexpr std::string_view words = "typeinfo name for ";
  if (name.starts_with('*')) name.remove_prefix(1);
  const std::string shown = demangle("_ZTS" + std::string(name));
  return shown.starts_with(words) ? shown.substr(words.size()) : std::string(name);
}

} // namespace symbol
