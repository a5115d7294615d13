// Probes and their action blocks.
//
// The text of a probe is read raw: paths, globs and C++ names are no tokens of the language. It ends at white
// space (other than around `:` and `+`), `,`, `{`, or at a `/` that begins a predicate. A `/` inside it is part
// of a path where the provider takes paths, so `uprobe:/bin/bash:readline /pid == 1/`,
// `tracepoint:a:b/pid == 1/{` and `iter:task:/sys/fs/bpf/pin` all mean what they seem to.
#include "lang/parser.h"

#include "base/text.h"
#include "spec/diagnostics.h"

#include <algorithm>

namespace lang {

namespace tag = spec::tag;

namespace {

// Providers with a path in the part after their name, and iter with one as its last part.
constexpr std::string_view path_providers[] = {"uprobe", "u", "uretprobe", "ur", "usdt", "iter", "it"};

bool takes_path(std::string_view provider) {
  std::string lower = base::lower(provider); // `U` is usdt, which takes paths as `u` does
  return std::ranges::any_of(path_providers, [&](std::string_view p) { return base::glob_match(lower, p); });
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Ends the text of a probe. Other signs that no provider uses are left in: the probe is then not found by
// name.
bool ends_spec(char c) {
  bool control = static_cast<unsigned char>(c) < ' ' || c == 127;
  return is_blank(c) || control || std::string_view(",{};()").find(c) != std::string_view::npos;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& p : parts) text += (&p == &parts[0] ? "" : ":") + p;
  return text;
}

// Whether the text so far is `uprobe:container=NAME`: the file, which follows a `:`, is in the same part.
bool names_container(const std::vector<std::string>& parts) {
  return parts.size() == 2 && takes_path(parts[0]) && parts[1].starts_with("container=") && parts[1].find(':') == std::string::npos;
}

// How many blanks there are here that do not end a probe: those around `:` and around the `+` of an offset.
size_t inner_blanks(std::string_view rest, const std::vector<std::string>& parts) {
  size_t count = 0;
  while (count < rest.size() && is_blank(rest[count])) count++;
  if (count == 0 || count == rest.size()) return 0;
  const char next = rest[count];
  const bool begins_word = is_letter(next) || is_digit(next) || std::string_view("*?\"$").find(next) != std::string_view::npos;
  const bool is_behind_sign = (parts.size() > 1 && parts.back().empty()) || parts.back().ends_with('+');
  return next == ':' || next == '+' || (is_behind_sign && begins_word) ? count : 0;
}

// A probe that did not stand in the script; `"…"` keeps its `:`.
void add_whole_probe(std::string_view text, std::vector<std::string>& parts) {
  bool is_quoted = false;
  for (char c : text)
    if (c == '"')
      is_quoted = !is_quoted;
    else if (c == ':' && !is_quoted && !names_container(parts))
      parts.emplace_back();
    else
      parts.back() += c;
}

// `name=` at the start of a block: the name, and the length of all; empty: there is none.
std::pair<std::string_view, size_t> name_of(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && (is_digit(text[i]) || is_letter(text[i]))) i++;
  size_t sign = i;
  while (sign < text.size() && is_blank(text[sign])) sign++;
  if (!i || !text.substr(sign).starts_with('=') || text.substr(sign).starts_with("==")) return {{}, 0};
  return {text.substr(0, i), sign + 1};
}

} // namespace

// probe     := [ NAME '=' ] spec { ',' spec } [ ',' ] [ '/' expression '/' ] block
void Parser::parse_probe() {
  auto probe = std::make_unique<Probe>();
  uint32_t begin = input_.offset();
  const auto [name, length] = name_of(input_.rest());
  input_.seek(begin + static_cast<uint32_t>(length));
  std::vector<ProbeSpec> specs = parse_specs();
  for (const Insert& places : options_.parts.places)
    if (places.name == name && !panic_ && !stopped_) specs = parse_inserted_places(places, probe->predicate);
  probe->specs = program_->arena.copy(specs);
  if (Expr* own = parse_predicate()) probe->predicate = own;
  if (!at(TokenKind::left_brace)) unexpected(probe->predicate ? "`{`" : "`{` or a predicate");
  if (panic_ && !stopped_) skip_to_body();
  probe->body = parse_block(false);
  probe->where = since(begin);
  if (!probe->specs.empty()) program_->probes.push_back(std::move(probe));
}

// nullptr: there is none.
Expr* Parser::parse_predicate() {
  if (!accept(TokenKind::slash)) return nullptr;
  in_predicate_ = true;
  operators_ = 0;
  Expr* out = parse_expression();
  in_predicate_ = false;
  expect(TokenKind::slash, "`/` at the end of the predicate");
  return out;
}

std::vector<ProbeSpec> Parser::parse_specs() {
  std::vector<ProbeSpec> specs;
  do {
    input_.skip_blanks();
    const std::string_view rest = input_.rest();
    if (!specs.empty() && (rest.starts_with('{') || rest.starts_with('/'))) break; // behind a last comma
    specs.push_back(parse_spec());
    if (panic_) break;
    input_.skip_blanks();
  } while (accept(TokenKind::comma));
  return specs;
}

// In place of those of the script. `predicate`: set if there is one.
std::vector<ProbeSpec> Parser::parse_inserted_places(const Insert& places, Expr*& predicate) {
  if (places.text.empty()) return {};
  Place place = set_aside();
  const bool was_users = read_users(places.is_users);
  input_.enter(*input_.files().add(places.shown, places.text), Dialect::script);
  std::vector<ProbeSpec> specs = parse_specs();
  if (places.is_users) predicate = parse_predicate();
  if (!at(TokenKind::end)) unexpected(places.is_users ? "a predicate or the end" : "`,` or the end");
  input_.leave();
  read_users(was_users);
  take_up(place);
  return specs;
}

// spec      := part { ':' part }     parts: raw text, "quoted text" and $1 in any mixture
ProbeSpec Parser::parse_spec() {
  uint32_t begin = input_.offset();
  std::vector<std::string> parts(1);
  for (;;) {
    std::string_view rest = input_.rest();
    bool is_call = !rest.empty() && rest[0] == '(' && parts.size() == 1 && base::lower(parts[0]) == "frame";
    if (is_call) {
      parse_frame(parts);
      break;
    }
    if (const size_t blanks = begin < input_.offset() ? inner_blanks(rest, parts) : 0) {
      input_.seek(input_.offset() + static_cast<uint32_t>(blanks));
      continue;
    }
    if (rest.empty() || ends_spec(rest[0])) break;
    if (rest[0] == '"') {
      parts.back() += input_.string().text;
      continue;
    }
    if (rest[0] == '$' && rest.size() > 1 && is_digit(rest[1])) {
      positional_in_probe(parts);
      continue;
    }
    if (rest[0] == '/' && is_predicate(parts[0], parts.size() - 1, rest)) break;
    if (rest[0] == ':' && !names_container(parts))
      parts.emplace_back();
    else
      parts.back() += rest[0];
    input_.seek(input_.offset() + 1);
  }
  ProbeSpec spec;
  last_end_ = input_.offset();
  spec.where = {begin, last_end_};
  if (begin == last_end_) {
    unexpected("a probe", "for example: tracepoint:syscalls:sys_enter_openat { … }");
    return spec;
  }
  std::vector<std::string_view> kept;
  for (const std::string& p : parts) kept.push_back(program_->arena.copy(std::string_view(p)));
  spec.parts = program_->arena.copy(kept);
  spec.text = program_->arena.copy(std::string_view(join(parts)));
  return spec;
}

// frame     := 'frame' '(' ( "text" | $1 ) ')'
void Parser::parse_frame(std::vector<std::string>& parts) {
  input_.seek(input_.offset() + 1);
  input_.skip_blanks();
  parts.emplace_back();
  std::string_view rest = input_.rest();
  if (rest.starts_with('"'))
    parts.back() += input_.string().text;
  else if (rest.size() > 1 && rest[0] == '$' && is_digit(rest[1]))
    positional_in_probe(parts);
  input_.skip_blanks();
  if (parts.back().empty() || !input_.rest().starts_with(')'))
    return unexpected("the name of a function in quotes and `)`", "for example: frame(\"main\") { … }");
  input_.seek(input_.offset() + 1);
}

// Whether the `/` that `run` begins with starts a predicate; it stands in part number `part`.
bool Parser::is_predicate(std::string_view provider, size_t part, std::string_view run) const {
  if (part == 0 || !takes_path(provider)) return true;
  if (part == 1 && base::lower(provider)[0] != 'i') return false; // the binary
  // Names of Go functions and pinned files hold slashes. A predicate without white space before it ends in a
  // `/`, or goes on after white space with more than the block.
  size_t length = std::find_if(run.begin(), run.end(), ends_spec) - run.begin();
  size_t after = length;
  while (after < run.size() && is_blank(run[after])) after++;
  bool block_follows = after == run.size() || run[after] == '{' || run[after] == '/' || run[after] == ',';
  return run[length - 1] == '/' || !block_follows;
}

// At `$1`: appends the parameter's text. Where a probe begins with it, it may be a whole one; later on a `:`
// is part of a path.
void Parser::positional_in_probe(std::vector<std::string>& into) {
  const uint32_t begin = input_.offset();
  const std::string_view rest = input_.rest();
  const size_t length = 1 + (std::find_if_not(rest.begin() + 1, rest.end(), is_digit) - (rest.begin() + 1));
  const uint64_t number = base::parse_integer(rest.substr(1, length - 1)).value_or(0);
  input_.seek(begin + static_cast<uint32_t>(length)); // text may follow: `$1_read`
  last_end_ = input_.offset();
  const Range where{begin, last_end_};
  if (number == 0)
    return error(tag::bad_number, where, "`" + std::string(rest.substr(0, length)) + "` is no positional parameter", "they are numbered from $1");
  if (number <= options_.positional.size()) {
    const std::string& text = options_.positional[number - 1];
    if (into.size() == 1 && into[0].empty())
      add_whole_probe(text, into);
    else
      into.back() += text;
    return;
  }
  error(tag::bad_parameter, where, "parameter $" + std::to_string(number) + " is not given",
        "this probe needs it: acu run FILE VALUE …");
}

} // namespace lang
