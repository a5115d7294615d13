// @depth counts the calls of a thread that are open: those of user code in its lower half, those of the
// kernel in the upper. User code runs only when the kernel's have all returned. With --depth @place has where the return
// addresses of the user calls are, so that those that an exception or longjmp leaves are not counted any more.
//
// With --min-duration a call is told when it has returned, by one record; until then its begin is kept in a
// map of its block. The place of the return address tells calls of a user function apart, the depth those of
// a function of the kernel.
#include "session/graph_script.h"

#include "base/text.h"

#include <algorithm>

namespace session {

namespace {

constexpr std::string_view user_entry = R"(
ENTRIES /CONDITION/ {
  $v = @depth[tid] & 0xffffffff;
  @depth[tid] = $v + 1;
  $d = $v;
  $sp = reg("sp");KEEP_PLACE
  TOLD
}
)";
constexpr std::string_view keep_place = R"(
  @place[tid, $v] = $sp;)";
constexpr std::string_view landing = R"(
PROBES /CONDITION/ {
  $v = @depth[tid] & 0xffffffff;
  if ($v) {TARGET
    DROP
    $d = $v;
    $o = @off[(uint32)curtask.pid];
    print((WHAT, HEAD));
  }
}
)";
constexpr std::string_view drop_places = R"(
    for ($i : 0..256) {
      if ($v == 0) { break; }
      $p = @place[tid, $v - 1];
      if ($p >= $sp) { break; }
      $v--;
    }
    @depth[tid] = $v;)";
constexpr std::string_view user_leave = R"(
LEAVES /CONDITION/ {
  $v = @depth[tid] & 0xffffffff;
  if ($v) { $v--; }
  @depth[tid] = $v;
  $d = $v;
  $sp = reg("sp");
  TOLD
}
)";
constexpr std::string_view kernel_entry = R"(
ENTRIES /CONDITION/ {
  $v = @depth[tid];
  @depth[tid] = $v + 0x100000000;
  $d = ($v & 0xffffffff) + ($v >> 32);
  $sp = (uint64)0;
  TOLD
}
)";
constexpr std::string_view kernel_leave = R"(
LEAVES /CONDITION/ {
  $v = @depth[tid];
  if ($v >> 32) { $v -= 0x100000000; @depth[tid] = $v; }
  $d = ($v & 0xffffffff) + ($v >> 32);
  $sp = (uint64)0;
  TOLD
}
)";
// Of a function whose return is not probed.
constexpr std::string_view lone_entry = R"(
ENTRIES /CONDITION/ {
  $d = @depth[tid] & 0xffffffff;
  $sp = reg("sp");
  TOLD
}
)";
constexpr std::string_view lone_kernel_entry = R"(
ENTRIES /CONDITION/ {
  $v = @depth[tid];
  $d = ($v & 0xffffffff) + ($v >> 32);
  $sp = (uint64)0;
  TOLD
}
)";

constexpr std::string_view told =
    R"(if (DEEP) { $o = @off[(uint32)curtask.pid]; print((WHAT, HEAD VALUES)); })";
constexpr std::string_view kept =
    R"(if (DEEP) { $o = @off[(uint32)curtask.pid]; OPEN[tid, PLACE] = (nsecs, $o.0, $o.1, $d, FUNCTION VALUES); })";
constexpr std::string_view told_whole = R"($p = PLACE;
  $e = OPEN[tid, $p];
  if ($e.0) {
    delete(OPEN, (tid, $p));
    if (nsecs - $e.0 >= LEAST) {
      $d = $e.3;
      $o = @off[(uint32)curtask.pid];
      print((WHAT, HEAD, $e.0, $e.1, $e.2 KEPT VALUES));
    }
  })";

constexpr std::string_view head = "FUNCTION, nsecs, tid, pid, cpu, $d, $sp, $o.0, $o.1, comm";

// A thread that leaves its CPU runnable was preempted.
constexpr std::string_view switches = R"(
begin { @off[(uint32)0] = ((uint64)0, (uint64)0); }
rawtracepoint:sched_switch {
  if (@depth[tid]) { @left[(uint32)curtask.pid] = nsecs * 2 + (uint64)(TASK_STATE == 0); }
  $next = (uint32)args.next.pid;
  $left = @left[$next];
  if ($left) {
    $away = nsecs - ($left >> 1);
    $o = @off[$next];
    if ($left & 1) { @off[$next] = ($o.0, $o.1 + $away); } else { @off[$next] = ($o.0 + $away, $o.1); }
    delete(@left, $next);
  }
}
tracepoint:sched:sched_process_exit {
  if (@depth[tid]) { $d = (uint64)0; $sp = (uint64)0; $o = @off[(uint32)curtask.pid]; print((ENDING, HEAD)); }
  if (has_key(@depth, tid)) { delete(@depth, tid); }
  if (has_key(@off, (uint32)curtask.pid)) { delete(@off, (uint32)curtask.pid); }
}
rawtracepoint:sched_process_fork /@depth[tid] && args.child.pid == args.child.tgid/ {
  $d = (uint64)0; $sp = (uint64)args.child.pid; $o = @off[(uint32)curtask.pid];
  @depth[(uint32)args.child.pid] = @depth[tid] & 0xffffffff;
  COPY_PLACES
  print((FORK, HEAD));
}
tracepoint:sched:sched_process_exec /@depth[tid]/ {
  $d = (uint64)0; $sp = (uint64)0; $o = @off[(uint32)curtask.pid];
  print((EXEC, HEAD));
  @depth[tid] = @depth[tid] & 0xffffffff00000000;
}
)";

std::string number_of(GraphRecord r) { return std::to_string(static_cast<int>(r)); }

constexpr std::string_view copy_places = R"(for ($i : 0..256) {
    if ((uint64)$i >= (@depth[tid] & 0xffffffff)) { break; }
    @place[(uint32)args.child.pid, (uint64)$i] = @place[tid, (uint64)$i];
  })";

// What a pointer to text leads to; "\x01" where there is nothing, or it cannot be read.
constexpr std::string_view text_at = R"(, POINTER ? try(str(POINTER, 48), "\x01") : "\x01")";

std::string expressions(const std::vector<GraphValue>& values) {
  std::string out;
  for (const GraphValue& v : values) {
    if (!v.is_known) continue;
    out += ", " + v.expression;
    std::string text(v.is_text ? text_at : std::string_view());
    base::replace_all(text, "POINTER", v.expression);
    out += text;
  }
  return out;
}

class Writer {
public:
  Writer(const GraphFunctions& functions, const GraphWanted& wanted)
      : functions_(functions), wanted_(wanted) {}

  GraphScript run() {
    std::string common(switches);
    base::replace_all(common, "HEAD", head);
    base::replace_all(common, "FUNCTION", "(uint64)0");
    base::replace_all(common, "ENDING", number_of(GraphRecord::ending));
    base::replace_all(common, "EXEC", number_of(GraphRecord::exec));
    base::replace_all(common, "FORK", number_of(GraphRecord::fork));
    base::replace_all(common, "COPY_PLACES", has_places() ? copy_places : std::string_view());
    size_t index = 0;
    // By kernel or not, and return or not: functions of no known types.
    std::vector<const GraphFunction*> untyped[2][2];
    for (const GraphFunction& f : functions_.functions) {
      if (wanted_.has_values && f.is_typed)
        add_block({&f}, "(uint64)" + std::to_string(index));
      else
        untyped[f.about.is_kernel][f.about.has_return].push_back(&f);
      index++;
    }
    for (auto& by_return : untyped)
      for (auto& group : by_return) add_group(group);
    add_landing(functions_.landings.exceptions, GraphLanding::exception, exception_target);
    add_landing(functions_.landings.jumps, GraphLanding::jump, jump_target);
    if (has_places()) maps_ += "let @place = lruhash(65536);\n";
    out_.text = declarations() + wanted_.before + common + out_.text;
    return std::move(out_);
  }

private:
  using Group = std::vector<const GraphFunction*>;

  bool has_places() const {
    auto is_user = [](const GraphFunction& f) { return !f.about.is_kernel && f.about.has_return; };
    return wanted_.depth && std::ranges::any_of(functions_.functions, is_user);
  }

  void add_landing(const std::vector<std::string>& probes, GraphLanding how, std::string_view target) {
    if (probes.empty()) return;
    std::string text(landing), all;
    for (const std::string& p : probes) all += (all.empty() ? "" : ",") + p;
    base::replace_all(text, "DROP", has_places() ? drop_places : std::string_view());
    base::replace_all(text, "WHAT", number_of(GraphRecord::landing));
    base::replace_all(text, "HEAD", head);
    base::replace_all(text, "FUNCTION", "(uint64)" + std::to_string(static_cast<int>(how)));
    base::replace_all(text, "CONDITION", wanted_.user_condition);
    base::replace_all(text, "TARGET", target);
    base::replace_all(text, "PROBES", all);
    out_.text += text;
  }

  // Of one function `func` is a text, and told by its number.
  void add_group(const Group& group) {
    if (group.size() != 1) return group.empty() ? void() : add_block(group, "func");
    size_t index = 0;
    while (&functions_.functions[index] != group[0]) index++;
    add_block(group, "(uint64)" + std::to_string(index));
  }

  void add_block(const Group& group, const std::string& function) {
    const GraphFunction& first = *group.front();
    const bool is_kernel = first.about.is_kernel, has_values = wanted_.has_values && group.size() == 1;
    const std::string open = "@open" + std::to_string(out_.blocks);
    std::string entries, leaves;
    for (const GraphFunction* f : group) {
      entries += (entries.empty() ? "" : ",") + f->entry;
      leaves += (leaves.empty() ? "" : ",") + f->leave;
    }
    const std::string arguments = has_values ? expressions(first.arguments) : std::string();
    const std::string result = has_values ? expressions(first.result) : std::string();
    auto add = [&](std::string_view block, std::string_view body, GraphRecord what, std::string_view place,
                   const std::string& values) {
      std::string text(block);
      base::replace_all(text, "TOLD", body);
      base::replace_all(text, "KEEP_PLACE", has_places() ? keep_place : std::string_view());
      // A block that asks for a register is no trampoline.
      if (first.has_many_arguments) base::replace_all(text, "$sp = (uint64)0", "$sp = reg(\"sp\") & 0");
      base::replace_all(text, "WHAT", number_of(what));
      base::replace_all(text, "HEAD", head);
      base::replace_all(text, "KEPT", kept_values(has_values ? first.arguments : std::vector<GraphValue>()));
      base::replace_all(text, "PLACE", place);
      base::replace_all(text, "OPEN", open);
      base::replace_all(text, "LEAST", std::to_string(wanted_.least_ns));
      base::replace_all(text, "DEEP", wanted_.depth ? "$d < " + std::to_string(wanted_.depth) : "true");
      base::replace_all(text, "FUNCTION", function);
      base::replace_all(text, "CONDITION", is_kernel ? wanted_.kernel_condition : wanted_.user_condition);
      base::replace_all(text, "ENTRIES", entries);
      base::replace_all(text, "LEAVES", leaves);
      base::replace_all(text, "VALUES", values);
      out_.text += text;
    };
    if (!first.about.has_return) {
      if (wanted_.least_ns) return; // how long it takes is not known
      return add(is_kernel ? lone_kernel_entry : lone_entry, told, GraphRecord::entry, "", arguments);
    }
    const std::string_view entry = is_kernel ? kernel_entry : user_entry,
                           leave = is_kernel ? kernel_leave : user_leave;
    if (wanted_.least_ns) {
      const std::string behind = "$sp - " + std::to_string(graph_return_address);
      maps_ += "let " + open + " = lruhash(4096);\n";
      add(entry, kept, GraphRecord::entry, is_kernel ? "$d" : "$sp", arguments);
      add(leave, told_whole, GraphRecord::whole, is_kernel ? "$d" : behind, result);
    } else {
      add(entry, told, GraphRecord::entry, "", arguments);
      add(leave, told, GraphRecord::leave, "", result);
    }
    out_.blocks++;
  }

  // The arguments in a kept tuple.
  static std::string kept_values(const std::vector<GraphValue>& arguments) {
    std::string out;
    size_t field = graph_open_values;
    for (const GraphValue& v : arguments)
      for (int n = v.is_known + (v.is_known && v.is_text); n > 0; n--)
        out += ", $e." + std::to_string(field++);
    return out;
  }

  std::string declarations() const {
    std::string out = "config = { unstable_map_decl = enable; symbol_source = \"symbol_table\"; max_map_keys "
                      "= 65536; max_probes = 200000; max_bpf_progs = 8192 }\n" +
                      maps_;
    constexpr uint64_t us = 1000;
    if (wanted_.duration_ns)
      out +=
          "interval:us:" + std::to_string(std::max(wanted_.duration_ns / us, uint64_t{1})) + " { exit() }\n";
    return out;
  }

  const GraphFunctions& functions_;
  const GraphWanted& wanted_;
  GraphScript out_;
  std::string maps_;
};

} // namespace

GraphScript make_graph_script(const GraphFunctions& functions, const GraphWanted& wanted) {
  return Writer(functions, wanted).run();
}

} // namespace session
