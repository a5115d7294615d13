// Functions that give a value. Actions, which print or change something, are in lower_clause.cc.
#include "base/text.h"
#include "dlang/lowering.h"

#include <sys/socket.h>

namespace dlang {

using namespace spec;
using base::quoted;

bool Lowering::has_arguments(const Node& n, size_t least, size_t most) {
  if (n.parts.size() >= least && n.parts.size() <= most) return true;
  const std::string wanted = least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
  std::string_view tag = n.text == "stack" ? d_tag::stack_proto : n.text == "ustack" || n.text == "jstack" ? d_tag::ustack_proto : d_tag::proto_len;
  for (const AggregationTags& t : aggregation_tags)
    if (t.action == n.text) tag = t.proto;
  error(tag, n.where, quoted(n.text) + " takes " + wanted + (most == 1 ? " argument" : " arguments") + ", not " + std::to_string(n.parts.size()));
  return false;
}

// stack([n]), ustack([n[, bytes]]), jstack([n[, bytes]])
Value Lowering::lower_stack(const Node& n) {
  if (!has_arguments(n, 0, n.text == "stack" ? 1 : 2)) return wrong(n.where);
  if (n.parts.size() == 2)
    if (const auto bytes = constant(*n.parts[1]); !bytes || *bytes < 0) return error(d_tag::ustack_strsize, n.parts[1]->where, quoted(n.text) + " takes a constant number of bytes"), wrong(n.where);
  std::vector<lang::Expr*> depth;
  if (!n.parts.empty()) {
    const auto frames = constant(*n.parts[0]);
    if (!frames || *frames < 1 || *frames > 127) {
      error(n.text == "stack" ? d_tag::stack_size : d_tag::ustack_frames, n.parts[0]->where, quoted(n.text) + " takes a constant number of frames, from 1 to 127");
      return wrong(n.where);
    }
    depth.push_back(at(n.where).number(*frames));
  } else if (const size_t frames = n.text == "stack" ? frames_ : user_frames_; frames) {
    depth.push_back(at(n.where).number(static_cast<int64_t>(std::min<size_t>(frames, 127))));
  }
  return {at(n.where).call(n.text == "stack" ? "kstack" : "ustack", depth), {Type::other}};
}

// The offset of one text in another, or -1, of strstr(a, b), strchr(a, 'c') and index(a, b); nothing of other nodes.
Value Lowering::found_in(const Node& n, bool as_offset) {
  if (n.kind != NodeKind::call) return {};
  const bool is_last = n.text == "strrchr" || n.text == "rindex";
  const bool is_character = n.text == "strchr" || n.text == "strrchr";
  const bool gives_offset = n.text == "index" || n.text == "rindex";
  if (!is_character && n.text != "strstr" && !gives_offset) return {};
  if (gives_offset != as_offset) return {};
  if (n.parts.size() == 3 && gives_offset)
    return {cast(expand(is_last ? "d_rindex_from" : "d_index_from", {lower(*n.parts[0]).e, lower(*n.parts[1]).e, lower(*n.parts[2]).e}, n.where), int32_type), int32_type};
  if (!has_arguments(n, 2, 2)) return wrong(n.where);
  lang::Expr* needle = nullptr;
  if (is_character) {
    const auto c = constant(*n.parts[1]);
    if (!c || *c < 1 || *c > 255) {
      error(tag::bad_argument, n.parts[1]->where, quoted(n.text) + " takes a character constant, such as '/'");
      return wrong(n.where);
    }
    needle = text(std::string(1, static_cast<char>(*c)), n.parts[1]->where);
  } else {
    needle = lower(*n.parts[1]).e;
  }
  return {cast(at(n.where).call(is_last ? "strrstr" : "strstr", {lower(*n.parts[0]).e, needle}), int32_type), int32_type};
}

// func(), sym(), mod(), ufunc(), usym(), umod(), uaddr(); none: another name.
SymbolForm Lowering::symbol_form(std::string_view function) {
  constexpr std::pair<std::string_view, SymbolForm> forms[] = {{"func", SymbolForm::function},  {"sym", SymbolForm::function},  {"mod", SymbolForm::module}, {"ufunc", SymbolForm::function},
                                                               {"usym", SymbolForm::function}, {"umod", SymbolForm::module}, {"uaddr", SymbolForm::address}};
  for (const auto& [name, form] : forms)
    if (name == function) return form;
  return SymbolForm::none;
}

// The name of an address.
Value Lowering::symbol_of(lang::Expr* address, bool is_kernel, SymbolForm form, Range where) {
  Type t{Type::other};
  t.symbol = form;
  return {at(where).call(is_kernel ? "ksym" : "usym", {cast(address, uint64_type)}), t};
}

// substr(text, index [, length]): a negative length leaves out so many characters at the end.
Value Lowering::lower_substr(const Node& n) {
  if (!has_arguments(n, 2, 3)) return wrong(n.where);
  lang::Expr *of = lower(*n.parts[0]).e, *index = number(*n.parts[1]);
  if (n.parts.size() == 2) return {at(n.where).call("substr", {of, index}), text_type};
  const auto from = constant(*n.parts[1]), length = constant(*n.parts[2]);
  if (from && length && *from >= 0 && *length >= 0) return {at(n.where).call("substr", {of, index, number(*n.parts[2])}), text_type};
  return {expand("d_substr", {of, index, number(*n.parts[2])}, n.where), text_type};
}

// lltostr(number [, base]): with signs only in base 10; 0x and 0 precede numbers of base 16 and 8.
Value Lowering::lower_number_text(const Node& n) {
  if (!has_arguments(n, 1, 2)) return wrong(n.where);
  const Value of = lower(*n.parts[0]);
  const auto base = n.parts.size() == 2 ? constant(*n.parts[1]) : std::optional<int64_t>(10);
  if (of.type.kind == Type::text || of.type.kind == Type::other || of.type.kind == Type::translated) return error(tag::bad_argument, n.parts[0]->where, "lltostr() takes a number"), wrong(n.where);
  if (!base || *base < 2 || *base > 36) return error(tag::bad_argument, n.parts[1]->where, "lltostr() takes a constant base from 2 to 36"), wrong(n.where);
  const lang::TreeMaker make = at(n.where);
  const std::string kept = "number " + std::to_string(++kept_);
  auto value = [&] { return scratch(kept, n.where); };
  auto is = [&](lang::BinaryOp op) { return make.binary(op, value(), cast(make.number(0), int64_type)); };
  lang::Expr* prefix = text(*base == 16 ? "0x" : "", n.where);
  if (*base == 8) { // 0 itself is one digit
    lang::Ternary* t = make.node<lang::Ternary>();
    t->condition = is(lang::BinaryOp::eq), t->then = text("", n.where), t->otherwise = text("0", n.where);
    prefix = t;
  }
  lang::BlockExpr* block = make.node<lang::BlockExpr>();
  block->block = make.block({let(kept, cast(of.e, int64_type), n.where)});
  block->block->value = expand("d_number_text", {value(), make.number(*base), *base == 10 ? is(lang::BinaryOp::lt) : make.binary(lang::BinaryOp::ne, make.number(0), make.number(0)), prefix}, n.where);
  return {block, text_type};
}

// strtok(text or NULL, separators): the rest of the text is kept while the clauses of a probe run.
Value Lowering::lower_token(const Node& n) {
  if (!has_arguments(n, 2, 2)) return wrong(n.where);
  if (n.parts[1]->kind != NodeKind::text) return error(tag::bad_argument, n.parts[1]->where, "strtok() takes its separators as a string literal"), wrong(n.where);
  if (!locals_.contains(std::string(token_rest))) return error(tag::misplaced, n.where, "strtok() cannot be a part of an inline definition", "write it in the clause"), wrong(n.where);
  uint64_t sets[2] = {0, 0};
  for (char c : n.parts[1]->text) {
    if (static_cast<signed char>(c) <= 0) return error(tag::bad_argument, n.parts[1]->where, "separators of strtok() are characters of ASCII"), wrong(n.where);
    sets[c >> 6] |= uint64_t{1} << (c & 63);
  }
  const bool is_next = n.parts[0]->kind == NodeKind::integer && n.parts[0]->value == 0;
  const lang::TreeMaker make = at(n.where);
  const std::string rest(token_rest), suffix = std::to_string(++kept_), of = "of token " + suffix, from = "token from " + suffix, end = "token end " + suffix;
  const Value first = is_next ? Value{scratch(rest, n.where), text_type} : lower(*n.parts[0]);
  if (first.type.kind != Type::text) return error(tag::bad_argument, n.parts[0]->where, "strtok() takes a string, or NULL for the next part of the last one"), wrong(n.where);
  auto set_of = [&](size_t i) { return cast(make.number(static_cast<int64_t>(sets[i])), uint64_type); };
  auto kept = [&](const std::string& variable) { return scratch(variable, n.where); };
  lang::BlockExpr* block = make.node<lang::BlockExpr>();
  block->block = make.block({let(of, first.e, n.where), let(from, expand("d_token_start", {kept(of), set_of(0), set_of(1)}, n.where), n.where),
                             let(end, expand("d_token_end", {kept(of), kept(from), set_of(0), set_of(1)}, n.where), n.where),
                             set(kept(rest), make.call("substr", {kept(of), make.binary(lang::BinaryOp::add, kept(end), make.number(1))}), n.where)});
  block->block->value = make.call("substr", {kept(of), kept(from), make.binary(lang::BinaryOp::sub, kept(end), kept(from))});
  return {block, text_type};
}

// json(text, "a.b[2]"): what the text has there, without the quotes of a string; "" (NULL) if it has nothing there.
Value Lowering::lower_json(const Node& n) {
  if (!has_arguments(n, 2, 2)) return wrong(n.where);
  const Value of = lower(*n.parts[0]);
  if (of.type.kind != Type::text && of.type.kind != Type::unknown) return error(d_tag::proto_arg, n.parts[0]->where, "json() takes a string"), wrong(n.where);
  const Node& path = *n.parts[1];
  if (path.kind != NodeKind::text) return error(d_tag::proto_arg, path.where, "json() takes the element as a string literal", "write `json(text, \"name[0].other\")`"), wrong(n.where);
  const lang::TreeMaker make = at(n.where);
  lang::Expr* e = of.e;
  for (std::string_view rest = path.text; !rest.empty();) {
    const bool is_index = rest.starts_with('[');
    const size_t end = is_index ? rest.find(']') : std::min(rest.find_first_of(".["), rest.size());
    const std::string_view step = end == rest.npos ? std::string_view() : rest.substr(is_index, end - is_index);
    const auto index = is_index ? base::parse_integer(step) : std::optional<uint64_t>(0);
    if (step.empty() || !index || *index > INT32_MAX) return error(d_tag::proto_arg, path.where, quoted(path.text) + " is not an element of JSON", "write `name`, `name.other` or `name[0]`"), wrong(n.where);
    e = expand("d_json_part", {e, text(is_index ? "" : step, path.where), make.number(is_index ? static_cast<int64_t>(*index) : -1)}, n.where);
    rest.remove_prefix(end + is_index);
    if (rest.starts_with('.')) rest.remove_prefix(1);
  }
  return {expand("d_json_value", {e}, n.where), text_type};
}

Value Lowering::lower_text_call(const Node& n) {
  const lang::TreeMaker make = at(n.where);
  auto argument = [&](size_t i) { return lower(*n.parts[i]).e; };
  const size_t texts = n.text == "strjoin" || n.text == "index" || n.text == "rindex" || n.text == "strstr" ? 2 : 1;
  for (size_t i = 0; i < texts && i < n.parts.size(); i++)
    if (const Value v = lower(*n.parts[i]); v.type.is_number() || v.type.kind == Type::translated || v.type.kind == Type::other) {
      error(tag::bad_argument, n.parts[i]->where, quoted(n.text) + " takes a string, and " + quoted(source_.text(n.parts[i]->where)) + " is none",
            v.type.is_number() ? "copyinstr() reads text at an address of the program, stringof() at one of the kernel"
            : v.type.kind == Type::other ? "its text is made when it is printed: print it by itself, or use it as a key" : "");
      return wrong(n.where);
    }
  if (n.text == "strlen") return has_arguments(n, 1, 1) ? Value{make.call("strlen", {argument(0)}), uint64_type} : wrong(n.where);
  if (n.text == "strjoin") return has_arguments(n, 2, 2) ? Value{make.call("str_concat", {argument(0), argument(1)}), text_type} : wrong(n.where);
  if (n.text == "substr") return lower_substr(n);
  if (n.text == "basename" || n.text == "dirname") return has_arguments(n, 1, 1) ? Value{expand(n.text == "basename" ? "d_basename" : "d_dirname", {argument(0)}, n.where), text_type} : wrong(n.where);
  if (n.text == "cleanpath") return has_arguments(n, 1, 1) ? Value{expand("d_clean_path", {argument(0)}, n.where), text_type} : wrong(n.where);
  if (n.text == "toupper" || n.text == "tolower") {
    if (!has_arguments(n, 1, 1)) return wrong(n.where);
    const bool is_up = n.text == "toupper";
    return {expand("d_with_case", {argument(0), make.number(is_up ? 'a' : 'A'), text(is_up ? "ABCDEFGHIJKLMNOPQRSTUVWXYZ" : "abcdefghijklmnopqrstuvwxyz", n.where)}, n.where), text_type};
  }
  if (n.text == "index" || n.text == "rindex") return found_in(n, true);
  // strstr, strchr, strrchr as text: what begins where they found something.
  lang::Expr* offset = found_in(n, false).e;
  if (!offset) return {};
  lang::Ternary* t = make.node<lang::Ternary>();
  t->condition = make.binary(lang::BinaryOp::ge, offset, make.number(0));
  t->then = make.call("substr", {argument(0), copy(offset)});
  t->otherwise = text("", n.where);
  return {t, text_type};
}

// Memory of the program, and text in memory: copyin(address, size), copyinstr(address [, size]), stringof(value)
Value Lowering::lower_memory_call(const Node& n) {
  const lang::TreeMaker make = at(n.where);
  auto argument = [&](size_t i) { return lower(*n.parts[i]).e; };
  if (n.text == "copyin") {
    if (!has_arguments(n, 2, 2)) return wrong(n.where);
    return {make.call("uptr", {argument(0)}), {Type::pointer, 0, false}};
  }
  if (n.text == "alloca") { // nothing is there, until the script puts it there
    if (!has_arguments(n, 1, 1)) return wrong(n.where);
    (void)numeric(*n.parts[0]);
    return {make.call("uptr", {make.number(0)}), {Type::pointer, 0, false}};
  }
  if (n.text == "copyinstr") {
    if (!has_arguments(n, 1, 2)) return wrong(n.where);
    std::vector<lang::Expr*> arguments = {make.call("uptr", {argument(0)})};
    if (n.parts.size() == 2) arguments.push_back(argument(1));
    return {make.call("str", arguments), text_type};
  }
  if (!has_arguments(n, 1, 1)) return wrong(n.where);
  // stringof(copyin(address, size))
  if (n.parts[0]->kind == NodeKind::call && n.parts[0]->text == "copyin" && n.parts[0]->parts.size() == 2)
    // So many bytes of text; str() counts the NUL.
    return {make.call("str", {argument(0), make.binary(lang::BinaryOp::add, lower(*n.parts[0]->parts[1]).e, make.number(1))}), text_type};
  const Value v = lower(*n.parts[0]);
  if (const auto place = place_of(*n.parts[0]); place && text_ends_.contains(place->name))
    return {make.call("str", {v.e, make.binary(lang::BinaryOp::add, scratch(text_ends_[place->name], n.where), make.number(1))}), text_type};
  if (v.type.kind == Type::text) return v;
  if (v.type.kind == Type::translated || v.type.kind == Type::other) {
    error(d_tag::stringof_type, n.where, quoted(source_.text(n.parts[0]->where)) + " is not text");
    return wrong(n.where);
  }
  return {make.call("str", {v.e}), text_type};
}

Value Lowering::lower_call(const Node& n) {
  const lang::TreeMaker make = at(n.where);
  for (const Missing& m : missing_functions)
    if (m.name == n.text) {
      const bool is_named = !m.changes_program || may_change(n);
      if (is_named) error(tag::unknown_function, n.where, quoted(n.text) + (m.changes_program ? " is not supported: it would change the traced program" : " is not available"), std::string(m.nearest));
      return wrong(n.where);
    }
  constexpr std::string_view texts[] = {"strlen", "strjoin", "substr", "basename", "dirname", "index", "rindex", "strstr", "strchr", "strrchr", "cleanpath", "toupper", "tolower"};
  if (base::is_one_of(texts, n.text)) return lower_text_call(n);
  if (n.text == "stack" || n.text == "ustack" || n.text == "jstack") return lower_stack(n);
  auto argument = [&](size_t i) { return lower(*n.parts[i]).e; };
  if (n.text == "copyin" || n.text == "copyinstr" || n.text == "stringof" || n.text == "alloca") return lower_memory_call(n);
  if (n.text == "rand") return has_arguments(n, 0, 0) ? Value{name("rand", n.where), uint32_type} : wrong(n.where);
  if (n.text == "speculation") {
    if (!has_arguments(n, 0, 0)) return wrong(n.where);
    lang::Unary* next = make.node<lang::Unary>();
    next->op = lang::UnaryOp::pre_increment;
    next->operand = make.map(map_named("speculations so far", n.where), nullptr);
    return {cast(next, int32_type), int32_type};
  }
  if (n.text == "progenyof") return has_arguments(n, 1, 1) ? Value{cast(expand("d_progeny", {numeric(*n.parts[0])}, n.where), int32_type), int32_type} : wrong(n.where);
  if (n.text == "lltostr") return lower_number_text(n);
  if (n.text == "strtok") return lower_token(n);
  if (n.text == "json") return lower_json(n);
  if (n.text == "strtoll") {
    if (!has_arguments(n, 1, 2)) return wrong(n.where);
    const Value s = lower(*n.parts[0]);
    const auto base = n.parts.size() == 2 ? constant(*n.parts[1]) : std::optional<int64_t>(10);
    if (s.type.kind != Type::text) return error(tag::bad_argument, n.parts[0]->where, "strtoll() takes a string"), wrong(n.where);
    if (!base || *base < 2 || *base > 36) return error(tag::bad_argument, n.parts[1]->where, "strtoll() takes a constant base from 2 to 36"), wrong(n.where);
    return {cast(expand("d_strtoll", {s.e, make.number(*base)}, n.where), int64_type), int64_type};
  }
  if (const SymbolForm form = symbol_form(n.text); form != SymbolForm::none) {
    if (!has_arguments(n, 1, 1)) return wrong(n.where);
    return symbol_of(argument(0), !n.text.starts_with('u'), form, n.where);
  }
  constexpr std::pair<std::string_view, std::string_view> swaps[] = {{"htons", "uint16"}, {"ntohs", "uint16"}, {"htonl", "uint32"},
                                                                     {"ntohl", "uint32"}, {"htonll", "uint64"}, {"ntohll", "uint64"}};
  for (const auto& [function, type] : swaps)
    if (n.text == function) {
      if (!has_arguments(n, 1, 1)) return wrong(n.where);
      const Type t = {Type::number, static_cast<uint8_t>(type == "uint16" ? 2 : type == "uint32" ? 4 : 8), false};
      return {make.call("bswap", {cast(numeric(*n.parts[0]), t)}), t};
    }
  if (n.text == "getmajor" || n.text == "getminor") {
    if (!has_arguments(n, 1, 1)) return wrong(n.where);
    const bool is_major = n.text == "getmajor";
    return {make.binary(is_major ? lang::BinaryOp::shr : lang::BinaryOp::bit_and, argument(0), make.number(is_major ? 20 : 0xfffff)), uint32_type};
  }
  if (n.text == "inet_ntop") {
    if (!has_arguments(n, 2, 2)) return wrong(n.where);
    return {make.call("ntop", {argument(0), argument(1)}), {Type::other}};
  }
  if (n.text == "inet_ntoa" || n.text == "inet_ntoa6") { // of an address in memory, and of one that is a value
    if (!has_arguments(n, 1, 1)) return wrong(n.where);
    Node* number = node_of(NodeKind::unary, n.where, {n.parts[0]});
    number->unary = lang::UnaryOp::dereference;
    const bool is_stored = n.text == "inet_ntoa" && place_of(*number); // in memory of alloca()
    return {make.call("ntop", {make.number(n.text == "inet_ntoa" ? AF_INET : AF_INET6), is_stored ? cast(lower(*number).e, uint32_type) : argument(0)}), {Type::other}};
  }
  constexpr std::string_view known[] = {"copyin", "copyinstr", "stringof", "rand", "speculation", "func", "sym", "ufunc", "usym", "uaddr", "htons", "ntohs", "htonl", "ntohl",
                                        "getmajor", "getminor", "inet_ntop", "inet_ntoa", "inet_ntoa6", "stack", "ustack", "jstack", "strlen", "strjoin", "strtok", "substr", "basename", "dirname", "index", "strtoll", "lltostr", "json", "alloca", "progenyof",
                                        "rindex", "strstr", "strchr", "strrchr", "cleanpath", "toupper", "tolower"};
  if (base::is_one_of(actions, n.text)) {
    error(d_tag::op_act, n.where, quoted(n.text) + " is an action: it has no value", "write it as a statement of its own");
    return wrong(n.where);
  }
  constexpr std::string_view aggregating[] = {"count", "sum", "min", "max", "avg", "stddev", "quantize", "lquantize", "llquantize"};
  if (base::is_one_of(aggregating, n.text)) {
    error(d_tag::op_act, n.where, quoted(n.text) + " is an aggregating function", "assign it to an aggregation: `@name[keys] = " + n.text + "(…);`");
    return wrong(n.where);
  }
  std::vector<std::string_view> all(std::begin(known), std::end(known));
  all.insert(all.end(), std::begin(actions), std::end(actions));
  const std::string_view near = base::nearest(n.text, all);
  error(tag::unknown_function, n.where, "there is no function " + quoted(n.text), near.empty() ? "" : "did you mean " + quoted(near) + "?");
  return wrong(n.where);
}

} // namespace dlang
