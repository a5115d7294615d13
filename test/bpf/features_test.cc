// The table of kernel abilities, and what is made of it for a program.
#include "bpf/features.h"

#include "host/cpus.h"
#include "handmade.h"

#include <set>

namespace bpf {
namespace {

TEST(Features, TableIsComplete) {
  EXPECT_EQ(feature_table().size(), feature_count);
  std::set<std::string_view> names;
  for (const FeatureRow& row : feature_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.since.empty() || row.use.empty() || row.substitute.empty()) << row.name;
    EXPECT_TRUE(row.probe);
  }
}

TEST(Features, EveryAbilityHasAnAnswer) {
  NEEDS_BPF();
  Features features;
  for (const FeatureRow& row : feature_table()) {
    Answer answer = features.ask(row.id);
    EXPECT_NE(answer, Answer::unasked);
    printf("%-16s %s\n", std::string(row.name).c_str(), std::string(to_string(answer)).c_str());
  }
  // Older than anything acu runs on.
  EXPECT_TRUE(features.has(Feature::ring_buffer));
  EXPECT_TRUE(features.has(Feature::batch_read));
  EXPECT_TRUE(features.has(Feature::raw_tracepoint));
}

ir::Program program_of(std::vector<ir::Inst> insts) {
  ir::Program program;
  program.functions.emplace_back().blocks.push_back({std::move(insts)});
  return program;
}

TEST(Features, OnlyWhatIsUsedIsAsked) {
  Features old;
  for (const FeatureRow& row : feature_table()) old.set(row.id, Answer::no);
  EmitOptions plain = options_for(program_of({{.op = ir::Op::unreachable}}), old);
  EXPECT_TRUE(plain.has_loop && plain.has_for_each && plain.has_lookup_percpu);
  EXPECT_TRUE(plain.has_boot_clock && plain.has_tai_clock);
  EXPECT_EQ(plain.possible_cpus, host::possible_cpus());
  EXPECT_FALSE(options_for(program_of({{.op = ir::Op::loop}}), old).has_loop);
  EXPECT_FALSE(options_for(program_of({{.op = ir::Op::for_each}}), old).has_for_each);
  EXPECT_FALSE(options_for(program_of({{.op = ir::Op::map_find_cpu}}), old).has_lookup_percpu);
  ir::Program large = program_of({});
  large.frames.push_back({{{.size = 128}}});
  EXPECT_FALSE(options_for(large, old).has_cmpxchg);
  EXPECT_TRUE(plain.has_cmpxchg);
  const auto user_stack = [](const Features& f) {
    ir::Program program = program_of({{.op = ir::Op::stack, .a = ir::Operand::number(1), .imm2 = 5, .index = 1}});
    program.task.self_exec_id = 8;
    return options_for(program, f).has_task_registers;
  };
  EXPECT_FALSE(user_stack(old) || plain.has_task_registers);
  Features newer = old;
  newer.set(Feature::task_registers, Answer::yes);
  EXPECT_TRUE(user_stack(newer));
  auto query = [](ir::Query q) { return program_of({{.op = ir::Op::query, .query = q}}); };
  EXPECT_FALSE(options_for(query(ir::Query::ktime_boot), old).has_boot_clock);
  EXPECT_FALSE(options_for(query(ir::Query::ktime_tai), old).has_tai_clock);
  Features refused;
  refused.set(Feature::loop, Answer::refused);
  EXPECT_TRUE(options_for(program_of({{.op = ir::Op::loop}}), refused).has_loop);
}

TEST(Cpus, Lists) {
  EXPECT_EQ(host::count_cpus("0-3,6\n"), 5u);
  EXPECT_EQ(host::count_cpus("0\n"), 1u);
  EXPECT_EQ(host::count_cpus("2-3,5-5"), 3u);
  EXPECT_EQ(host::count_cpus(""), 0u);
  EXPECT_EQ(host::count_cpus("\n"), 0u);
  EXPECT_EQ(host::count_cpus("0-99999999999"), 0u);
  EXPECT_EQ(host::count_cpus("0-2000000"), 0u);
  EXPECT_EQ(host::count_cpus("3-1"), 0u);
  EXPECT_EQ(host::count_cpus("1,x"), 1u);
  EXPECT_GE(host::possible_cpus(), probe::online_cpus().size());
}

} // namespace
} // namespace bpf
