// The virtual-table module, on a table that counts how it is read; queries of recordings; the formats; tables that help and completion are made from.
#include "sql/module.h"
#include "recording/recordings.h"
#include "scratch.h"
#include "sql/output.h"
#include "sql/subject.h"
#include "sql/tables.h"

#include <gtest/gtest.h>

#include <set>

namespace sql {
namespace {

struct Pet {
  int64_t id = 0;
  std::string name;
  std::optional<int64_t> owner;
  double weight = 0;
};

struct Reading {
  std::optional<int64_t> id, count;
  bool uses_name = false;
};
std::vector<Reading> readings;
std::optional<base::Error> failure;

base::Result<std::vector<Pet>> read_pets(const Request& request) {
  readings.push_back({.id = request.number("id"), .count = request.number("count"), .uses_name = request.uses("name")});
  if (failure) return *failure;
  request.note("some pets are hidden");
  std::vector<Pet> out;
  for (int64_t i = 1; i <= request.number("count").value_or(4); i++)
    if (!request.number("id") || *request.number("id") == i) out.push_back({.id = i, .name = "pet" + std::to_string(i), .owner = i % 2 ? std::optional<int64_t>(i + 1) : std::nullopt, .weight = 0.5});
  return out;
}

constexpr Column pet_columns[] = {
    column<&Pet::id>("id", "", "Its number.", Role::pushed),
    column<&Pet::name>("name", "", "Its name."),
    column<&Pet::owner>("owner", "", "Another pet."),
    column<&Pet::weight>("weight", "kg", "Its weight."),
    argument("count", Type::integer, "", "How many there are.", Role::optional_argument),
};
const Table pets = {.name = "pets", .doc = "", .example = "", .columns = pet_columns, .read = rows_of<read_pets>};

constexpr Column needy_columns[] = {column<&Pet::id>("id", "", ""), argument("count", Type::integer, "", "How many.")};
const Table needy = {.name = "needy", .doc = "", .example = "", .columns = needy_columns, .read = rows_of<read_pets>};

class Module : public testing::Test {
protected:
  Module() {
    EXPECT_EQ(::sqlite3_open(":memory:", &connection_), SQLITE_OK);
    EXPECT_TRUE(add_table(connection_, pets, snapshots_).ok() && add_table(connection_, needy, snapshots_).ok());
    readings.clear(), failure.reset();
  }
  ~Module() override { ::sqlite3_close(connection_); }

  // Rows as text, "1,pet1|2,pet2"; or the failure.
  std::string ask(const std::string& query) {
    snapshots_.begin();
    readings.clear();
    std::string out;
    char* error = nullptr;
    const auto take = [](void* to, int count, char** cells, char**) {
      auto& text = *static_cast<std::string*>(to);
      if (!text.empty()) text += "|";
      for (int i = 0; i < count; i++) text += (i ? "," : "") + std::string(cells[i] ? cells[i] : "null");
      return 0;
    };
    if (::sqlite3_exec(connection_, query.c_str(), take, &out, &error) != SQLITE_OK) out = error;
    ::sqlite3_free(error);
    return out;
  }

  Snapshots snapshots_;
  sqlite3* connection_ = nullptr;
};

TEST_F(Module, rows_have_the_types_of_their_members) {
  EXPECT_EQ(ask("select id, name, owner, weight, typeof(id), typeof(owner), typeof(weight) from pets where id < 3"), "1,pet1,2,0.5,integer,integer,real|2,pet2,null,0.5,integer,null,real");
}

TEST_F(Module, a_table_is_read_once_in_a_query) {
  EXPECT_EQ(ask("select a.id, b.id from pets a join pets b on b.owner = a.id"), "2,1|4,3");
  EXPECT_EQ(readings.size(), 1u);
  EXPECT_EQ(ask("select count(*) from pets a, pets b, pets c"), "64");
  EXPECT_EQ(readings.size(), 1u);
}

TEST_F(Module, constants_reach_the_reader) {
  EXPECT_EQ(ask("select name from pets where id = 3"), "pet3");
  ASSERT_EQ(readings.size(), 1u);
  EXPECT_EQ(readings[0].id, 3);
  EXPECT_EQ(ask("select name from pets where id = '3'"), "pet3");
  EXPECT_EQ(ask("select name from pets where id = 3.0"), "pet3");
  EXPECT_EQ(ask("select name from pets where id = 2.5"), "");
  EXPECT_EQ(ask("select name from pets where id = null"), "");
  EXPECT_EQ(ask("select name from pets where id = 'x'"), "");
}

TEST_F(Module, what_is_no_constant_is_looked_up) {
  EXPECT_EQ(ask("select name from pets where id in (1, 4)"), "pet1|pet4");
  ASSERT_EQ(readings.size(), 1u);
  EXPECT_FALSE(readings[0].id);
  EXPECT_EQ(ask("select name from pets where name = 'pet2' and id > 0"), "pet2");
  EXPECT_EQ(ask("select name from pets where name = 'PET2' collate nocase"), "pet2");
  EXPECT_EQ(ask("select id from pets where owner is null"), "2|4");
}

TEST_F(Module, columns_that_are_not_used_are_known) {
  ask("select count(*) from pets");
  EXPECT_FALSE(readings.at(0).uses_name);
  ask("select max(name) from pets");
  EXPECT_TRUE(readings.at(0).uses_name);
}

TEST_F(Module, arguments) {
  EXPECT_EQ(ask("select count(*) from pets(7)"), "7");
  EXPECT_EQ(ask("select p.id, count(*) from pets p, pets(p.id) group by p.id"), "1,1|2,2|3,3|4,4");
  EXPECT_EQ(ask("select id, count from pets(2)"), "1,2|2,2");
  EXPECT_EQ(ask("select count(*) from needy(3)"), "3");
  EXPECT_EQ(ask("select count(*) from pets(null)"), "4") << "an optional argument that is not given";
  EXPECT_EQ(ask("select count(*) from pets('3')"), "3");
  for (const auto& [given, shown] : {std::pair("'many'", "'many'"), std::pair("2.5", "2.5"), std::pair("'3x'", "'3x'"), std::pair("x'00'", "''")}) {
    EXPECT_EQ(ask("select count(*) from pets(" + std::string(given) + ")"), "pets: `count` takes a whole number, not " + std::string(shown));
    EXPECT_EQ(snapshots_.failure, base::Failure::usage);
    EXPECT_TRUE(readings.empty()) << "it is not read without the argument";
  }
  EXPECT_EQ(ask("select p.id from pets p, pets(p.name) q"), "pets: `count` takes a whole number, not 'pet1'");
  EXPECT_EQ(ask("select * from needy"), "needy: an argument is missing: count (How many.)");
  EXPECT_EQ(snapshots_.failure, base::Failure::usage);
}

TEST_F(Module, failures_and_notes) {
  EXPECT_EQ(ask("select count(*) from pets a, pets b"), "16");
  EXPECT_EQ(snapshots_.notes, std::vector<std::string>{"some pets are hidden"});
  failure = base::Error{base::Failure::permission, "not yours"};
  EXPECT_EQ(ask("select * from pets"), "pets: not yours");
  EXPECT_EQ(snapshots_.failure, base::Failure::permission);
}

// Rows of all statements as text: "1,a|2,b".
class Rest final : public Sink {
public:
  void begin(const std::vector<std::string>&) override {}
  void add(const std::vector<Value>& row) override {
    if (!rows.empty()) rows += "|";
    for (const Value& value : row) {
      if (&value != row.data()) rows += ",";
      if (const auto* number = std::get_if<int64_t>(&value)) rows += std::to_string(*number);
      if (const auto* text = std::get_if<std::string>(&value)) rows += *text;
    }
  }
  void end() override {}
  std::string rows;
};

TEST(Recordings, of_events_have_samples) {
  const Scratch scratch;
  recording::Written written;
  ASSERT_TRUE(recording::write_sample(scratch.path("r.acu"), written).ok());
  auto subject = open_subject(scratch.path("r.acu"));
  ASSERT_TRUE(subject.ok()) << subject.error().message;
  auto database = Database::open((*subject)->of(), subject->get());
  ASSERT_TRUE(database.ok());
  Rest told;
  ASSERT_TRUE((*database)->run("select sum(weight), sum(count), count(distinct function) > 1, max(kind) from samples; select value from about where name in ('unit', 'what', 'samples', 'lost')", default_duration_ns, told).ok());
  EXPECT_EQ(told.rows, "300,300,1,user|3|300|samples|all processes");
}

TEST(Queries, notes_are_of_all_statements) {
  const Scratch scratch;
  scratch.write("r.folded", "main;work 3\n");
  auto subject = open_subject(scratch.path("r.folded"));
  ASSERT_TRUE(subject.ok()) << subject.error().message;
  auto database = Database::open(Of::recording, subject->get());
  ASSERT_TRUE(database.ok());
  for (const char* query : {"select count(*) from slices", "select count(*) from slices;\n", "select count(*) from slices; select 1; -- nothing"}) {
    Rest told;
    ASSERT_TRUE((*database)->run(query, default_duration_ns, told).ok());
    EXPECT_EQ((*database)->notes().size(), 1u) << query;
  }
  Rest told;
  ASSERT_TRUE((*database)->run("select 1", default_duration_ns, told).ok());
  EXPECT_TRUE((*database)->notes().empty()) << "notes of the query before";
}

TEST(Queries, a_zero_byte_is_no_text) {
  auto database = Database::open(Of::host, nullptr);
  ASSERT_TRUE(database.ok());
  Rest told;
  using namespace std::string_view_literals;
  const auto end = (*database)->run("select 1;\0 select 2"sv, default_duration_ns, told);
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "ERROR: the query is not text: byte 9 is zero\n");
  EXPECT_EQ(told.rows, "") << "what is before it may be the begin of something else";
}

class Text : public report::Sink {
public:
  void out(std::string_view text) override { all += text; }
  void message(std::string_view) override {}
  std::string all;
};

std::string shown(std::string_view format, const std::vector<std::string>& names, const std::vector<std::vector<Value>>& rows) {
  Text out;
  const std::unique_ptr<Sink> sink = make_sink(format, out);
  sink->begin(names);
  for (const std::vector<Value>& row : rows) sink->add(row);
  sink->end();
  return out.all;
}

TEST(Output, formats) {
  const std::vector<std::vector<Value>> rows = {{int64_t{1}, std::string("a\n\"b\",")}, {Value(), 0.1}};
  EXPECT_EQ(shown("text", {"n", "text"}, rows), "n  text\n1  a\\n\"b\",\n   0.1\n");
  EXPECT_EQ(shown("csv", {"n", "text"}, rows), "n,text\r\n1,\"a\n\"\"b\"\",\"\r\n,0.1\r\n");
  EXPECT_EQ(shown("json", {"n", "text"}, rows), "{\"n\": 1, \"text\": \"a\\n\\\"b\\\",\"}\n{\"n\": null, \"text\": 0.1}\n");
  EXPECT_EQ(shown("json", {"pid", "PID", "pid:1", "pid"}, {{int64_t{1}, int64_t{2}, int64_t{3}, int64_t{4}}}), "{\"pid\": 1, \"PID:1\": 2, \"pid:1:1\": 3, \"pid:2\": 4}\n");
  EXPECT_EQ(shown("text", {"é", "1\n+ 1"}, {{std::string("ü"), int64_t{2}}}), "é  1\\n+ 1\nü       2\n");
}

TEST(Tables, are_declared_in_full) {
  for (const Table* table : tables()) {
    SCOPED_TRACE(table->name);
    EXPECT_FALSE(table->doc.empty() || table->example.empty() || table->columns.empty() || table->columns.size() > 63);
    std::set<std::string_view> names;
    bool is_behind = false;
    for (const Column& c : table->columns) {
      EXPECT_TRUE(names.insert(c.name).second) << c.name;
      EXPECT_FALSE(c.doc.empty()) << c.name;
      EXPECT_EQ(c.is_argument(), c.get == nullptr) << c.name;
      EXPECT_TRUE(c.is_argument() || !is_behind) << c.name << " is behind an argument";
      is_behind |= c.is_argument();
    }
    EXPECT_NE(tables_markdown().find("## " + std::string(table->name)), std::string::npos);
  }
}

} // namespace
} // namespace sql
