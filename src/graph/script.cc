// Functions with types have a group of their own; of the others those that are probed alike are one. The texts made here are of numbers
// and of names that debug information gives to arguments; names of functions and files are places of probes.
#include "graph/script.h"


#include <algorithm>
#include <cctype>

namespace graph {

namespace {

using Group = std::vector<const Function*>;

// What a pointer to text leads to; "\x01" where there is nothing, or it cannot be read.
std::string text_at(const std::string& pointer) { return pointer + " ? try(str(" + pointer + ", 48), \"\\x01\") : \"\\x01\""; }

// A record; behind a pointer to text comes the text.
std::string record_of(const std::vector<Value>& values) {
  std::string out;
  size_t number = 0;
  auto add = [&](const std::string& expression) { out += (out.empty() ? "v" : ", v") + std::to_string(number++) + " = " + expression; };
  for (const Value& v : values) {
    if (!v.is_known) continue;
    add(v.expression);
    if (v.is_text) add(text_at(v.expression));
  }
  return "(" + out + ")";
}

class Writer {
public:
  Writer(const Functions& functions, const Wanted& wanted)
      : functions_(functions), wanted_(wanted), out_{.script = session::BuiltinScript("graph")} {}

  Script run() {
    // By kernel or not, and return or not: functions of no known types.
    Group untyped[2][2];
    for (size_t i = 0; i < functions_.functions.size(); i++) {
      const Function& f = functions_.functions[i];
      if (wanted_.has_values && f.is_typed) add_group({&f}, number_of(i));
      else untyped[f.about.is_kernel][f.about.has_return].push_back(&f);
    }
    for (const auto& by_return : untyped)
      for (const Group& group : by_return) add_untyped(group);
    session::BuiltinScript& script = out_.script;
    script.set_whose(wanted_.whose, wanted_.filter, wanted_.duration_ns);
    script.set_scheduler();
    script.set("DEPTH", wanted_.depth);
    script.set("PLACES", has_places());
    script.set("LEAST_NS", wanted_.min_duration_ns);
    script.set("RETURN_ADDRESS", graph_return_address);
    script.set_import("graph_values.bt", values_);
    script.set_import("graph_functions.bt", groups_);
    script.set_places("exception", session::listed("", functions_.landings.exceptions));
    script.set_places("jump", session::listed("", functions_.landings.jumps));
    return std::move(out_);
  }

private:
  static std::string number_of(size_t function) { return "(uint64)" + std::to_string(function); }

  bool has_places() const {
    auto is_user = [](const Function& f) { return !f.about.is_kernel && f.about.has_return; };
    return wanted_.depth && std::ranges::any_of(functions_.functions, is_user);
  }

  // Of one function `func` is a text, and told by its number.
  void add_untyped(const Group& group) {
    if (group.size() != 1) return group.empty() ? void() : add_group(group, "func");
    const auto is_it = [&](const Function& f) { return &f == group.front(); };
    add_group(group, number_of(static_cast<size_t>(std::ranges::find_if(functions_.functions, is_it) - functions_.functions.begin())));
  }

  void add_group(const Group& group, const std::string& function) {
    const Function& first = *group.front();
    const bool has_return = first.about.has_return, has_values = wanted_.has_values && group.size() == 1;
    if (!has_return && wanted_.min_duration_ns) return; // how long it takes is not known
    const std::string number = std::to_string(out_.groups++), open = "@open" + number;
    const std::string stack = !first.about.is_kernel ? "" : first.has_many_arguments ? "NO_STACK_NOR_TRAMPOLINE, " : "NO_STACK, ";
    const std::string side = first.about.is_kernel ? "KERNEL" : "USER";
    auto add = [&](const std::string& probe, const std::string& piece, const std::string& macro, const std::string& values, auto place) {
      values_ += "macro " + macro + number + "() { " + values + " }\n";
      groups_ += probe + number + " = begin /ours()/ { " + piece + function + ", " + macro + number + "()) }\n";
      std::vector<std::string> places;
      for (const Function* f : group) places.push_back(f->*place);
      out_.script.set_places(probe + number, session::listed("", places));
    };
    const std::string arguments = record_of(has_values ? first.arguments : std::vector<Value>());
    if (!has_return) return add("entry", "LONE_" + side + "_ENTRY(" + stack, "arguments", arguments, &Function::entry);
    groups_ += "DECLARE_OPEN(" + open + ")\n";
    add("entry", side + "_ENTRY(" + stack + open + ", ", "arguments", arguments, &Function::entry);
    add("leave", side + "_RETURN(" + stack + open + ", ", "result", record_of(has_values ? first.result : std::vector<Value>()), &Function::leave);
  }

  const Functions& functions_;
  const Wanted& wanted_;
  Script out_;
  std::string values_, groups_; // graph_values.bt and graph_functions.bt
};

bool is_identifier(std::string_view name) {
  auto is_sign = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) && std::ranges::all_of(name, is_sign);
}

} // namespace

Script make_graph_script(const Functions& functions, const Wanted& wanted) {
  return Writer(functions, wanted).run();
}

std::string_view foreign_name(const Functions& functions) {
  for (const Function& f : functions.functions)
    for (const Value& v : f.arguments)
      if (v.is_known && !is_identifier(v.name)) return v.name;
  return {};
}

} // namespace graph
