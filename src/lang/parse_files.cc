// Files beside the script: what it includes and imports, and what --include names.
//
// A header is read when its #include is met, wherever that is: what the parser was about is set aside
// meanwhile. It gives macros and types; functions and variables in it are read over. An imported script gives
// all that the script itself may hold but its config block; its probes come before those of the importer.
#include "lang/parser.h"

#include "base/text.h"
#include "spec/diagnostics.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;

Parser::Place Parser::set_aside() {
  return {.ahead = std::exchange(ahead_, {}),
          .first = std::exchange(first_, 0),
          .last_end = last_end_,
          .panic = std::exchange(panic_, false),
          .in_predicate = std::exchange(in_predicate_, false),
          .stopped = std::exchange(stopped_, false),
          .operators = std::exchange(operators_, 0),
          .expression_depth = std::exchange(expression_depth_, 0),
          .macro = std::exchange(macro_, nullptr)};
}

void Parser::take_up(Place& p) {
  ahead_ = std::move(p.ahead);
  first_ = p.first;
  last_end_ = p.last_end;
  panic_ = p.panic;
  in_predicate_ = p.in_predicate;
  stopped_ = p.stopped || mistakes_.full();
  operators_ = p.operators;
  expression_depth_ = p.expression_depth;
  macro_ = p.macro;
}

// --include: as if the script began with these.
void Parser::include_given_files() {
  for (const std::string& name : options_.include_files) {
    input_.enter(*input_.files().add("--include", "#include \"" + name + "\"\n"), Dialect::script);
    input_.skip_blanks();
    input_.leave();
  }
}

// All declarations of a header, and of those that it includes.
void Parser::read_header(SourceFile& file) {
  Place place = set_aside();
  input_.enter(file, Dialect::c);
  while (!stopped_) {
    panic_ = false;
    if (at(TokenKind::end)) break;
    size_t before = taken_;
    parse_c_declaration();
    if (panic_ && !stopped_) {
      panic_ = false;
      skip_c_declaration();
    }
    if (taken_ == before) take();
  }
  input_.leave();
  take_up(place);
}

// What scripts import of bpftrace's own library is here without an import.
static bool is_standard_library(std::string_view path) { return path == "stdlib" || path.starts_with("stdlib/"); }

// import := 'import' STRING    (a `;` after it is an item of its own)
void Parser::parse_import(uint32_t begin) {
  take();
  Token name = expect(TokenKind::string, "the name of a file in quotes", "for example: import \"common.bt\"");
  if (panic_ || stopped_) return;
  std::string path(name.text);
  if (path.empty()) return error(tag::missing_file, name.where, "an import needs the name of a file");
  for (const Insert& own : options_.parts.imports)
    if (own.name == path && !is_users_) {
      SourceFile& file = own.is_users ? *input_.files().add(own.shown, own.text) : *input_.files().own(own.shown, own.text);
      if (!imported_.insert(&file).second) return;
      read_users(own.is_users);
      import_file(file, name.where);
      return void(read_users(false));
    }
  auto found = input_.files().import(path, input_.file());
  if (!found) return error(tag::missing_file, since(begin), "cannot import " + found.error().message);
  if (found->empty() && is_standard_library(path)) return;
  if (found->empty() && path.ends_with(".h")) return input_.include_header(path, true, name.where);
  if (found->empty())
    return error(tag::missing_file, name.where, "'" + path + "' file not found",
                 "it is looked for beside the importing file, in the working folder and in those of -I");
  for (SourceFile* file : *found) {
    if (stopped_) return;
    bool is_script = file->path.ends_with(".bt");
    if (!is_script && !file->path.ends_with(".h"))
      return error(tag::missing_file, name.where,
                   "cannot import `" + (found->size() == 1 ? path : file->path) + "`: only scripts (.bt) and headers (.h)");
    if (!imported_.insert(file).second) continue;
    if (is_script)
      import_file(*file, name.where);
    else
      read_header(*file);
  }
}

// What is read from here on is a user's script beside acu's own, or not; what it was before.
bool Parser::read_users(bool is_users) {
  input_.use_macros(is_users ? Preprocessor::users_macros : Preprocessor::own_macros);
  return std::exchange(is_users_, is_users);
}

void Parser::import_file(SourceFile& file, Range where) {
  constexpr int deepest = 50;
  if (import_depth_ == deepest)
    return error(tag::too_deep, where,
                 "files import each other more than " + std::to_string(deepest) + " levels deep");
  if (is_users_) program_->users_texts.push_back({file.begin, file.begin + static_cast<uint32_t>(file.text.size())});
  size_t before = program_->probes.size();
  Place place = set_aside();
  size_t was_end = std::exchange(imports_end_, before);
  import_depth_++;
  input_.enter(file, Dialect::script);
  parse_items();
  input_.leave();
  import_depth_--;
  imports_end_ = was_end;
  take_up(place);
  auto probes = program_->probes.begin();
  size_t made = program_->probes.size() - before;
  std::rotate(probes + static_cast<ptrdiff_t>(imports_end_), probes + static_cast<ptrdiff_t>(before),
              program_->probes.end());
  imports_end_ += made;
}

// At a word outside of probes that is a macro: one may stand for a definition, a function or nothing. False:
// it is the name of a probe, where macros are not replaced.
bool Parser::parse_macro_item(std::string_view word) {
  std::string_view after = input_.rest().substr(word.size());
  size_t blanks = after.find_first_not_of(" \t\r\n");
  char next = blanks == after.npos ? ';' : after[blanks];
  if (next == ':' || next == '{' || next == ',' || next == '/' || next == '=') return false;
  uint32_t begin = input_.offset();
  if (!peek().from_macro) {
    bool vanished = peek().where.begin != begin;
    if (!vanished) to_raw();
    return vanished;
  }
  parse_expanded_item();
  return true;
}

// The same, behind the name of the macro: what it gives is tokens, and can't be read as text.
void Parser::parse_expanded_item() {
  uint32_t begin = peek().where.begin;
  for (std::string_view w : {"struct", "union", "enum", "typedef"})
    if (at_word(w)) return parse_c_item();
  if (at_word("let")) return parse_map_declaration();
  if (at_word("fn")) return parse_function();
  if (at_word("macro")) return parse_macro();
  if (at_word("import")) return parse_import(begin);
  if (accept(TokenKind::semicolon)) return;
  unexpected("a definition",
             "a macro outside of probes may stand for a definition, but not for the name of a probe");
  panic_ = false;
  take();
  panic_ = true;
}

} // namespace lang
