// Which values may be below 0: acu divides without signs, so a division of those needs a function (helpers.h). A name stands for all variables of
// the script that have it; what comes from the traced program is never sure.
#include "stap/lowering.h"

#include "base/text.h"
#include "stap/walk.h"

#include <algorithm>

namespace stap {

namespace {

constexpr std::string_view never_negative[] = {
    "pid",          "tid",          "ppid",         "uid",            "euid",           "gid",            "egid",          "cpu",           "pgrp",
    "sid",          "target",       "ns_pid",       "ns_tid",         "gettimeofday_ns", "gettimeofday_us", "gettimeofday_ms", "gettimeofday_s", "ktime_get_ns",  "local_clock_ns",
    "local_clock_us", "local_clock_ms", "local_clock_s", "cpu_clock_ns", "cpu_clock_us",  "cpu_clock_ms",   "get_cycles",     "jiffies",       "strlen",        "stringat",
    "randint",      "task_pid",     "task_tid",     "task_cpu",       "MAJOR",          "MINOR",          "user_mode",      "isinstr",       "isdigit"};

} // namespace

bool Lowering::may_be_negative(const Node& n) const {
  const auto part = [&](size_t i) { return may_be_negative(*n.parts[i]); };
  switch (n.kind) {
  case NodeKind::integer: return n.value > INT64_MAX;
  case NodeKind::text:
  case NodeKind::contained: return false;
  case NodeKind::name: return signed_.contains(n.text) || !(is_global(n.text) || scope_names_.contains(n.text));
  case NodeKind::index: return !n.parts[0] || !array_of(n) || signed_.contains(array_of(n)->text);
  case NodeKind::operation: return n.text != "count" && (n.parts.empty() || !array_of(*n.parts[0]) || !statistics_.contains(array_of(*n.parts[0])->text) || signed_.contains(array_of(*n.parts[0])->text));
  case NodeKind::call: return !base::is_one_of(never_negative, n.text) || function_kinds_.contains(n.text);
  case NodeKind::ternary: return part(1) || part(2);
  case NodeKind::increment: return part(0);
  case NodeKind::unary: return n.text == "!" ? false : n.text == "+" ? part(0) : true;
  case NodeKind::binary:
    if (n.text == "-") return true;
    if (n.text == "%" || n.text == ">>") return part(0);
    if (n.text == "&") return part(0) && part(1);
    if (n.text == "+" || n.text == "*" || n.text == "/" || n.text == "|" || n.text == "^") return part(0) || part(1);
    return n.text == "<<"; // others are comparisons
  default: return true;
  }
}

// What is assigned to each name, until nothing new is found.
void Lowering::find_signs() {
  for (const auto& [f, scope] : function_scopes_) {
    scope_names_.insert(scope.locals.begin(), scope.locals.end());
    signed_.insert(scope.parameters.begin(), scope.parameters.end());
  }
  for (const Unit& u : units_) scope_names_.insert(u.scope.locals.begin(), u.scope.locals.end());
  std::vector<const Statement*> bodies;
  for (const Function& f : script_.functions) bodies.push_back(f.body);
  for (const Probe& p : script_.probes) bodies.push_back(p.body);
  for (const Alias& a : script_.aliases) bodies.push_back(a.body);
  for (const Global& g : script_.globals)
    if (g.initial && may_be_negative(*g.initial)) signed_.insert(g.name);
  const auto visit = [&](const Node& n) {
    if (n.kind != NodeKind::assign && n.kind != NodeKind::increment) return;
    const Node* target = array_of(*n.parts[0]);
    if (!target) return;
    const bool goes_down = n.kind == NodeKind::increment ? n.text == "--" : n.text == "-=" || n.text == "<<=";
    if (goes_down || (n.kind == NodeKind::assign && may_be_negative(*n.parts[1]))) signed_.insert(target->text);
  };
  const auto each = [&](const Each& e) { // keys may be anything
    for (const Node* key : e.keys) signed_.insert(key->text);
    if (!e.value.empty()) signed_.insert(e.value);
  };
  for (size_t known = SIZE_MAX; known != signed_.size();) {
    known = signed_.size();
    for (const Statement* body : bodies) walk(body, visit, each);
  }
}

} // namespace stap
