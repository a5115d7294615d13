// Functions that give a value. Actions, which print or change something, are in lower_clause.cc.
#include "base/text.h"
#include "dlang/lowering.h"
#include "spec/diagnostics.h"

namespace dlang {

using namespace spec;
using base::quoted;

bool Lowering::has_arguments(const Node& n, size_t least, size_t most) {
  if (n.parts.size() >= least && n.parts.size() <= most) return true;
  const std::string wanted = least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most);
  error(tag::wrong_argument_count, n.where, quoted(n.text) + " takes " + wanted + (most == 1 ? " argument" : " arguments") + ", not " + std::to_string(n.parts.size()));
  return false;
}

// stack([n]), ustack([n[, bytes]]), jstack([n[, bytes]])
Value Lowering::lower_stack(const Node& n) {
  if (!has_arguments(n, 0, n.text == "stack" ? 1 : 2)) return wrong(n.where);
  std::vector<lang::Expr*> depth;
  if (!n.parts.empty()) {
    const auto frames = constant(*n.parts[0]);
    if (!frames || *frames < 1 || *frames > 127) {
      error(tag::bad_argument, n.parts[0]->where, quoted(n.text) + " takes a constant number of frames, from 1 to 127");
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
  if (n.parts.size() == 3 && n.text == "index")
    return {cast(expand("d_index_from", {lower(*n.parts[0]).e, lower(*n.parts[1]).e, lower(*n.parts[2]).e}, n.where), int32_type), int32_type};
  if (n.parts.size() == 3 && gives_offset) {
    error(tag::bad_argument, n.parts[2]->where, quoted(n.text) + " searches the whole text here", "search in substr(TEXT, 0, START)");
    return wrong(n.where);
  }
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

Value Lowering::lower_text_call(const Node& n) {
  const lang::TreeMaker make = at(n.where);
  auto argument = [&](size_t i) { return lower(*n.parts[i]).e; };
  const size_t texts = n.text == "strjoin" || n.text == "index" || n.text == "rindex" || n.text == "strstr" ? 2 : 1;
  for (size_t i = 0; i < texts && i < n.parts.size(); i++)
    if (const Value v = lower(*n.parts[i]); v.type.is_number() || v.type.kind == Type::translated) {
      error(tag::bad_argument, n.parts[i]->where, quoted(n.text) + " takes a string, and " + quoted(source_.text(n.parts[i]->where)) + " is none",
            v.type.is_number() ? "copyinstr() reads text at an address of the program, stringof() at one of the kernel" : "");
      return wrong(n.where);
    }
  if (n.text == "strlen") return has_arguments(n, 1, 1) ? Value{make.call("strlen", {argument(0)}), uint64_type} : wrong(n.where);
  if (n.text == "strjoin") return has_arguments(n, 2, 2) ? Value{make.call("str_concat", {argument(0), argument(1)}), text_type} : wrong(n.where);
  if (n.text == "substr") {
    if (!has_arguments(n, 2, 3)) return wrong(n.where);
    std::vector<lang::Expr*> arguments = {argument(0), argument(1)};
    if (n.parts.size() == 3) arguments.push_back(argument(2));
    return {make.call("substr", arguments), text_type};
  }
  if (n.text == "basename" || n.text == "dirname") return has_arguments(n, 1, 1) ? Value{expand(n.text == "basename" ? "d_basename" : "d_dirname", {argument(0)}, n.where), text_type} : wrong(n.where);
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
  if (v.type.kind == Type::text) return v;
  if (v.type.kind == Type::translated || v.type.kind == Type::other) {
    error(tag::bad_argument, n.where, quoted(source_.text(n.parts[0]->where)) + " is not text");
    return wrong(n.where);
  }
  return {make.call("str", {v.e}), text_type};
}

Value Lowering::lower_call(const Node& n) {
  const lang::TreeMaker make = at(n.where);
  for (const Missing& m : missing_functions)
    if (m.name == n.text) {
      error(tag::unknown_function, n.where, quoted(n.text) + " is not available", std::string(m.nearest));
      return wrong(n.where);
    }
  constexpr std::string_view texts[] = {"strlen", "strjoin", "substr", "basename", "dirname", "index", "rindex", "strstr", "strchr", "strrchr"};
  if (base::is_one_of(texts, n.text)) return lower_text_call(n);
  if (n.text == "stack" || n.text == "ustack" || n.text == "jstack") return lower_stack(n);
  auto argument = [&](size_t i) { return lower(*n.parts[i]).e; };
  if (n.text == "copyin" || n.text == "copyinstr" || n.text == "stringof") return lower_memory_call(n);
  if (n.text == "rand") return has_arguments(n, 0, 0) ? Value{name("rand", n.where), uint32_type} : wrong(n.where);
  if (n.text == "speculation") {
    if (!has_arguments(n, 0, 0)) return wrong(n.where);
    lang::Unary* next = make.node<lang::Unary>();
    next->op = lang::UnaryOp::pre_increment;
    next->operand = make.map(map_named("speculations so far", n.where), nullptr);
    return {cast(next, int32_type), int32_type};
  }
  if (n.text == "progenyof") return has_arguments(n, 1, 1) ? Value{cast(expand("d_progeny", {argument(0)}, n.where), int32_type), int32_type} : wrong(n.where);
  if (n.text == "lltostr") {
    if (!has_arguments(n, 1, 2)) return wrong(n.where);
    const Value number = lower(*n.parts[0]);
    const auto base = n.parts.size() == 2 ? constant(*n.parts[1]) : std::optional<int64_t>(10);
    if (number.type.kind == Type::text || number.type.kind == Type::other || number.type.kind == Type::translated) return error(tag::bad_argument, n.parts[0]->where, "lltostr() takes a number"), wrong(n.where);
    if (!base || *base < 2 || *base > 36) return error(tag::bad_argument, n.parts[1]->where, "lltostr() takes a constant base from 2 to 36"), wrong(n.where);
    return {expand("d_number_text", {number.e, make.number(*base)}, n.where), text_type};
  }
  if (n.text == "strtoll") {
    if (!has_arguments(n, 1, 2)) return wrong(n.where);
    const Value s = lower(*n.parts[0]);
    const auto base = n.parts.size() == 2 ? constant(*n.parts[1]) : std::optional<int64_t>(10);
    if (s.type.kind != Type::text) return error(tag::bad_argument, n.parts[0]->where, "strtoll() takes a string"), wrong(n.where);
    if (!base || *base < 2 || *base > 36) return error(tag::bad_argument, n.parts[1]->where, "strtoll() takes a constant base from 2 to 36"), wrong(n.where);
    return {cast(expand("d_strtoll", {s.e, make.number(*base)}, n.where), int64_type), int64_type};
  }
  constexpr std::string_view kernel_names[] = {"func", "sym", "mod"}, user_names[] = {"ufunc", "usym", "uaddr", "umod"};
  const bool of_kernel = base::is_one_of(kernel_names, n.text);
  if (of_kernel || base::is_one_of(user_names, n.text)) {
    if (!has_arguments(n, 1, 1)) return wrong(n.where);
    lang::Expr* address = cast(argument(0), uint64_type);
    return {make.call(of_kernel ? "ksym" : "usym", {address}), {Type::other}};
  }
  constexpr std::pair<std::string_view, std::string_view> swaps[] = {{"htons", "uint16"}, {"ntohs", "uint16"}, {"htonl", "uint32"},
                                                                     {"ntohl", "uint32"}, {"htonll", "uint64"}, {"ntohll", "uint64"}};
  for (const auto& [function, type] : swaps)
    if (n.text == function) {
      if (!has_arguments(n, 1, 1)) return wrong(n.where);
      const Type t = {Type::number, static_cast<uint8_t>(type == "uint16" ? 2 : type == "uint32" ? 4 : 8), false};
      return {make.call("bswap", {cast(argument(0), t)}), t};
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
  if (n.text == "inet_ntoa") {
    if (!has_arguments(n, 1, 1)) return wrong(n.where);
    return {make.call("ntop", {argument(0)}), {Type::other}};
  }
  constexpr std::string_view actions[] = {"printf",      "trace",  "tracemem", "printa", "exit",  "normalize", "denormalize", "trunc",
                                          "clear",       "system", "speculate", "commit", "discard"};
  constexpr std::string_view known[] = {"copyin", "copyinstr", "stringof", "rand", "speculation", "func", "sym", "ufunc", "usym", "uaddr", "htons", "ntohs", "htonl", "ntohl",
                                        "getmajor", "getminor", "inet_ntop", "stack", "ustack", "jstack", "strlen", "strjoin", "substr", "basename", "dirname", "index", "strtoll", "lltostr", "progenyof",
                                        "rindex", "strstr", "strchr", "strrchr"};
  if (base::is_one_of(actions, n.text)) {
    error(tag::misplaced, n.where, quoted(n.text) + " is an action: it has no value", "write it as a statement of its own");
    return wrong(n.where);
  }
  constexpr std::string_view aggregating[] = {"count", "sum", "min", "max", "avg", "stddev", "quantize", "lquantize", "llquantize"};
  if (base::is_one_of(aggregating, n.text)) {
    error(tag::misplaced, n.where, quoted(n.text) + " is an aggregating function", "assign it to an aggregation: `@name[keys] = " + n.text + "(…);`");
    return wrong(n.where);
  }
  std::vector<std::string_view> all(std::begin(known), std::end(known));
  all.insert(all.end(), std::begin(actions), std::end(actions));
  const std::string_view near = base::nearest(n.text, all);
  error(tag::unknown_function, n.where, "there is no function " + quoted(n.text), near.empty() ? "" : "did you mean " + quoted(near) + "?");
  return wrong(n.where);
}

} // namespace dlang
