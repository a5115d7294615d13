// Functions of the kernel: names, signatures and where parameters are; what is said when there is none.
#include "helpers.h"
#include "probe/kernel_functions.h"
#include "probe/kernel_refusal.h"
#include "spec/arch.h"

#include <algorithm>

using probe::Context;
using probe::Kind;
using probe::Mismatch;

namespace {

using KernelFunctions = Fixture;

#define NEEDS_TYPES                                                                                          \
  if (!machine.btf()) GTEST_SKIP() << "this kernel gives no type information"

TEST_F(KernelFunctions, are_named_as_written) {
  NEEDS_TYPES;
  auto e = one("k:vfs_read");
  EXPECT_EQ(e.kind, Kind::kprobe);
  EXPECT_EQ(e.name, "kprobe:vfs_read");
  EXPECT_EQ(e.function, "vfs_read");
  EXPECT_EQ(e.category, "");
  EXPECT_TRUE(e.at_entry);
  EXPECT_EQ(one("kprobe:vmlinux:vfs_read").category, "");
  EXPECT_EQ(one("kr:vfs_read").name, "kretprobe:vfs_read");
  EXPECT_EQ(one("kfunc:vfs_read").name, "fentry:vmlinux:vfs_read");
  EXPECT_EQ(one("fr:vmlinux:vfs_read").name, "fexit:vmlinux:vfs_read");
}

TEST_F(KernelFunctions, offsets) {
  NEEDS_TYPES;
  auto e = one("kprobe:vfs_read+0x10");
  EXPECT_EQ(e.offset, 16u);
  EXPECT_EQ(e.name, "kprobe:vfs_read+16");
  EXPECT_FALSE(e.at_entry);
  EXPECT_EQ(probe::arguments(machine, e), nullptr); // known at the entry only
  for (const char* text : {"kprobe:vfs_read+", "kprobe:vfs_read+x", "kprobe:+5", "kprobe:vfs_*+5",
                           "kretprobe:vfs_read+5", "fentry:vfs_read+5", "kprobe:vfs_read+99999999999",
                           "kprobe", "kprobe:", "kprobe::f", "kprobe:a:b:c"}) {
    EXPECT_TRUE(match(text).empty()) << text;
    EXPECT_EQ(mismatch.kind, Mismatch::malformed) << text;
  }
}

TEST_F(KernelFunctions, missing_ones) {
  NEEDS_TYPES;
  EXPECT_TRUE(match("kprobe:vfs_raed").empty());
  EXPECT_EQ(mismatch.kind, Mismatch::missing);
  EXPECT_EQ(mismatch.hint, "did you mean `vfs_read`?");
  EXPECT_TRUE(match("fexit:no_such_module:vfs_read").empty());
  EXPECT_EQ(mismatch.hint, "it is in `vmlinux`");
  EXPECT_TRUE(match("kprobe:no_such_module:no_such_function").empty());
  if (base::read_file("/proc/modules").ok()) {
    EXPECT_EQ(mismatch.message, "no module `no_such_module` is loaded");
  }
  EXPECT_TRUE(match("kprobe:../../etc/passwd:x").empty());
  EXPECT_TRUE(match("kprobe:no_such_function_at_all*").empty());
}

TEST_F(KernelFunctions, dangerous_ones_are_refused) {
  for (const char* name : {"_raw_spin_lock", "_raw_spin_unlock_irqrestore",
                           "native_queued_spin_lock_slowpath", "migrate_enable"}) {
    EXPECT_TRUE(match("kprobe:" + std::string(name)).empty()) << name;
    EXPECT_NE(mismatch.message.find("must not be probed"), std::string::npos) << mismatch.message;
  }
}

TEST_F(KernelFunctions, patterns_leave_them_out) {
  auto events = match("kprobe:_raw_spin_*lock*");
  for (const probe::Event& e : events)
    EXPECT_EQ(e.function.find("_raw_spin_lock"), std::string::npos) << e.function;
  auto by_name = [](const probe::Event& a, const probe::Event& b) { return a.function < b.function; };
  events = match("kprobe:vfs_*");
  EXPECT_GT(events.size(), 20u);
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(), by_name));
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](auto& e) { return e.name == "kprobe:vfs_read"; }));
}

TEST_F(KernelFunctions, signatures) {
  NEEDS_TYPES;
  auto e = one("fexit:vfs_read");
  const probe::KernelSignature* s = machine.kernel_functions().signature(e);
  ASSERT_TRUE(s);
  ASSERT_EQ(s->parameters.size(), 4u);
  EXPECT_EQ(s->parameters[2].name, "count");
  EXPECT_EQ(s->parameters[2].first_register, 2);
  EXPECT_EQ(s->slots, 4u);
  EXPECT_TRUE(s->is_plain);
  ASSERT_TRUE(s->result);
  EXPECT_EQ(type::to_string(*s->result), "int64");
  std::vector<std::string> wanted = {"struct file * file", "char * buf", "size_t count", "loff_t * pos",
                                     "ssize_t retval"};
  EXPECT_EQ(probe::describe_arguments(machine, e), wanted);
  auto access = probe::access(machine, e, Context::function, "count");
  EXPECT_EQ(access.kind, probe::Access::raw);
  EXPECT_EQ(access.argument, 2u);
  auto entry = one("kprobe:vfs_read");
  access = probe::access(machine, entry, Context::kernel_registers, "count");
  ASSERT_EQ(access.recipe.kind, probe::Recipe::value);
  EXPECT_EQ(access.recipe.steps[0].value, spec::find_register(spec::arch.arguments[2]));
  auto leave = one("kretprobe:vfs_read");
  EXPECT_EQ(probe::arguments(machine, leave), nullptr);
}

TEST_F(KernelFunctions, large_parameters) {
  const type::Type* two = types.array(types.uint64(), 2);
  probe::Recipe r = probe::recipe_of({.name = "p", .type = two, .first_register = 1});
  ASSERT_EQ(r.kind, probe::Recipe::pieces);
  ASSERT_EQ(r.pieces_of.size(), 2u);
  EXPECT_EQ(r.pieces_of[1].steps[0].value, spec::find_register(spec::arch.arguments[2]));
  r = probe::recipe_of({.name = "p", .type = two, .on_stack = 16});
  EXPECT_EQ(r.kind, probe::Recipe::address);
  EXPECT_EQ(r.steps.size(), 3u);
}

TEST_F(KernelFunctions, what_tells_the_same) {
  NEEDS_TRACEFS;
  probe::Event e{.kind = Kind::kretprobe,
                 .name = "kretprobe:__x64_sys_openat",
                 .provider = "kretprobe",
                 .function = "__x64_sys_openat"};
  EXPECT_EQ(probe::tracepoint_instead(e),
            "; a tracepoint that tells the same: tracepoint:syscalls:sys_exit_openat");
  e.kind = Kind::kprobe;
  EXPECT_EQ(probe::tracepoint_instead(e),
            "; a tracepoint that tells the same: tracepoint:syscalls:sys_enter_openat");
  e.function = "vfs_read";
  EXPECT_EQ(probe::tracepoint_instead(e),
            "; a tracepoint that tells the same: tracepoint:syscalls:sys_enter_read");
  e.function = "finish_task_switch.isra.0";
  EXPECT_EQ(probe::tracepoint_instead(e),
            "; a tracepoint that tells the same: tracepoint:sched:sched_switch");
  e.function = "no_such_function";
  EXPECT_EQ(probe::tracepoint_instead(e), "");
  base::Error error = probe::refused_by_kernel(e, "cannot attach it");
  EXPECT_EQ(error.kind, base::Failure::permission);
  EXPECT_EQ(error.message.find("cannot attach it: "), 0u);
}

} // namespace
