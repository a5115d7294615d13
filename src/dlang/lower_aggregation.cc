// @name[keys] = function(…): maps of acu's aggregations; see Aggregation for which.
#include "base/text.h"
#include "dlang/lowering.h"

namespace dlang {

using namespace spec;
using base::quoted;
using lang::BinaryOp;

namespace {

struct FunctionRow {
  std::string_view name;
  Function function;
  size_t least, most; // arguments
};
constexpr FunctionRow functions[] = {
    {"count", Function::count, 0, 0},       {"sum", Function::sum, 1, 1},             {"min", Function::min, 1, 1},
    {"max", Function::max, 1, 1},           {"avg", Function::avg, 1, 1},             {"stddev", Function::stddev, 1, 1},
    {"quantize", Function::quantize, 1, 2}, {"lquantize", Function::lquantize, 3, 5}, {"llquantize", Function::llquantize, 5, 6},
};
constexpr uint64_t most_buckets = 1 << 15; // of all keys of an aggregation

const FunctionRow* function_named(std::string_view name) {
  for (const FunctionRow& f : functions)
    if (f.name == name) return &f;
  return nullptr;
}

} // namespace

// The constant arguments, which are the same wherever the aggregation is used.
bool Lowering::read_shape(const Node& call, Aggregation& a) {
  constexpr std::string_view linear_tags[] = {d_tag::lquant_basetype, d_tag::lquant_limtype, d_tag::lquant_steptype};
  constexpr std::string_view log_linear_tags[] = {d_tag::llquant_factortype, d_tag::llquant_lmagtype, d_tag::llquant_hmagtype, d_tag::llquant_steptype};
  std::vector<int64_t> shape;
  for (size_t i = 1; i < call.parts.size(); i++) {
    const bool is_increment = (a.function == Function::quantize && i == 1) || (a.function == Function::lquantize && i == 4) || (a.function == Function::llquantize && i == 5);
    if (is_increment) break;
    const auto n = constant(*call.parts[i]);
    if (!n) return error(a.function == Function::lquantize ? linear_tags[i - 1] : log_linear_tags[i - 1], call.parts[i]->where, quoted(call.text) + " takes a constant here"), false;
    shape.push_back(*n);
  }
  if (a.function == Function::lquantize) {
    a.low = shape[0], a.high = shape[1], a.step = shape.size() > 2 ? shape[2] : 1;
    auto fits = [](int64_t n) { return n >= INT32_MIN && n <= INT32_MAX; };
    if (!fits(a.low)) return error(d_tag::lquant_baseval, call.where, "lquantize: the lower bound must fit in 32 bits"), false;
    if (!fits(a.high)) return error(d_tag::lquant_limval, call.where, "lquantize: the upper bound must fit in 32 bits"), false;
    if (a.high < a.low) return error(d_tag::lquant_mismatch, call.where, "lquantize: the upper bound must be greater than the lower one"), false;
    if (a.step <= 0) return error(d_tag::lquant_steptype, call.where, "lquantize: the step must be greater than zero"), false;
    if (a.step > UINT16_MAX) return error(d_tag::lquant_stepval, call.where, "lquantize: the step must fit in 16 bits"), false;
    if (a.high - a.low < a.step) return error(d_tag::lquant_steplarge, call.where, "lquantize: at least one step must fit between the bounds"), false;
    if ((a.high - a.low) / a.step > UINT16_MAX) return error(d_tag::lquant_stepsmall, call.where, "lquantize: more than 65535 steps are too many"), false;
  }
  if (a.function == Function::llquantize) {
    a.factor = shape[0], a.low_power = shape[1], a.high_power = shape[2], a.steps = shape[3];
    auto refuse = [&](std::string_view tag, std::string why) { return error(tag, call.where, "llquantize: " + why), false; };
    if (a.factor < 2 || a.factor > UINT16_MAX) return refuse(d_tag::llquant_factorval, "the factor must be from 2 to 65535");
    if (a.low_power < 0 || a.low_power > 62) return refuse(d_tag::llquant_lmagval, "the lower power must be from 0 to 62");
    if (a.high_power < a.low_power || a.high_power > 62) return refuse(d_tag::llquant_hmagval, "the higher power must be from the lower one to 62");
    if (a.steps < 2 || a.steps > UINT16_MAX) return refuse(d_tag::llquant_stepval, "the steps must be from 2 to 65535");
    if (a.steps % a.factor && a.factor % a.steps) return refuse(d_tag::llquant_stepval, "the steps must be a multiple of the factor, or divide it");
    int64_t power = 1;
    for (int64_t i = 0; i <= a.high_power + 1; i++)
      if (__builtin_mul_overflow(power, a.factor, &power)) return refuse(d_tag::llquant_hmagval, "the highest power does not fit in 64 bits");
    int64_t first = 1; // the end of the first range that has all its steps
    for (int64_t i = 0; i <= std::max<int64_t>(a.low_power, 1); i++) first *= a.factor;
    if (a.steps > a.factor && first % a.steps) return refuse(d_tag::llquant_stepval, "the steps must divide " + std::to_string(first) + ", so that all of a range are equal");
  }
  return true;
}

// The number of the aggregation that is used here; with a call, its function must be the one of its other uses.
size_t Lowering::aggregation_of(const Node& target, const Node* call, std::string_view action) {
  const auto found = aggregations_.find(target.text);
  if (!call) {
    if (found != aggregations_.end()) return found->second;
    const auto* tags = std::ranges::find(aggregation_tags, action, &AggregationTags::action);
    error(tags == std::end(aggregation_tags) ? tag::unknown_map : tags->unknown, target.where, "there is no aggregation @" + target.text, "a clause before this one must assign to it: `@" + target.text + " = count();`");
    return ~size_t{0};
  }
  const FunctionRow* f = function_named(call->text);
  if (!f) {
    error(d_tag::agg_func, call->where, "@" + target.text + " is an aggregation: it takes an aggregating function",
          "count(), sum(), min(), max(), avg(), stddev(), quantize(), lquantize() or llquantize()");
    return ~size_t{0};
  }
  if (!has_arguments(*call, f->least, f->most)) return ~size_t{0};
  Aggregation a{.name = target.text, .function = f->function, .keys = target.parts.size(), .where = target.where};
  const bool has_increment = (f->function == Function::quantize && call->parts.size() == 2);
  a.by_buckets = has_increment || f->function == Function::lquantize || f->function == Function::llquantize;
  if (!read_shape(*call, a)) return ~size_t{0};
  if (found == aggregations_.end()) {
    plan_->aggregations.push_back(a);
    return aggregations_[target.text] = plan_->aggregations.size() - 1;
  }
  const Aggregation& b = plan_->aggregations[found->second];
  if (a.function != b.function || a.low != b.low || a.high != b.high || a.step != b.step || a.factor != b.factor || a.low_power != b.low_power ||
      a.high_power != b.high_power || a.steps != b.steps || a.by_buckets != b.by_buckets) {
    const bool is_linear = a.function == Function::lquantize;
    const std::string_view tag = a.function != b.function || a.by_buckets != b.by_buckets ? d_tag::agg_redef
                                 : is_linear ? (a.low != b.low ? d_tag::lquant_matchbase : a.high != b.high ? d_tag::lquant_matchlim : d_tag::lquant_matchstep)
                                 : a.factor != b.factor ? d_tag::llquant_matchfactor
                                 : a.low_power != b.low_power ? d_tag::llquant_matchlmag
                                 : a.high_power != b.high_power ? d_tag::llquant_matchhmag : d_tag::llquant_matchsteps;
    error(tag, call->where, "@" + target.text + " has another function elsewhere", "an aggregation has one function, with the same bounds everywhere");
    return ~size_t{0};
  }
  if (a.keys != b.keys) {
    error(d_tag::proto_len, target.where, "@" + target.text + " has " + std::to_string(b.keys) + (b.keys == 1 ? " key" : " keys") + " elsewhere, not " + std::to_string(a.keys));
    return ~size_t{0};
  }
  return found->second;
}

lang::MapRef* Lowering::aggregation_map(const Aggregation& a, std::string_view suffix, lang::Expr* key, Range where) {
  lang::Map* map = map_named("@" + a.name + std::string(suffix), a.where);
  map->name = program_->types.keep(a.name + std::string(suffix));
  if (a.by_buckets) map->max_entries = most_buckets;
  return at(where).map(map, key);
}

// Of all uses of an aggregation the widest keys count.
void Lowering::widen_keys(size_t aggregation, const std::vector<KeyPart>& parts) {
  std::vector<KeyPart>& known = plan_->aggregations[aggregation].key_parts;
  if (known.empty()) known = parts;
  for (size_t i = 0; i < known.size() && i < parts.size(); i++) {
    known[i].size = std::max(known[i].size, parts[i].size);
    known[i].symbol = std::max(known[i].symbol, parts[i].symbol);
  }
}

void Lowering::aggregate(const Node& n, std::vector<lang::Stmt*>& into) {
  const Node& target = *n.parts[0];
  const Node& call = *n.parts[1];
  if (n.is_compound || call.kind != NodeKind::call)
    return error(d_tag::agg_func, n.where, "@" + target.text + " is an aggregation: it takes an aggregating function", "write `@" + target.text + " = sum(…);`");
  if (speculation_ || is_committed_)
    return error(speculation_ ? d_tag::agg_spec : d_tag::agg_comm, n.where, speculation_ ? "aggregations cannot be speculative" : "an aggregation cannot follow commit()", "write a clause of its own");
  const size_t index = aggregation_of(target, &call);
  if (index == ~size_t{0}) return;
  const Aggregation a = plan_->aggregations[index];
  const lang::TreeMaker make = at(n.where);
  if (a.by_buckets) return add_to_buckets(target, call, index, into);
  std::vector<KeyPart> parts;
  lang::Expr* key = key_of(target.parts, 0, false, target.where, &parts);
  widen_keys(index, parts);
  auto add = [&](std::string_view suffix, std::string_view function, std::vector<lang::Expr*> arguments) {
    lang::Expr* k = copy(key);
    return set(aggregation_map(a, suffix, k, target.where), at(call.where).call(function, arguments), n.where);
  };
  if (a.function == Function::count) return into.push_back(add("", "count", {}));
  const Value v = lower(*call.parts[0]);
  if (v.type.kind == Type::text || v.type.kind == Type::other || v.type.kind == Type::translated)
    return error(d_tag::agg_scalar, call.where, quoted(call.text) + " takes a number");
  lang::Expr* number = cast(v.e, int64_type);
  switch (a.function) {
  case Function::sum: return into.push_back(add("", "sum", {number}));
  case Function::min: return into.push_back(add("", "min", {number}));
  case Function::max: return into.push_back(add("", "max", {number}));
  case Function::avg: return into.push_back(add("", "avg", {number}));
  default: break;
  }
  const std::string kept = "value " + std::to_string(++kept_);
  auto value = [&] { return scratch(kept, n.where); };
  auto negated = [&] {
    lang::Unary* u = make.node<lang::Unary>();
    u->op = lang::UnaryOp::negate;
    u->operand = value();
    return u;
  };
  into.push_back(let(kept, number, n.where));
  if (a.function == Function::quantize) {
    if (v.type.is_number() && !v.type.is_signed && v.type.size < 8) return into.push_back(add("", "hist", {value()}));
    lang::If* s = make.node<lang::If>();
    s->condition = make.binary(BinaryOp::ge, value(), make.number(0));
    s->then = make.block({add("", "hist", {value()})});
    s->otherwise = make.block({add(".neg", "hist", {negated()})});
    return into.push_back(s);
  }
  // stddev: the squares are added up in places of 32 bits, so that no sum overflows.
  const std::string size = "size " + std::to_string(kept_), low = "low " + std::to_string(kept_), high = "high " + std::to_string(kept_);
  lang::Ternary* absolute = make.node<lang::Ternary>();
  absolute->condition = make.binary(BinaryOp::lt, value(), make.number(0));
  absolute->then = negated();
  absolute->otherwise = value();
  constexpr int64_t mask = 0xffffffff;
  auto product = [&](const std::string& x, const std::string& y) { return make.binary(BinaryOp::mul, scratch(x, n.where), scratch(y, n.where)); };
  into.push_back(let(size, cast(absolute, uint64_type), n.where));
  into.push_back(let(low, make.binary(BinaryOp::bit_and, scratch(size, n.where), make.number(mask)), n.where));
  into.push_back(let(high, make.binary(BinaryOp::shr, scratch(size, n.where), make.number(32)), n.where));
  into.push_back(add("", "avg", {value()}));
  into.push_back(add(".low", "sum", {cast(make.binary(BinaryOp::bit_and, product(low, low), make.number(mask)), int64_type)}));
  into.push_back(add(".mid", "sum", {cast(make.binary(BinaryOp::shr, cast(product(low, low), uint64_type), make.number(32)), int64_type)}));
  into.push_back(add(".cross", "sum", {cast(product(high, low), int64_type)}));
  into.push_back(add(".high", "sum", {cast(product(high, high), int64_type)}));
}

// Of functions whose buckets are keys: the last element of the key is the number of the bucket.
void Lowering::add_to_buckets(const Node& target, const Node& call, size_t index, std::vector<lang::Stmt*>& into) {
  const Aggregation a = plan_->aggregations[index];
  const lang::TreeMaker make = at(call.where);
  const Value v = lower(*call.parts[0]);
  if (v.type.kind == Type::text || v.type.kind == Type::other || v.type.kind == Type::translated)
    return error(d_tag::agg_scalar, call.where, quoted(call.text) + " takes a number");
  const std::string kept = "value " + std::to_string(++kept_);
  into.push_back(let(kept, cast(v.e, int64_type), call.where));
  std::vector<lang::Expr*> keys;
  std::vector<KeyPart> parts;
  for (Node* k : target.parts) keys.push_back(key_of({k}, 0, false, k->where, &parts));
  widen_keys(index, parts);
  lang::Expr* bucket = cast(bucket_of(a, scratch(kept, call.where), call.where), int64_type);
  keys.push_back(bucket);
  lang::Expr* key = keys.size() == 1 ? keys[0] : make.tuple(keys);
  const size_t at_increment = a.function == Function::quantize ? 1 : a.function == Function::lquantize ? 4 : 5;
  lang::Expr* added = call.parts.size() > at_increment ? cast(numeric(*call.parts[at_increment]), int64_type) : make.number(1);
  into.push_back(set(aggregation_map(a, "", key, target.where), make.call("sum", {cast(added, int64_type)}), call.where));
}

// quantize: the lower bound of the bucket; lquantize: -1, the number of the step, the number of steps; llquantize: as dtrace counts them.
lang::Expr* Lowering::bucket_of(const Aggregation& a, lang::Expr* value, Range where) {
  const lang::TreeMaker make = at(where);
  if (a.function == Function::quantize) return expand("d_power_bucket", {value}, where);
  if (a.function == Function::llquantize) return log_linear_bucket(a, value, where);
  auto choose = [&](lang::Expr* condition, lang::Expr* then, lang::Expr* otherwise) {
    lang::Ternary* t = make.node<lang::Ternary>();
    t->condition = condition, t->then = cast(then, int64_type), t->otherwise = cast(otherwise, int64_type);
    return t;
  };
  const int64_t steps = (a.high - a.low) / a.step;
  lang::Expr* offset = make.binary(BinaryOp::sub, copy(value), make.number(0));
  offset = cast(make.binary(BinaryOp::sub, copy(value), cast(make.number(a.low), int64_type)), uint64_type);
  lang::Expr* step = make.binary(BinaryOp::div, offset, make.number(a.step));
  lang::Expr* inside = choose(make.binary(BinaryOp::ge, copy(value), cast(make.number(a.low + steps * a.step), int64_type)), make.number(steps), step);
  lang::Unary* below = make.node<lang::Unary>();
  below->op = lang::UnaryOp::negate;
  below->operand = make.number(1);
  return choose(make.binary(BinaryOp::lt, copy(value), cast(make.number(a.low), int64_type)), below, inside);
}

lang::Expr* Lowering::log_linear_bucket(const Aggregation& a, lang::Expr* value, Range where) {
  const lang::TreeMaker make = at(where);
  struct Range64 {
    int64_t from, end, width, first;
  };
  std::vector<Range64> ranges;
  int64_t bound = 1, first = 1;
  for (int64_t i = 0; i < a.low_power; i++) bound *= a.factor;
  const int64_t lowest = bound;
  int64_t from = bound;
  for (int64_t power = a.low_power; power <= a.high_power; power++) {
    const int64_t end = from * a.factor;
    const int64_t buckets = end > a.steps ? a.steps : end;
    ranges.push_back({from, end, end / buckets, first});
    first += buckets - buckets / a.factor;
    from = end;
  }
  lang::Expr* out = make.number(first);
  for (size_t i = ranges.size(); i-- > 0;) {
    const Range64& r = ranges[i];
    lang::Expr* offset = cast(make.binary(BinaryOp::sub, copy(value), make.number(r.from)), uint64_type);
    lang::Expr* bucket = make.binary(BinaryOp::add, make.number(r.first), make.binary(BinaryOp::div, offset, make.number(r.width)));
    lang::Ternary* t = make.node<lang::Ternary>();
    t->condition = make.binary(BinaryOp::lt, copy(value), make.number(r.end));
    t->then = cast(bucket, int64_type);
    t->otherwise = cast(out, int64_type);
    out = t;
  }
  lang::Ternary* t = make.node<lang::Ternary>();
  t->condition = make.binary(BinaryOp::lt, copy(value), make.number(lowest));
  t->then = cast(make.number(0), int64_type);
  t->otherwise = cast(out, int64_type);
  return t;
}

} // namespace dlang
