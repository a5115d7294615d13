// `acu sql`: the host as tables.
#include "base/clock.h"
#include "base/heap_growth.h"
#include "base/text.h"
#include "session/arguments.h"
#include "session/output.h"
#include "session/signals.h"
#include "sql/output.h"
#include "sql/query.h"
#include "sql/subject.h"
#include "sql/tables.h"
#include "tool/sql_prompt.h"
#include "tool/tool.h"

#include <poll.h>
#include <unistd.h>

namespace tool {

namespace {

using spec::OptionId;

struct Request {
  std::string query, format = "text", input, database;
  uint64_t duration_ns = sql::default_duration_ns, interval_ns = 0, rounds = 0; // 0: none
  bool quiet = false;
};

base::Result<Request> read_request(const session::Arguments& arguments) {
  Request out;
  if (arguments.words.size() > 1) return base::usage_error("`" + arguments.words[1] + "`: a query is one word of the command line: acu sql \"" + arguments.words[0] + " …\"");
  if (!arguments.words.empty()) out.query = arguments.words[0];
  if (const std::string* format = arguments.value(OptionId::format)) out.format = *format;
  if (arguments.has(OptionId::json)) out.format = "json";
  if (arguments.has(OptionId::csv)) out.format = "csv";
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(out.duration_ns, session::read_time("--duration", *text));
  }
  if (const std::string* text = arguments.value(OptionId::interval)) {
    ACU_TRY(out.interval_ns, session::read_time("-I", *text));
  }
  if (const std::string* text = arguments.value(OptionId::rounds)) {
    ACU_TRY(out.rounds, session::read_count("-n", *text, 1'000'000'000));
    if (!out.interval_ns) return base::usage_error("`-n` counts intervals and requires `-I`: acu sql -I 1s -n 10 QUERY");
  }
  if (const std::string* file = arguments.value(OptionId::output)) {
    out.database = *file;
    if (out.interval_ns) return base::usage_error("`-o` and `-I` cannot be combined");
    ACU_CHECK(base::check_output(*file));
  }
  if (const std::string* file = arguments.value(OptionId::input)) out.input = *file;
  out.quiet = arguments.has(OptionId::quiet);
  return out;
}

int show_tables(const std::vector<std::string>& names) {
  if (names.empty()) return say(sql::tables_text()), 0;
  for (const std::string& name : names) {
    const std::vector<const sql::Table*> found = sql::tables_called(name);
    if (found.empty()) {
      std::vector<std::string_view> known;
      for (const sql::Table* t : sql::tables()) known.push_back(t->name);
      const std::string_view near = base::nearest(name, known);
      return refuse("there is no table " + base::quoted(name) + (near.empty() ? " (see `acu sql --tables`)" : "; did you mean `" + std::string(near) + "`?"));
    }
    for (const sql::Table* table : found) say((&name == names.data() && table == found[0] ? "" : "\n") + sql::table_text(*table));
  }
  return 0;
}

// What a reader must know about a result beside its rows.
void report_end(const Request& request, const sql::Database& database, sql::End end) {
  if (end == sql::End::interrupted) complain("interrupted: the result is not complete\n");
  if (end == sql::End::out_of_time) complain("stopped after " + base::short_time(request.duration_ns) + ": the result is not complete (--duration allows more)\n");
  if (request.quiet) return;
  for (const std::string& note : database.notes()) complain("note: " + note + "\n");
}

base::Result<sql::End> run(const Request& request, sql::Database& database, session::Output& output) {
  const std::unique_ptr<sql::Sink> sink = sql::make_sink(request.format, output);
  for (uint64_t round = 1;; round++) {
    const uint64_t next_ns = base::clock_ns() + request.interval_ns;
    ACU_TRY(const sql::End end, database.run(request.query, request.duration_ns, *sink));
    output.flush();
    report_end(request, database, end);
    if (!request.interval_ns || round == request.rounds || end != sql::End::complete || output.broken()) return end;
    const uint64_t now = base::clock_ns();
    pollfd waiting = {session::signals::fd(), POLLIN, 0};
    if (::poll(&waiting, 1, now < next_ns ? static_cast<int>((next_ns - now) / 1'000'000) : 0) > 0) return end;
    if (request.format == "text") output.out("\n");
  }
}

// The result, or without a query all tables as they are now.
base::Result<sql::End> save(const Request& request, sql::Database& database) {
  sql::DatabaseSink sink;
  sql::End end = sql::End::complete;
  if (!request.query.empty()) {
    ACU_TRY(end, database.run(request.query, request.duration_ns, sink));
    report_end(request, database, end);
  } else {
    for (const sql::Table* table : database.tables()) {
      if (!table->is_state()) continue;
      sink.name_next(std::string(table->name));
      ACU_TRY(end, database.run("select * from " + std::string(table->name), request.duration_ns, sink));
      report_end(request, database, end);
      if (end != sql::End::complete) break;
    }
  }
  ACU_CHECK(sink.write(request.database));
  if (!request.quiet) {
    const auto counted = [](uint64_t n, std::string_view what) { return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s"); };
    complain(request.database + ": " + counted(sink.tables(), "table") + ", " + counted(sink.rows(), "row") + "\n");
  }
  return end;
}

// Mistakes in a query come with their location, in complete lines.
int fail_query(const base::Error& error) {
  error.message.ends_with('\n') ? complain(error.message) : static_cast<void>(fail(error));
  return static_cast<int>(error.kind);
}

int prompt(Request& request, sql::Database& database, session::Output& output) {
  run_prompt(database, [&](const std::string& query) {
    request.query = query;
    if (const auto end = run(request, database, output); !end.ok()) output.flush(), fail_query(end.error());
  });
  return 0;
}

int answer(Request& request) {
  base::grow_heap(size_t{256} << 20); // rows of a table are in memory all at once, and may be 100,000
  const bool prompts = request.query.empty() && request.database.empty() && ::isatty(STDIN_FILENO);
  if (request.query.empty() && request.database.empty() && !prompts) {
    auto text = base::read_file("/dev/stdin");
    if (!text.ok()) return fail(text.error());
    request.query = std::move(*text);
  }
  if (const base::Status status = session::signals::install({}); !status.ok()) return fail(status.error());
  std::unique_ptr<sql::Subject> subject; // none: the host
  if (!request.input.empty()) {
    auto opened = sql::open_subject(request.input);
    if (!opened.ok()) return fail(opened.error());
    subject = std::move(*opened);
  }
  auto database = sql::Database::open(subject ? subject->of() : sql::Of::host, subject.get());
  if (!database.ok()) return fail(database.error());
  session::Output output(STDOUT_FILENO, session::Buffering::full, false);
  if (prompts) return prompt(request, **database, output);
  const auto end = request.database.empty() ? run(request, **database, output) : save(request, **database);
  output.flush();
  if (!end.ok()) return fail_query(end.error());
  return *end == sql::End::complete ? 0 : static_cast<int>(base::Failure::runtime);
}

} // namespace

int sql(const session::Arguments& arguments) {
  if (arguments.has(OptionId::tables)) return show_tables(arguments.words);
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  return answer(*request);
}

} // namespace tool
