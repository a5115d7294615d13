// printf() and its relatives. What is printed is a list of pieces; nested sprintf() and joined texts become part of the format.
#include "stap/lowering.h"

#include "base/text.h"
#include "spec/diagnostics.h"

#include <algorithm>
#include <cctype>

namespace stap {

using namespace spec;
using base::quoted;

namespace {

constexpr std::string_view outputs[] = {"printf", "print", "println", "printd", "printdln", "sprintf", "sprint", "sprintln", "sprintd", "sprintdln", "log", "warn", "error", "assert"};

std::string escaped(std::string_view text) {
  std::string out(text);
  base::replace_all(out, "%", "%%");
  return out;
}

Piece literal_piece(std::string text) { return {.format = std::move(text), .arguments = {}}; }

bool is_number(Kind k) { return k != Kind::text && k != Kind::symbol; }
bool is_long(Kind k) { return k == Kind::number || k == Kind::unknown; }

} // namespace

bool Lowering::is_output(std::string_view name) const { return base::is_one_of(outputs, name); }

// A value as text, as print() and %s do it.
void Lowering::add_text(const Node& n, std::vector<Piece>& to) {
  const bool is_texts = n.kind == NodeKind::call && n.text.starts_with("sprint") && is_output(n.text);
  if (n.kind == NodeKind::text) {
    to.push_back(literal_piece(escaped(n.text)));
  } else if (n.kind == NodeKind::binary && n.text == ".") {
    add_text(*n.parts[0], to);
    add_text(*n.parts[1], to);
  } else if (is_texts) {
    for (Piece& p : pieces_of_call(n)) to.push_back(std::move(p));
  } else if (n.kind == NodeKind::operation && n.text.starts_with("hist_") && !n.parts.empty() && array_of(*n.parts[0]) && statistics_.contains(array_of(*n.parts[0])->text) && is_global(array_of(*n.parts[0])->text)) {
    to.push_back({.format = {}, .arguments = {}, .histogram = statistic_map(*n.parts[0], n.text)});
  } else {
    const Value v = lower(n);
    to.push_back({.format = !is_number(v.kind) ? "%s" : is_long(v.kind) ? "%ld" : "%d", .arguments = {v.e}, .has_numbers = is_number(v.kind), .has_symbols = v.kind == Kind::symbol});
  }
}

// A format, and the arguments behind it. %d of acu prints 32 bits.
void Lowering::add_format(const Node& n, size_t first, std::vector<Piece>& to) {
  if (first >= n.parts.size() || n.parts[first]->kind != NodeKind::text) return error(tag::bad_format, n.where, "the format of " + quoted(n.text) + "() must be a literal", "write it in double quotes");
  const std::string& format = n.parts[first]->text;
  size_t next = first + 1;
  Piece literal;
  for (size_t i = 0; i < format.size(); i++) {
    if (format[i] != '%' || format.substr(i, 2) == "%%") {
      literal.format += format[i];
      if (format[i] == '%') literal.format += format[++i];
      continue;
    }
    size_t end = i + 1;
    while (end < format.size() && (std::isdigit(static_cast<unsigned char>(format[end])) || std::string_view("-+ #0.").find(format[end]) != std::string_view::npos)) end++;
    const std::string flags = format.substr(i, end - i);
    while (end < format.size() && format[end] == 'l') end++;
    const char letter = end < format.size() ? format[end] : '\0';
    if (!letter || std::string_view("diouxXscp").find(letter) == std::string_view::npos)
      return error(tag::bad_format, n.parts[first]->where, "the conversion " + quoted(base::printable(format.substr(i, end + 1 - i))) + " is not converted",
                   letter == '*' ? "write the width as a number" : "acu prints memory with buf(): printf(\"%r\", buf(p, n))");
    if (next >= n.parts.size()) return error(tag::wrong_argument_count, n.where, "the format has more conversions than there are arguments", "give an argument for each `%`");
    const Node& argument = *n.parts[next++];
    i = end;
    const bool is_plain = flags == "%" && letter == 's';
    if (is_plain) {
      to.push_back(std::exchange(literal, {}));
      add_text(argument, to);
      continue;
    }
    if (argument.kind == NodeKind::operation && argument.text.starts_with("hist_")) return error(tag::bad_format, argument.where, "a histogram has no width", "print it with %s");
    // A number that was made a text to have a width.
    const bool is_made = letter == 's' && argument.kind == NodeKind::call && argument.text == "sprintf" && argument.parts.size() == 2 && argument.parts[0]->text == "%d";
    const Value v = lower(is_made ? *argument.parts[1] : argument);
    const bool is_text = !is_number(v.kind);
    const char conversion = letter == 'i' || (!is_text && letter == 's') ? 'd' : is_text ? 's' : letter;
    const bool needs_long = !is_text && is_long(v.kind) && std::string_view("duxXo").find(conversion) != std::string_view::npos;
    literal.format += flags + (needs_long ? "l" : "") + conversion;
    literal.arguments.push_back(v.e);
    literal.has_symbols |= v.kind == Kind::symbol;
    literal.has_numbers = true; // a text that is made
  }
  if (next < n.parts.size()) return error(tag::wrong_argument_count, n.where, "the format has fewer conversions than there are arguments", "remove the arguments behind the last `%`");
  to.push_back(std::move(literal));
}

std::vector<Piece> Lowering::pieces_of_call(const Node& n) {
  std::vector<Piece> out;
  const bool has_separator = n.text.ends_with("printd") || n.text.ends_with("printdln"), ends_line = n.text.ends_with("ln") || n.text == "log" || n.text == "warn" || n.text == "error";
  if (n.text.ends_with("printf")) {
    add_format(n, 0, out);
  } else {
    if (has_separator && n.parts.empty()) error(tag::wrong_argument_count, n.where, "the separator is missing", "write `printd(\" \", a, b)`");
    for (size_t i = has_separator ? 1 : 0; i < n.parts.size(); i++) {
      if (has_separator && i > 1) add_text(*n.parts[0], out);
      add_text(*n.parts[i], out);
    }
    if (ends_line) out.push_back(literal_piece("\n"));
  }
  return out;
}

// One printf() for what is between histograms.
void Lowering::print_pieces(const std::vector<Piece>& pieces, std::string_view function, Range where, Statements& to) {
  std::string format;
  std::vector<lang::Expr*> arguments;
  const auto flush = [&] {
    if (format.empty()) return;
    std::vector<lang::Expr*> all = {text(format, where)};
    all.insert(all.end(), arguments.begin(), arguments.end());
    to.push_back(at(where).statement(at(where).call(keep(function), all)));
    format.clear(), arguments.clear();
  };
  for (const Piece& p : pieces) {
    if (p.histogram) {
      flush();
      to.push_back(at(where).statement(at(where).call("print", {p.histogram})));
      continue;
    }
    format += p.format;
    arguments.insert(arguments.end(), p.arguments.begin(), p.arguments.end());
  }
  flush();
}

void Lowering::lower_output(const Node& n, Statements& to) {
  if (n.text == "assert") {
    if (n.parts.empty()) return error(tag::wrong_argument_count, n.where, "`assert`() needs a condition", "write `assert(x > 0, \"text\")`");
    Statements inside;
    std::vector<Piece> pieces;
    if (n.parts.size() > 1) add_text(*n.parts[1], pieces);
    pieces.push_back(literal_piece("\n"));
    print_pieces(pieces, "errorf", n.where, inside);
    inside.push_back(at(n.where).statement(at(n.where).call("exit", {at(n.where).number(1)})));
    lang::If* out = at(n.where).node<lang::If>();
    lang::Unary* no = at(n.where).node<lang::Unary>();
    no->op = lang::UnaryOp::logical_not;
    no->operand = condition(*n.parts[0]);
    out->condition = no;
    out->then = block_of(inside, n.where);
    to.push_back(out);
    return;
  }
  if (n.text.starts_with("sprint")) return; // its value is not used
  print_pieces(pieces_of_call(n), n.text == "warn" ? "warnf" : n.text == "error" ? "errorf" : "printf", n.where, to);
  if (n.text != "error") return;
  remark("error() prints and ends the script here", n.where);
  to.push_back(at(n.where).statement(at(n.where).call("exit", {at(n.where).number(1)})));
}

} // namespace stap
