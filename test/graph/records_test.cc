// Each record that scripts/graph.bt prints is read whole: no field is forgotten, and each kind is known.
#include "graph/records.h"
#include "graph/script.h"
#include "session/runner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace graph {
namespace {

Functions functions() {
  Function user, kernel;
  user.about = {.name = "main"}, user.symbol = "main", user.is_typed = true;
  user.entry = session::user_place("uprobe", "/proc/self/exe", "main"), user.leave = session::user_place("uretprobe", "/proc/self/exe", "main");
  user.arguments = {{.name = "n", .expression = "arg0"}}, user.result = {{.name = "", .expression = "retval"}};
  kernel.about = {.name = "vfs_read", .is_kernel = true}, kernel.symbol = "vfs_read", kernel.entry = "kprobe:vfs_read", kernel.leave = "kretprobe:vfs_read";
  return {.functions = {user, kernel}, .landings = {.exceptions = {user.entry}, .jumps = {user.entry}}};
}

size_t known_fields(const Fields& f) {
  size_t out = 0;
  for (const type::Field* field : {f.kind, f.ns, f.tid, f.pid, f.cpu, f.thread, f.waited, f.preempted, f.depth, f.stack, f.function, f.arguments, f.result, f.start, f.waited_before,
                                   f.preempted_before, f.child, f.how, f.place})
    out += field != nullptr;
  return out;
}

TEST(GraphRecords, EachFieldThatTheScriptPrintsIsRead) {
  std::set<RecordKind> kinds;
  for (uint64_t min_duration : {0, 1'000'000}) {
    Wanted wanted = {.whose = {.text = "true", .before = {}, .what = {}}, .filter = {}};
    wanted.min_duration_ns = min_duration;
    session::Runner runner({.aim = "test", .script = make_graph_script(functions(), wanted).script, .filters_itself = true});
    const base::Status status = runner.compile();
    ASSERT_TRUE(status.ok()) << status.error().message;
    Records records;
    size_t seen = 0;
    for (const ir::Action& action : runner.program().actions) {
      if (action.kind != ir::ActionKind::print_value || !action.payload) continue;
      const type::Type& record = *action.payload->fields().front().type;
      ASSERT_TRUE(record.is(type::Kind::tuple)) << type::to_string(record);
      const Fields& fields = records.fields_in(record);
      EXPECT_EQ(known_fields(fields), record.fields().size()) << type::to_string(record);
      ASSERT_TRUE(fields.kind && fields.ns && fields.tid && fields.pid && fields.thread) << type::to_string(record);
      seen++;
      // Each enumerator of the script is a kind.
      for (const type::Enumerator& e : fields.kind->type->enumerators()) {
        std::vector<std::byte> bytes(record.size);
        std::memcpy(bytes.data() + fields.kind->offset, &e.value, fields.kind->type->size);
        kinds.insert(Records::kind_of(fields, bytes));
      }
      if (fields.how)
        for (const type::Enumerator& e : fields.how->type->enumerators()) {
          std::vector<std::byte> bytes(record.size);
          std::memcpy(bytes.data() + fields.how->offset, &e.value, fields.how->type->size);
          const Ended how = Records::how_of(fields, bytes);
          EXPECT_TRUE(how == Ended::by_exception || how == Ended::by_jump) << e.name;
        }
    }
    EXPECT_GE(seen, 4u);
  }
  EXPECT_EQ(kinds.size(), 7u) << "all of RecordKind";
}

TEST(GraphRecords, NumbersAndTexts) {
  type::Table types;
  const type::Field number = {.name = "n", .type = types.integer(4, false), .offset = 2}, text = {.name = "t", .type = types.string(4), .offset = 6};
  const std::string_view bytes("\xff\xff\x78\x56\x34\x12"
                               "abcd\xff",
                               11);
  EXPECT_EQ(number_of(number, std::as_bytes(std::span(bytes))), 0x12345678u);
  EXPECT_EQ(text_of(text, std::as_bytes(std::span(bytes))), "abcd") << "it fills its field";
}

} // namespace
} // namespace graph
