// The actions of a clause. All that a clause prints is one record, sent when the clause ends: lines of several CPUs are never mixed. Values
// are those of the time when the action stands in the script: they are kept in variables if more than printing follows.
#include "base/text.h"
#include "dlang/lowering.h"

#include <algorithm>
#include <csignal>

namespace dlang {

using namespace spec;
using base::quoted;

std::vector<lang::Stmt*> Lowering::lower_clause(const Clause& clause) {
  std::vector<lang::Stmt*> into;
  record_ = {.has_line = !plan_->display.quiet, .id = group_->id, .provider = group_->context.provider, .function = group_->context.function, .name = group_->context.name};
  if (group_->context.varies) record_.function.clear();
  printed_.clear();
  has_record_ = false;
  text_ends_.clear();
  speculation_ = nullptr;
  is_committed_ = false;
  exit_ = nullptr;
  for (size_t i = 0; i < clause.actions.size(); i++) {
    action_number_ = i + 1;
    lower_action(*clause.actions[i], into);
  }
  action_number_ = 0;
  if (clause.actions.empty() && !plan_->display.quiet) has_record_ = true; // the default action
  end_record(into);
  if (exit_) into.push_back(exit_);
  return into;
}

void Lowering::lower_action(const Node& n, std::vector<lang::Stmt*>& into) {
  if (n.kind == NodeKind::call && add_item(n)) return;
  keep_values(into);
  into.push_back(note_action(action_number_, n.where));
  if (n.kind == NodeKind::assign) return assign(n, into);
  if (n.kind == NodeKind::increment) return increment(n, into);
  const lang::TreeMaker make = at(n.where);
  if (n.kind == NodeKind::call && (n.text == "commit" || n.text == "discard")) {
    if (!has_arguments(n, 1, 1)) return;
    if (n.text == "commit") {
      if (is_committed_) return error(d_tag::comm_comm, n.where, "a clause has one commit()", "write a clause for each");
      if (has_record_ || speculation_) return error(d_tag::comm_drec, n.where, "commit() cannot be in a clause that prints or speculates", "write a clause of its own");
      is_committed_ = true;
    }
    return into.push_back(make.statement(make.call(n.text == "commit" ? "commit" : "discard", {cast(numeric(*n.parts[0]), uint64_type)})));
  }
  if (n.kind == NodeKind::call && n.text == "speculate") {
    if (!has_arguments(n, 1, 1)) return;
    if (has_record_) return error(d_tag::spec_drec, n.where, "speculate() must come before what is printed");
    if (is_committed_ || speculation_) return error(is_committed_ ? d_tag::spec_comm : d_tag::spec_spec, n.where, "speculate() cannot follow " + std::string(is_committed_ ? "commit()" : "another one"), "write a clause of its own");
    const std::string kept = "speculation " + std::to_string(++kept_);
    into.push_back(let(kept, cast(numeric(*n.parts[0]), uint64_type), n.where));
    speculation_ = scratch(kept, n.where);
    return;
  }
  if (n.kind == NodeKind::call && (n.text == "raise" || n.text == "stop")) return lower_signal(n, into);
  if (n.kind == NodeKind::call && (n.text == "copyinto" || n.text == "bcopy")) return fill_scratch(n, into);
  if (n.kind == NodeKind::aggregation) return error(d_tag::agg_null, n.where, "@" + n.text + " alone has no effect", "write `@" + n.text + " = count();`");
  // An expression as a statement computes nothing that anybody sees, but its mistakes are reported.
  const Value v = lower(n);
  if (n.kind == NodeKind::call) return;
  (void)v;
  if (n.kind != NodeKind::ternary) warn(tag::discarded, n.where, "the value of this expression is not used");
}

// raise(signal), stop()
void Lowering::lower_signal(const Node& n, std::vector<lang::Stmt*>& into) {
  const bool is_stop = n.text == "stop";
  if (!has_arguments(n, !is_stop, !is_stop) || !may_change(n)) return;
  if (speculation_) return error(d_tag::act_spec, n.where, quoted(n.text) + " cannot be speculative", "write a clause of its own, without speculate()");
  const lang::TreeMaker make = at(n.where);
  lang::Expr* signal = is_stop ? make.number(SIGSTOP) : cast(numeric(*n.parts[0]), uint32_type);
  into.push_back(make.statement(make.call("signal", {signal})));
}

// Whether destructive actions are allowed.
bool Lowering::may_change(const Node& n) {
  if (plan_->destructive) return true;
  error(tag::unsafe, n.where, n.text + "() is a destructive action: it " + (n.text == "system" ? "runs a command" : n.text == "freopen" ? "writes to a file" : "changes what is traced"),
        "allow these with -w or `#pragma D option destructive`");
  return false;
}

// An argument that is a number.
lang::Expr* Lowering::numeric(const Node& n, std::string_view tag) {
  const Value v = lower(n);
  if (v.type.kind != Type::text && v.type.kind != Type::other && v.type.kind != Type::translated) return v.e;
  error(tag, n.where, quoted(source_.text(n.where)) + " is not a number");
  return at(n.where).number(0);
}

// Values that the record has so far, kept as they are now.
void Lowering::keep_values(std::vector<lang::Stmt*>& into) {
  for (lang::Expr*& e : printed_) {
    if (e->kind == lang::ExprKind::variable) continue;
    const std::string kept = "printed " + std::to_string(++kept_);
    into.push_back(let(kept, e, e->where));
    e = scratch(kept, e->where);
  }
}

void Lowering::add_argument(Value v) {
  printed_.push_back(in_action(v.type.is_number() ? cast(v.e, v.type) : v.e));
  if (v.type.symbol == SymbolForm::none) return;
  record_.symbols.resize(printed_.size());
  record_.symbols.back() = v.type.symbol;
}

// Actions that are part of the record. false: it is another one.
bool Lowering::add_item(const Node& n) {
  constexpr std::pair<std::string_view, ItemKind> kinds[] = {
      {"printf", ItemKind::printf},       {"trace", ItemKind::trace},           {"tracemem", ItemKind::memory}, {"stack", ItemKind::stack},
      {"ustack", ItemKind::stack},        {"jstack", ItemKind::stack},          {"printa", ItemKind::printa},   {"normalize", ItemKind::normalize},
      {"denormalize", ItemKind::denormalize}, {"trunc", ItemKind::trunc},       {"clear", ItemKind::clear},     {"system", ItemKind::system},
      {"exit", ItemKind::nothing},        {"print", ItemKind::print},           {"freopen", ItemKind::freopen},  {"ftruncate", ItemKind::ftruncate},
      {"setopt", ItemKind::setopt}};
  const auto* row = std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return k.first == n.text; });
  if (row == std::end(kinds) && symbol_form(n.text) == SymbolForm::none) return false;
  if (is_committed_) return error(d_tag::drec_comm, n.where, quoted(n.text) + " cannot follow commit()", "write a clause of its own"), true;
  constexpr std::string_view never_speculative[] = {"exit", "system", "printa", "normalize", "denormalize", "trunc", "clear", "freopen", "ftruncate", "setopt"};
  const bool is_of_aggregation = n.text == "print" && n.parts.size() == 1 && n.parts[0]->kind == NodeKind::aggregation;
  if (speculation_ && (is_of_aggregation || base::is_one_of(never_speculative, n.text)))
    return error(n.text == "exit" ? d_tag::exit_spec : d_tag::act_spec, n.where, quoted(n.text) + " cannot be speculative", "write a clause of its own, without speculate()"), true;
  has_record_ = true;
  if (row == std::end(kinds)) { // func(arg0); as an action
    record_.items.push_back({.kind = ItemKind::trace, .arguments = 1});
    add_argument(lower(n));
    return true;
  }
  switch (row->second) {
  case ItemKind::fault: break; // no action
  case ItemKind::printf:
  case ItemKind::system:
  case ItemKind::freopen: add_printf(n, row->second); break;
  case ItemKind::printa: add_printa(n); break;
  case ItemKind::print:
    if (is_of_aggregation)
      add_printa(n);
    else
      add_print(n);
    break;
  case ItemKind::ftruncate:
    if (has_arguments(n, 0, 0)) record_.items.push_back({.kind = ItemKind::ftruncate});
    break;
  case ItemKind::setopt: add_option(n); break;
  case ItemKind::normalize:
  case ItemKind::denormalize:
  case ItemKind::trunc:
  case ItemKind::clear: add_aggregation_action(n, row->second); break;
  case ItemKind::stack:
    record_.items.push_back({.kind = ItemKind::stack, .text = n.text, .arguments = 1});
    printed_.push_back(lower_stack(n).e);
    break;
  case ItemKind::trace: {
    if (!has_arguments(n, 1, 1)) break;
    if (n.parts[0]->kind == NodeKind::aggregation) {
      error(d_tag::trace_dyn, n.where, "trace() prints a value, and an aggregation has none", "printa() prints it");
      break;
    }
    const Value v = lower(*n.parts[0]);
    if (v.type.kind == Type::translated) {
      error(d_tag::trace_dyn, n.where, "trace() prints a value: use a member");
      break;
    }
    record_.items.push_back({.kind = ItemKind::trace, .arguments = 1});
    add_argument(v);
    break;
  }
  case ItemKind::memory: {
    if (!has_arguments(n, 2, 3)) break;
    const auto size = constant(*n.parts[1]);
    if (!size || *size < 1 || *size > 4096) {
      error(d_tag::tracemem_size, n.parts[1]->where, "tracemem() takes a constant number of bytes, from 1 to 4096");
      break;
    }
    record_.items.push_back({.kind = ItemKind::memory, .arguments = 1});
    lang::Expr* bytes = at(n.where).number(*size);
    if (n.parts.size() == 3) bytes = expand("d_at_most", {cast(lower(*n.parts[2]).e, int64_type), bytes}, n.where);
    printed_.push_back(in_action(at(n.where).call("buf", {lower(*n.parts[0]).e, bytes})));
    break;
  }
  case ItemKind::nothing: {
    if (!has_arguments(n, 1, 1)) break;
    exit_ = at(n.where).statement(at(n.where).call("exit", {cast(numeric(*n.parts[0]), int32_type)}));
    break;
  }
  }
  return true;
}

// A value for a conversion.
void Lowering::add_checked(const Piece& piece, const Node& value) {
  const Value v = lower(value);
  const bool wants_text = piece.conversion == 's' || piece.conversion == 'S';
  if (piece.conversion == 'k') {
    if (value.kind != NodeKind::call || !v.e || v.type.kind != Type::other || !value.text.ends_with("stack"))
      return error(tag::bad_format, value.where, "%k prints stacks", "stack() and ustack() give one");
    printed_.push_back(v.e);
    return;
  }
  const std::string conversion = std::string("%") + piece.conversion;
  if (v.type.kind == Type::translated) return error(tag::bad_format, value.where, quoted(source_.text(value.where)) + " cannot be printed", "print one of its members");
  if (v.type.kind == Type::text && !wants_text) return error(tag::bad_format, value.where, conversion + " prints numbers, and " + quoted(source_.text(value.where)) + " is a string", "%s prints strings");
  if (v.type.is_number() && wants_text)
    return error(tag::bad_format, value.where, conversion + " prints strings, and " + quoted(source_.text(value.where)) + " is a number", "%d prints numbers; copyinstr() reads text at an address");
  const bool is_address = (piece.conversion == 'a' || piece.conversion == 'A') && v.type.symbol == SymbolForm::none;
  add_argument(is_address ? symbol_of(v.e, piece.conversion == 'a', SymbolForm::address, value.where) : v);
}

// print(value)
void Lowering::add_print(const Node& n) {
  if (!has_arguments(n, 1, 1)) return;
  const Value v = lower(*n.parts[0]);
  if (v.type.kind == Type::translated) return error(d_tag::print_dyn, n.where, "print() prints a value: use a member");
  record_.items.push_back({.kind = ItemKind::print, .arguments = 1});
  add_argument(v);
}

// setopt("name"[, value])
void Lowering::add_option(const Node& n) {
  if (!has_arguments(n, 1, 2)) return;
  const Node& name = *n.parts[0];
  if (name.kind != NodeKind::text) return error(d_tag::proto_arg, name.where, "setopt() takes the name of an option as a string literal");
  const auto option = option_of(name.text, name.where);
  if (!option) return;
  const bool is_ignored = option->effect == OptionEffect::ignored;
  if (!is_ignored && !is_of_display(option->effect))
    return error(d_tag::pragma_optset, name.where, "option " + quoted(name.text) + " cannot change while the script runs", "write `#pragma D option " + name.text + "`");
  Item item{.kind = is_ignored ? ItemKind::nothing : ItemKind::setopt, .text = name.text};
  if (n.parts.size() == 2) {
    const Value value = lower(*n.parts[1]);
    if (value.type.kind != Type::text) return error(d_tag::proto_arg, n.parts[1]->where, "setopt() takes a value as a string");
    item.arguments = !is_ignored;
    if (!is_ignored) add_argument(value);
  }
  Display trial;
  const bool is_known = n.parts.size() == 1 || n.parts[1]->kind == NodeKind::text;
  const std::string& value = n.parts.size() == 2 ? n.parts[1]->text : std::string();
  if (is_known && !(is_ignored ? is_value_of(option->value, value) : set_option(trial, option->effect, value)))
    return error(d_tag::pragma_optset, n.parts.back()->where, "option " + quoted(name.text) + ": " + quoted(value) + " is not a value that it can have");
  record_.items.push_back(std::move(item));
}

void Lowering::add_printf(const Node& n, ItemKind kind) {
  if ((kind == ItemKind::system || kind == ItemKind::freopen) && !may_change(n)) return;
  if (n.parts.empty() || n.parts[0]->kind != NodeKind::text) return error(n.parts.empty() ? d_tag::proto_len : d_tag::printf_arg_fmt, n.where, quoted(n.text) + " takes a format: a string literal");
  if (n.parts[0]->text.empty() && kind != ItemKind::freopen) return error(d_tag::printf_fmt_empty, n.parts[0]->where, quoted(n.text) + " has an empty format");
  std::string why;
  const std::vector<Piece> format = parse_format(n.parts[0]->text, why);
  if (!why.empty()) return error(tag::bad_format, n.parts[0]->where, n.text + ": " + why, "`%%` prints a percent sign");
  for (const Piece& p : format)
    if (p.of_aggregation) return error(d_tag::printf_agg_conv, n.parts[0]->where, n.text + ": `%@` prints aggregations, in printa() only");
  const size_t wanted = values_of(format);
  if (wanted + 1 != n.parts.size())
    return error(wanted + 1 > n.parts.size() ? d_tag::printf_arg_proto : d_tag::printf_arg_extra, n.where,
                 n.text + ": the format takes " + std::to_string(wanted) + (wanted == 1 ? " value" : " values") + ", and there " + (n.parts.size() == 2 ? "is " : "are ") +
                     std::to_string(n.parts.size() - 1));
  record_.items.push_back({.kind = kind, .text = n.parts[0]->text, .arguments = wanted});
  size_t next = 1;
  for (const Piece& p : format) {
    if (!p.conversion) continue;
    for (int stars = p.takes_width + p.takes_precision; stars > 0; stars--) add_argument({numeric(*n.parts[next++], d_tag::printf_dyn_type), int64_type});
    add_checked(p, *n.parts[next++]);
  }
}

// printa([format,] @a, …)
void Lowering::add_printa(const Node& n) {
  Item item{.kind = ItemKind::printa};
  size_t first = 0;
  if (!n.parts.empty() && n.parts[0]->kind == NodeKind::text) {
    item.text = n.parts[0]->text;
    std::string why;
    (void)parse_format(item.text, why);
    if (!why.empty()) return error(tag::bad_format, n.parts[0]->where, "printa: " + why, "`%%` prints a percent sign");
    first = 1;
  }
  if (first >= n.parts.size()) return error(d_tag::printa_proto, n.where, "printa() takes an aggregation", "write `printa(@name)` or `printa(\"%s %@d\\n\", @name)`");
  for (size_t i = first; i < n.parts.size(); i++) {
    if (n.parts[i]->kind != NodeKind::aggregation || !n.parts[i]->parts.empty())
      return error(d_tag::printa_aggarg, n.parts[i]->where, "printa() takes whole aggregations: `@name`");
    const size_t index = aggregation_of(*n.parts[i], nullptr, n.text);
    if (index == ~size_t{0}) return;
    if (!item.aggregations.empty() && plan_->aggregations[item.aggregations[0]].keys != plan_->aggregations[index].keys)
      return error(d_tag::printa_aggkey, n.parts[i]->where, "the aggregations of one printa() must have the same keys");
    if (!item.aggregations.empty()) {
      const auto &x = plan_->aggregations[item.aggregations[0]].key_parts, &y = plan_->aggregations[index].key_parts;
      for (size_t k = 0; k < x.size() && k < y.size(); k++)
        if ((x[k].size == 0) != (y[k].size == 0)) return error(d_tag::printa_aggkey, n.parts[i]->where, "the aggregations of one printa() must have keys of the same types");
    }
    item.aggregations.push_back(index);
  }
  if (item.text.empty() && first == 1) return;
  if (first == 1) {
    std::string why;
    const size_t wanted = values_of(parse_format(item.text, why)), keys = plan_->aggregations[item.aggregations[0]].keys;
    if (wanted > keys)
      return error(d_tag::printf_arg_proto, n.parts[0]->where, "printa: the format takes " + std::to_string(wanted) + (wanted == 1 ? " key" : " keys") + ", and the aggregation has " + std::to_string(keys),
                   "values of aggregations are printed by `%@d`");
    size_t next = 0;
    const std::vector<KeyPart>& parts = plan_->aggregations[item.aggregations[0]].key_parts;
    for (const Piece& p : parse_format(item.text, why)) {
      const bool wants_text = p.conversion == 's' || p.conversion == 'S';
      if (p.conversion && p.of_aggregation && wants_text) return error(d_tag::printf_agg_conv, n.parts[0]->where, "printa: %@s prints nothing: values of aggregations are numbers", "%@d prints them");
      if (!p.conversion || p.of_aggregation || next >= parts.size()) continue;
      if (const KeyPart& part = parts[next++]; part.size && wants_text && part.symbol == SymbolForm::none)
        return error(d_tag::printf_arg_type, n.parts[0]->where, "printa: %" + std::string(1, p.conversion) + " prints strings, and key " + std::to_string(next) + " is a number", "%d prints numbers");
    }
  }
  record_.items.push_back(std::move(item));
}

// normalize(@a, n), denormalize(@a), trunc(@a[, n]), clear(@a)
void Lowering::add_aggregation_action(const Node& n, ItemKind kind) {
  const bool takes_number = kind == ItemKind::normalize, may_number = kind == ItemKind::trunc;
  if (!has_arguments(n, 1 + takes_number, 1 + (takes_number || may_number))) return;
  if (n.parts[0]->kind != NodeKind::aggregation || !n.parts[0]->parts.empty())
    return error(std::ranges::find(aggregation_tags, n.text, &AggregationTags::action)->argument, n.parts[0]->where, quoted(n.text) + " takes a whole aggregation: `@name`");
  const size_t index = aggregation_of(*n.parts[0], nullptr, n.text);
  if (index == ~size_t{0}) return;
  Item item{.kind = kind, .aggregations = {index}};
  if (n.parts.size() == 2) {
    item.arguments = 1;
    const Value number = lower(*n.parts[1]);
    if (number.type.kind != Type::number && number.type.kind != Type::unknown)
      return error(may_number ? d_tag::trunc_scalar : d_tag::normalize_scalar, n.parts[1]->where, quoted(n.text) + " takes a number");
    add_argument({cast(number.e, int64_type), int64_type});
  }
  record_.items.push_back(std::move(item));
}

// The function where the description has a pattern: a name, or the number of a system call.
lang::Expr* Lowering::function_value(Range where) {
  const bool is_call = group_->context.kind == ContextKind::syscall_entry || group_->context.kind == ContextKind::syscall_return;
  return is_call ? cast(expand("d_call", {}, where), int32_type) : expand("d_function", {}, where);
}

// print((number of the record, CPU, function, values …))
void Lowering::end_record(std::vector<lang::Stmt*>& into) {
  if (!has_record_) return;
  const bool is_nothing = record_.items.empty() && !record_.has_line;
  if (is_nothing) return;
  const Range where = printed_.empty() ? group_->where : printed_.front()->where;
  const lang::TreeMaker make = at(where);
  std::vector<lang::Expr*> values = {cast(make.number(static_cast<int64_t>(plan_->records.size())), int32_type)};
  if (record_.has_line) {
    values.push_back(cast(name("cpu", where), int32_type));
    if (group_->context.varies) {
      record_.has_function = true;
      values.push_back(function_value(where));
    }
  }
  values.insert(values.end(), printed_.begin(), printed_.end());
  plan_->records.push_back(record_);
  lang::Stmt* print = make.statement(make.call("print", {make.tuple(values)}));
  if (!speculation_) return into.push_back(print);
  lang::Speculate* s = make.node<lang::Speculate>();
  s->key = speculation_;
  s->body = make.block({print});
  into.push_back(s);
}

} // namespace dlang
