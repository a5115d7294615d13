// Types of arguments, the context an event is attached with, and where its arguments stand there.
#include "helpers.h"
#include "spec/raw_fields.h"
#include "spec/syscalls.h"

#include <chrono>

using probe::Access;
using probe::Context;

namespace {

using Arguments = Fixture;

TEST_F(Arguments, of_a_record) {
  NEEDS_TRACEFS;
  auto e = one("tracepoint:sched:sched_switch");
  const type::Type* args = probe::arguments(machine, e);
  ASSERT_TRUE(args);
  EXPECT_EQ(args, e.args);
  EXPECT_EQ(args->fields().front().name, "prev_comm");
  EXPECT_EQ(type::to_string(*args->find("prev_comm")->type), "string[16]");
  EXPECT_EQ(type::to_string(*args->find("prev_pid")->type), "int32");
  EXPECT_EQ(type::to_string(*args->find("prev_state")->type), "int64");
  EXPECT_EQ(args->find("prev_pid")->offset, 24u);
  // The kernel puts a pointer of its own where the fields of all records are declared.
  EXPECT_FALSE(args->find("common_pid"));
}

TEST_F(Arguments, of_system_calls) {
  NEEDS_TRACEFS;
  auto e = one("tracepoint:syscalls:sys_enter_openat");
  const type::Type* args = probe::arguments(machine, e);
  ASSERT_TRUE(args);
  auto name = args->find("filename");
  ASSERT_TRUE(name);
  EXPECT_TRUE(name->type->is(type::Kind::pointer));
  EXPECT_TRUE(name->type->element->is_char);
  EXPECT_EQ(name->type->space, type::Space::user);
  EXPECT_EQ(type::to_string(*args->find("dfd")->type), "int64");
  EXPECT_EQ(type::to_string(*args->find("__syscall_nr")->type), "int32");
  if (machine.btf()) {
    EXPECT_EQ(type::to_string(*args->find("mode")->type), "uint16");
  }
  auto exec = one("tracepoint:syscalls:sys_enter_execve");
  auto argv = probe::arguments(machine, exec)->find("argv");
  ASSERT_TRUE(argv);
  EXPECT_EQ(argv->type->element->space, type::Space::user);
  EXPECT_TRUE(argv->type->element->element->is_char);
  if (machine.btf()) {
    auto connect = one("tracepoint:syscalls:sys_enter_connect");
    auto address = probe::arguments(machine, connect)->find("uservaddr");
    ASSERT_TRUE(address);
    EXPECT_EQ(type::to_string(*address->type), "struct sockaddr *");
    EXPECT_TRUE(address->type->element->find("sa_family"));
  }
}

TEST_F(Arguments, located_and_arrays) {
  NEEDS_TRACEFS;
  auto e = one("tracepoint:sched:sched_process_exec");
  auto name = probe::arguments(machine, e)->find("filename");
  ASSERT_TRUE(name);
  EXPECT_TRUE(name->data_loc);
  EXPECT_EQ(name->type->space, type::Space::kernel);
  EXPECT_TRUE(name->type->element->is_char);
  auto enter = one("tracepoint:raw_syscalls:sys_enter");
  EXPECT_EQ(type::to_string(*probe::arguments(machine, enter)->find("args")->type), "uint64[6]");
}

// All events of this machine have arguments that make sense.
TEST_F(Arguments, of_every_event) {
  NEEDS_TRACEFS;
  for (auto& e : probe::list(machine, "tracepoint:*")) {
    const type::Type* args = probe::arguments(machine, e);
    ASSERT_TRUE(args) << e.name;
    for (const auto& f : args->fields()) {
      ASSERT_TRUE(f.type) << e.name << '.' << f.name;
      EXPECT_LE(f.offset + (f.data_loc ? 4 : f.type->size), args->size) << e.name << '.' << f.name;
    }
    EXPECT_EQ(probe::describe_arguments(machine, e).size(), args->fields().size()) << e.name;
  }
}

TEST_F(Arguments, descriptions_are_as_declared) {
  NEEDS_TRACEFS;
  auto e = one("tracepoint:sched:sched_process_exec");
  auto lines = probe::describe_arguments(machine, e);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "__data_loc char[] filename");
  EXPECT_EQ(lines[1], "pid_t pid");
  auto s = one("tracepoint:sched:sched_switch");
  EXPECT_EQ(probe::describe_arguments(machine, s)[0], "char prev_comm[16]");
}

TEST_F(Arguments, of_raw_tracepoints) {
  NEEDS_BTF;
  auto e = one("rawtracepoint:sched_switch");
  const type::Type* args = probe::arguments(machine, e);
  ASSERT_TRUE(args);
  EXPECT_EQ(args->find("prev")->offset, 8u);
  EXPECT_EQ(type::to_string(*args->find("next")->type), "struct task_struct *");
  EXPECT_EQ(context(e, {}), Context::raw_tracepoint);
  EXPECT_EQ(context(e, {"preempt"}), Context::raw_tracepoint);
  EXPECT_EQ(context(e, {"arg1"}), Context::raw_tracepoint);
  EXPECT_EQ(context(e, {"prev"}), Context::btf_tracepoint);
  EXPECT_EQ(probe::access(machine, e, Context::btf_tracepoint, "next").argument, 2u);
  EXPECT_EQ(probe::access(machine, e, Context::raw_tracepoint, "arg3").argument, 3u);
  EXPECT_NE(probe::attach_btf_id(machine, e), 0u);
}

TEST_F(Arguments, context_of_the_scheduler) {
  NEEDS_TRACEFS;
  NEEDS_BTF;
  auto e = one("tracepoint:sched:sched_switch");
  EXPECT_EQ(context(e, {}), Context::raw_tracepoint);
  EXPECT_EQ(context(e, {"prev_pid", "next_comm"}), Context::btf_tracepoint);
  EXPECT_EQ(context(e, {"prev_pid", "prev_state"}), Context::tracepoint);
  EXPECT_EQ(context(e, {"common_pid"}), Context::tracepoint);
  EXPECT_EQ(context(e, {"no_such_field"}), Context::tracepoint);
  Access pid = probe::access(machine, e, Context::btf_tracepoint, "next_pid");
  EXPECT_EQ(pid.kind, Access::raw);
  EXPECT_EQ(pid.argument, 2u);
  ASSERT_EQ(pid.path.size(), 1u);
  EXPECT_EQ(pid.path[0], machine.kernel_type("struct", "task_struct")->find("pid")->offset);
  Access record = probe::access(machine, e, Context::tracepoint, "next_pid");
  EXPECT_EQ(record.kind, Access::record);
  EXPECT_EQ(record.offset, 56u);
}

TEST_F(Arguments, context_of_system_calls) {
  NEEDS_TRACEFS;
  auto e = one("tracepoint:syscalls:sys_enter_openat");
  EXPECT_EQ(context(e, {}), Context::raw_tracepoint);
  EXPECT_EQ(context(e, {"__syscall_nr"}), Context::raw_tracepoint);
  Access number = probe::access(machine, e, Context::raw_tracepoint, "__syscall_nr");
  EXPECT_EQ(number.argument, 1u);
  EXPECT_TRUE(number.path.empty());
  auto x = one("tracepoint:syscalls:sys_exit_openat");
  EXPECT_EQ(context(x, {"ret"}), Context::raw_tracepoint);
  EXPECT_EQ(probe::access(machine, x, Context::raw_tracepoint, "ret").argument, 1u);
  NEEDS_BTF;
  EXPECT_EQ(context(e, {"filename"}), Context::btf_tracepoint);
  Access name = probe::access(machine, e, Context::btf_tracepoint, "filename");
  EXPECT_EQ(name.argument, 0u);
  const type::Type* regs = machine.kernel_type("struct", "pt_regs");
  ASSERT_TRUE(regs);
  const char* registers[] = {"di", "si", "dx", "r10", "r8", "r9"};
  auto mmap = one("tracepoint:syscalls:sys_enter_mmap");
  const type::Type* args = probe::arguments(machine, mmap);
  for (size_t i = 0; i < 6; i++) {
    Access a = probe::access(machine, mmap, Context::btf_tracepoint, args->fields()[i + 1].name);
    ASSERT_EQ(a.path.size(), 1u) << i;
    EXPECT_EQ(a.path[0], regs->find(registers[i])->offset) << i;
  }
  Access left = probe::access(machine, x, Context::btf_tracepoint, "__syscall_nr");
  ASSERT_EQ(left.path.size(), 1u);
  EXPECT_EQ(left.path[0], regs->find("orig_ax")->offset);
}

TEST_F(Arguments, context_of_the_others) {
  EXPECT_EQ(context(one("begin"), {}), Context::none);
  EXPECT_EQ(context(one("interval:s:1"), {}), Context::none);
  EXPECT_EQ(context(one("profile:hz:99"), {}), Context::perf_event);
  EXPECT_EQ(context(one("software:faults:1"), {}), Context::perf_event);
}

// Rows of the table whose event is here resolve, or are known to have another layout on some kernel.
TEST_F(Arguments, table_of_raw_fields) {
  NEEDS_TRACEFS;
  NEEDS_BTF;
  size_t resolved = 0, events = 0;
  for (const spec::RawField& row : spec::raw_fields) {
    for (auto& e : match("tracepoint:" + std::string(row.event))) {
      events++;
      const type::Type* args = probe::arguments(machine, e);
      if (!args->find(row.field)) {
        printf("%s has no field %s here\n", e.name.c_str(), std::string(row.field).c_str());
        continue;
      }
      Context c = context(e, {row.field});
      if (c == Context::tracepoint) {
        printf("%s.%s comes from the record here\n", e.name.c_str(), std::string(row.field).c_str());
        continue;
      }
      resolved++;
      EXPECT_EQ(c == Context::btf_tracepoint, !row.path.empty()) << e.name << '.' << row.field;
      // The argument is there, and an argument that is followed is a pointer.
      auto raw = one("rawtracepoint:" + e.event);
      const type::Type* arguments = probe::arguments(machine, raw);
      ASSERT_TRUE(arguments) << e.name;
      ASSERT_LT(row.argument, arguments->fields().size()) << e.name << '.' << row.field;
      const type::Type* argument = arguments->fields()[row.argument].type;
      EXPECT_TRUE(row.path.empty() || argument->is(type::Kind::pointer)) << e.name << '.' << row.field;
      // A field wider than its argument would have to be extended.
      auto field = args->find(row.field);
      if (row.path.empty()) {
        EXPECT_LE(field->type->size, argument->size) << e.name << '.' << row.field;
      }
    }
  }
  EXPECT_GT(resolved, events / 2);
}

TEST_F(Arguments, system_calls_of_this_kernel_are_known) {
  NEEDS_TRACEFS;
  EXPECT_EQ(spec::syscall_of_event("read"), 0);
  EXPECT_EQ(spec::syscall_of_event("newfstat"), 5);
  EXPECT_EQ(spec::syscall_of_event("sendfile64"), 40);
  EXPECT_EQ(spec::syscall_of_event("newuname"), 63);
  EXPECT_EQ(spec::syscall_of_event("umount"), 166);
  EXPECT_EQ(spec::syscall_of_event("openat2"), 437);
  EXPECT_EQ(spec::syscall_of_event("nothing"), -1);
  EXPECT_EQ(spec::syscall_name(5), "fstat");
  EXPECT_EQ(spec::syscall_name(400), "");
  EXPECT_EQ(spec::syscall_name(-1), "");
  for (auto& e : match("tracepoint:syscalls:sys_*"))
    if (e.syscall < 0) {
      printf("no number for %s\n", e.event.c_str());
      EXPECT_EQ(context(e, {}), Context::tracepoint);
    }
}

TEST_F(Arguments, kernel_types_by_name) {
  NEEDS_BTF;
  EXPECT_EQ(type::to_string(*machine.kernel_type("", "u64")), "uint64");
  EXPECT_EQ(type::to_string(*machine.kernel_type("", "pid_t")), "int32");
  EXPECT_EQ(type::to_string(*machine.kernel_type("", "umode_t")), "uint16");
  EXPECT_EQ(type::to_string(*machine.kernel_type("", "task_struct")), "struct task_struct");
  EXPECT_EQ(machine.kernel_type("struct", "pid_t"), nullptr);
  EXPECT_EQ(machine.kernel_type("struct", "no_such_struct"), nullptr);
  EXPECT_TRUE(machine.kernel_type("enum", "bpf_map_type"));
  EXPECT_TRUE(machine.kernel_type("union", "bpf_attr"));
  auto hash = machine.kernel_enumerator("BPF_MAP_TYPE_HASH");
  ASSERT_TRUE(hash);
  EXPECT_EQ(hash->second, 1);
  EXPECT_EQ(type::to_string(*hash->first), "enum bpf_map_type");
  EXPECT_FALSE(machine.kernel_enumerator("NO_SUCH_ENUMERATOR"));
}

// What a compilation needs of this folder, all at once.
TEST_F(Arguments, is_quick) {
  NEEDS_TRACEFS;
  using Clock = std::chrono::steady_clock;
  auto us = [](auto from) { return std::chrono::duration<double, std::micro>(Clock::now() - from).count(); };
  for (auto [text, field] : {std::pair{"tracepoint:raw_syscalls:sys_enter", ""},
                             {"tracepoint:syscalls:sys_enter_openat", "filename"},
                             {"tracepoint:sched:sched_switch", "prev_pid"},
                             {"tracepoint:sched:sched_switch", "prev_state"}}) {
    type::Table table;
    probe::Machine fresh(table);
    auto start = Clock::now();
    std::vector<std::string_view> parts = base::split(text, ':'), fields;
    auto events = probe::match(fresh, parts, mismatch);
    double matched = us(start);
    if (*field) {
      fields.push_back(field);
      probe::arguments(fresh, events[0]);
    }
    double arguments = us(start);
    Context c = probe::choose_context(fresh, events[0], fields);
    if (*field) probe::access(fresh, events[0], c, field);
    if (c == Context::btf_tracepoint) probe::attach_btf_id(fresh, events[0]);
    printf("%-40s %-12s match %.0f us, arguments %.0f us, context %.0f us\n", text, field, matched,
           arguments - matched, us(start) - arguments);
  }
}

} // namespace
