// Statistics (`x <<< value`): acu keeps one kind of aggregation in a map, so what a script takes of a statistic decides its maps.
#include "stap/lowering.h"

#include "base/text.h"
#include "spec/diagnostics.h"
#include "stap/walk.h"

namespace stap {

using namespace spec;
using base::quoted;

namespace {

struct Operation {
  std::string_view name, maps; // separated by spaces
};
constexpr Operation operations[] = {{"count", "count"}, {"sum", "sum"}, {"min", "min"}, {"max", "max"}, {"avg", "avg"}, {"hist_log", "hist_log"}, {"hist_linear", "hist_linear"}, {"variance", "count sum squares"}};

} // namespace

void Lowering::collect_statistics(const Statement* s) {
  walk(
      s,
      [&](const Node& n) {
        if (n.kind == NodeKind::assign && n.text == "<<<")
          if (const Node* array = array_of(*n.parts[0])) statistics_[array->text];
        if (n.kind != NodeKind::operation || n.parts.empty() || !array_of(*n.parts[0])) return;
        for (const Operation& o : operations) {
          if (o.name != n.text) continue;
          Statistic& to = statistics_[array_of(*n.parts[0])->text];
          for (std::string_view map : base::split(o.maps, ' ')) to.operations.insert(std::string(map));
          if (n.text == "hist_linear" && to.linear.empty()) to.linear.assign(n.parts.begin() + 1, n.parts.end());
        }
      },
      [&](const Each& each) {
        if (array_of(*each.array)) looped_.insert(array_of(*each.array)->text);
        if (each.sort && each.sort_key < 0 && each.sort_by.empty() && array_of(*each.array)) sorted_.insert(array_of(*each.array)->text);
        if (each.sort_by.empty()) return;
        if (const Node* array = array_of(*each.array)) statistics_[array->text].operations.insert(each.sort_by);
      });
}

// The map of an operation; the statistic's own name where it is the only one.
std::string Lowering::statistic_name(const std::string& name, std::string_view operation) const {
  const Statistic& s = statistics_.at(name);
  if (s.operations.size() <= 1) return name;
  return name + "_" + std::string(operation == "hist_log" ? "hist" : operation == "hist_linear" ? "lhist" : operation);
}

// `of`: x or x[k]. Without an operation, that which is there anyway.
lang::MapRef* Lowering::statistic_map(const Node& of, std::string_view operation) {
  const Node& array = *array_of(of);
  Statistic& s = statistics_[array.text];
  if (s.operations.empty()) s.operations.insert("stats");
  if (operation.empty()) operation = *s.operations.begin();
  lang::Expr* key = of.kind == NodeKind::index ? keys_of(of.parts, 1, of.parts.size(), of.where) : nullptr;
  return at(of.where).map(map_named(statistic_name(array.text, operation), of.where), key);
}

// x[k] <<< value
void Lowering::add_value(const Node& n, Statements& to) {
  const Node* array = array_of(*n.parts[0]);
  if (!array || !is_global(array->text)) return error(tag::bad_map_use, n.where, "a statistic must be global", "declare it: global " + (array ? array->text : "x"));
  Statistic& s = statistics_[array->text];
  if (s.operations.empty()) s.operations.insert("stats");
  lang::Expr* value = number(*n.parts[1]);
  const bool is_simple = value->kind == lang::ExprKind::integer || value->kind == lang::ExprKind::variable || value->kind == lang::ExprKind::name;
  if (s.operations.size() > 1 && !is_simple) {
    const std::string own = fresh("value");
    to.push_back(let(own, value, n.where));
    value = variable(own, n.where);
  }
  const std::set<std::string> all = s.operations;
  for (const std::string& operation : all) {
    std::vector<lang::Expr*> arguments;
    if (operation == "squares")
      arguments = {at(n.where).binary(lang::BinaryOp::mul, value, value)};
    else if (operation != "count")
      arguments = {value};
    std::string function = operation;
    if (operation == "squares") function = "sum";
    if (operation == "hist_log") function = "hist";
    if (operation == "hist_linear") {
      function = "lhist";
      if (s.linear.size() != 3) return error(tag::wrong_argument_count, n.where, "@hist_linear needs low, high and width", "write `@hist_linear(x, 0, 100, 10)`");
      for (const Node* limit : s.linear) arguments.push_back(number(*limit));
    }
    to.push_back(assign(statistic_map(*n.parts[0], operation), at(n.where).call(keep(function), arguments), n.where));
  }
}

// @count(x[k]), @variance(x[k])
Value Lowering::statistic_value(const Node& n) {
  bool is_known = false;
  for (const Operation& o : operations) is_known |= o.name == n.text;
  if (!is_known) {
    error(tag::unknown_function, n.where, "acu has nothing like `@" + n.text + "`", "statistics have @count, @sum, @min, @max, @avg, @variance, @hist_log and @hist_linear");
    return wrong(n.where);
  }
  if (n.parts.empty() || !array_of(*n.parts[0]) || !is_global(array_of(*n.parts[0])->text)) {
    error(tag::bad_operand, n.where, "`@" + n.text + "` needs a statistic", "write `@" + n.text + "(x)`, where x is global and has `x <<< value`");
    return wrong(n.where);
  }
  if (n.text.starts_with("hist_")) {
    error(tag::misplaced, n.where, "a histogram can only be printed", "write `print(@" + n.text + "(x))`");
    return wrong(n.where);
  }
  if (n.text != "variance") return {statistic_map(*n.parts[0], n.text), Kind::number};
  // (squares - sum * sum / count) / (count - 1)
  const auto make = at(n.where);
  const auto part = [&](std::string_view operation) { return statistic_map(*n.parts[0], operation); };
  lang::Expr* mean = make.binary(lang::BinaryOp::div, make.binary(lang::BinaryOp::mul, part("sum"), part("sum")), part("count"));
  lang::Ternary* out = make.node<lang::Ternary>();
  out->condition = make.binary(lang::BinaryOp::gt, part("count"), make.number(1));
  out->then = make.binary(lang::BinaryOp::div, make.binary(lang::BinaryOp::sub, part("squares"), mean), make.binary(lang::BinaryOp::sub, part("count"), make.number(1)));
  out->otherwise = make.number(0);
  return {out, Kind::number};
}

} // namespace stap
