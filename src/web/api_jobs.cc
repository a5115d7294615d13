// Verbs as jobs, and short questions that are answered at once: checks, completion, SQL.
#include "web/api.h"

#include "agent/json.h"
#include "agent/schema.h"
#include "base/clock.h"
#include "base/print.h"
#include "base/text.h"
#include "monitor/service_names.h"
#include "profile/formats.h"
#include "report/json_object.h"
#include "spec/builtins.h"
#include "store/select.h"
#include "web/parameters.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>

namespace web {

namespace {

using report::JsonObject;

std::string text_member(const rapidjson::Value& object, std::string_view name) {
  const rapidjson::Value* member = agent::member(object, name);
  return member && member->IsString() ? std::string(agent::text_of(*member)) : std::string();
}
double number_member(const rapidjson::Value& object, std::string_view name, double otherwise, double least, double most) {
  const rapidjson::Value* member = agent::member(object, name);
  return std::clamp(member && member->IsNumber() ? member->GetDouble() : otherwise, least, most);
}

// The object of a body. Failure (usage): it is none.
base::Status read_body(const Request& request, rapidjson::Document& to) {
  ACU_CHECK(agent::parse_json(request.body, to));
  return to.IsObject() ? base::Status() : base::Status(base::Error{base::Failure::usage, "the body is not a JSON object"});
}

std::string written(const rapidjson::Value& value) {
  if (value.IsArray() || value.IsObject()) return "\"(nested)\"";
  rapidjson::StringBuffer out;
  rapidjson::Writer<rapidjson::StringBuffer> writer(out);
  value.Accept(writer);
  return {out.GetString(), out.GetSize()};
}

// The number behind "/api/jobs/", and what follows it ("/page").
std::optional<uint64_t> job_number(const Request& request, std::string_view& rest) {
  std::string_view path = request.path;
  path.remove_prefix(std::string_view("/api/jobs/").size());
  const size_t slash = path.find('/');
  rest = slash == path.npos ? std::string_view() : path.substr(slash);
  return path.substr(0, slash).find_first_not_of("0123456789") == path.npos ? base::parse_integer(path.substr(0, slash)) : std::nullopt;
}

// One of at most so many at once, while it exists.
class Turn {
public:
  Turn(std::atomic<uint32_t>& running, uint32_t limit) : running_(running), is_free_(running_++ < limit) {}
  ~Turn() { running_--; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool is_free() const { return is_free_; }

private:
  std::atomic<uint32_t>& running_;
  const bool is_free_;
};

// Flame graphs and series always have a thread left.
constexpr uint32_t max_queries = 2, max_questions = 3;

Response too_many_questions() { return failure(503, std::to_string(max_questions) + " checks, completions and queries are running, which is the limit\nhint: try again when one has ended"); }

// Runs a verb to its end, with a short limit. Failure: it cannot be started, or its arguments are wrong.
base::Result<agent::Finished> run_now(Api& api, std::string_view name, const agent::Arguments& arguments, double limit_seconds) {
  const agent::Verb* verb = agent::find_verb(name, api.jobs->settings());
  ACU_TRY(agent::Plan plan, agent::plan(*verb, arguments, api.jobs->settings()));
  plan.limit_seconds = std::min(plan.limit_seconds, limit_seconds);
  return agent::run_to_end(plan);
}

// "stdin:1:12-15: ERROR: there is no …"
struct Mark {
  uint64_t line = 0, column = 0;
  std::string kind, message;
};
std::optional<Mark> read_mark(std::string_view text) {
  const std::vector<std::string_view> parts = base::split(text, ':');
  if (parts.size() < 5) return std::nullopt;
  const auto line = base::parse_integer(parts[1]), column = base::parse_integer(parts[2].substr(0, parts[2].find('-')));
  const std::string_view kind = base::trim(parts[3]);
  if (!line || !column || (kind != "ERROR" && kind != "WARNING")) return std::nullopt;
  const size_t at = text.find(kind) + kind.size() + 1;
  return Mark{*line, *column, base::lower(kind), std::string(base::trim(text.substr(std::min(at, text.size()))))};
}

} // namespace

Response get_verbs(Api& api, const Request&) { return {.body = "{\"verbs\": " + agent::tool_list(api.jobs->settings()) + "}"}; }

Response get_tools(Api& api, const Request&) {
  return {.body = "{\"tools\": " + report::json_list(api.tools, [](const ToolRow& tool) {
                    JsonObject one;
                    return one.add("name", tool.name).add("group", tool.group).add("title", tool.title).end();
                  }) + "}"};
}

Response get_jobs(Api& api, const Request&) {
  return {.body = "{\"jobs\": " + report::json_list(api.jobs->all(), [](const Job& job) { return job_json(job, false); }) + "}"};
}

Response post_job(Api& api, const Request& request) {
  rapidjson::Document body;
  if (auto read = read_body(request, body); !read.ok()) return failure(read.error());
  const std::string name = text_member(body, "verb");
  const agent::Verb* verb = agent::find_verb(name, api.jobs->settings());
  if (!verb) return failure(400, "there is no verb `" + name.substr(0, 40) + "`\nhint: /api/verbs lists them");
  ACU_RESPOND(const agent::Arguments arguments, agent::check_arguments(*verb, agent::member(body, "arguments"), api.jobs->settings()));
  auto job = api.jobs->start(*verb, arguments, request.client);
  if (!job.ok() && job.error().message.find("which is the limit") != std::string::npos) return failure(429, job.error().message);
  if (!job.ok()) return failure(job.error());
  return {.status = 202, .body = job_json(*job, false)};
}

Response get_job(Api& api, const Request& request) {
  std::string_view rest;
  const auto id = job_number(request, rest);
  const std::optional<Job> job = id ? api.jobs->find(*id) : std::nullopt;
  if (!job) return failure(404, "there is no such job");
  if (rest.empty()) return {.body = job_json(*job, true)};
  if (rest != "/page" && rest != "/file") return failure(404, "a job has /page and /file");
  if (job->profile.empty()) return failure(404, job->state == JobState::running ? "the job still runs" : "this job has no flame graph");
  ACU_RESPOND(const profile::Profile profile, profile::read_recording(job->profile));
  return profile_in(profile, rest == "/page" ? "html" : request.has("format") ? request.parameter("format") : "pprof", "acu-job-" + std::to_string(job->id));
}

Response delete_job(Api& api, const Request& request) {
  std::string_view rest;
  const auto id = job_number(request, rest);
  std::optional<Job> job = id && rest.empty() ? api.jobs->find(*id) : std::nullopt;
  if (!job) return failure(404, "there is no such job");
  if (job->client != request.client)
    if (auto refused = refuse_role(request, Role::admin)) return *refused;
  if (!api.jobs->cancel(*id)) return failure(404, "there is no such job");
  job = api.jobs->find(*id);
  return job ? Response{.body = job_json(*job, false)} : failure(404, "there is no such job");
}

Response post_check(Api& api, const Request& request) {
  constexpr double limit_seconds = 15;
  rapidjson::Document body;
  if (auto read = read_body(request, body); !read.ok()) return failure(read.error());
  const agent::Verb* verb = agent::find_verb("check_script", api.jobs->settings());
  ACU_RESPOND(const agent::Arguments arguments, agent::check_arguments(*verb, &body, api.jobs->settings()));
  const Turn turn(api.questions, max_questions);
  if (!turn.is_free()) return too_many_questions();
  ACU_RESPOND(const agent::Finished finished, run_now(api, "check_script", arguments, limit_seconds));
  std::vector<std::string> messages;
  std::vector<Mark> marks;
  for (std::string_view line : base::split(finished.messages, '\n')) {
    if (base::trim(line).empty()) continue;
    messages.push_back(base::printable(line));
    if (auto mark = read_mark(line)) marks.push_back(std::move(*mark));
  }
  JsonObject out;
  out.raw("valid", finished.exit_status == 0 ? "true" : "false").add("messages", messages).raw("marks", report::json_list(marks, [](const Mark& m) {
    JsonObject one;
    return one.add("line", m.line).add("column", m.column).add("kind", m.kind).add("message", base::printable(m.message)).end();
  }));
  return {.body = out.end()};
}

namespace {

// Lines of `acu sql -f json`, one object each, as columns and rows.
void read_objects(std::string_view lines, size_t most_rows, store::Rows& to) {
  for (std::string_view line : base::split(lines, '\n')) {
    rapidjson::Document object;
    if (line.empty() || !agent::parse_json(line, object).ok() || !object.IsObject()) continue;
    if (to.rows.size() == most_rows) {
      to.is_truncated = true;
      return;
    }
    if (to.columns.empty())
      for (const auto& member : object.GetObject()) to.columns.emplace_back(agent::text_of(member.name));
    std::vector<std::string>& row = to.rows.emplace_back();
    for (const auto& member : object.GetObject()) row.push_back(written(member.value));
  }
}

} // namespace

Response post_sql(Api& api, const Request& request) {
  if (api.open_fleet) return failure(400, "SQL is not supported for a fleet\nhint: clickhouse-client --database NAME");
  rapidjson::Document body;
  if (auto read = read_body(request, body); !read.ok()) return failure(read.error());
  const std::string query = text_member(body, "query"), of = text_member(body, "of");
  if (query.empty()) return failure(400, "`query` is missing, or no text");
  if (query.size() > agent::longest_script) return failure(400, "`query` has more than 64 KiB");
  if (!of.empty() && of != "host" && of != "store") return failure(400, "`of` is host or store");
  if (of != "store")
    if (auto refused = refuse_role(request, Role::measure)) return *refused;
  const auto most_rows = static_cast<size_t>(number_member(body, "limit", 1000, 1, 100'000));
  const double seconds = number_member(body, "seconds", 10, 0.1, 60);
  const Turn query_turn(api.queries, max_queries), turn(api.questions, max_questions);
  if (!query_turn.is_free()) return failure(503, "2 queries are running, which is the limit\nhint: try again when one has ended; `seconds` limits how long one runs");
  if (!turn.is_free()) return too_many_questions();
  const uint64_t begin = base::clock_ns();
  store::Rows rows;
  std::vector<std::string> notes;
  if (of == "store") {
    ACU_RESPOND(rows, store::select(api.store, query, most_rows, static_cast<uint64_t>(seconds * 1e9)));
  } else {
    agent::Arguments arguments;
    arguments.set("query", {.text = (query.starts_with('-') ? " " : "") + query}); // a comment of SQL, never an option of acu
    arguments.set("time_limit", {.number = seconds});
    arguments.set("max_output", {.number = static_cast<double>(agent::max_output)});
    ACU_RESPOND(const agent::Finished finished, run_now(api, "sql", arguments, seconds + 1));
    for (std::string_view line : base::split(finished.messages, '\n'))
      if (!base::trim(line).empty()) notes.push_back(base::printable(line));
    if (finished.outcome == agent::Outcome::failed) {
      std::string message;
      for (const std::string& note : notes) message += (message.empty() ? "" : "\n") + note;
      return failure(400, message);
    }
    read_objects(finished.output, most_rows, rows);
    rows.is_truncated |= finished.truncated || finished.outcome != agent::Outcome::complete;
  }
  std::string lines;
  for (const std::vector<std::string>& row : rows.rows) {
    std::string cells;
    for (const std::string& cell : row) cells += (cells.empty() ? "" : ", ") + cell;
    lines += (lines.empty() ? "[" : ", [") + cells + "]";
  }
  JsonObject out;
  out.add("columns", rows.columns).raw("rows", "[" + lines + "]").raw("truncated", rows.is_truncated ? "true" : "false");
  out.raw("seconds", base::print("%.3f", static_cast<double>(base::clock_ns() - begin) / 1e9)).add("notes", notes);
  return {.body = out.end()};
}

Response get_complete(Api& api, const Request& request) {
  constexpr double limit_seconds = 5;
  const std::string text(request.parameter("text"));
  ACU_RESPOND(const uint64_t limit, number_of(request, "limit", 50, 1000));
  std::vector<std::string> words;
  if (text.find(':') != text.npos) {
    agent::Arguments arguments;
    arguments.set("pattern", {.text = text + "*"});
    if (text.size() > 200 || text.starts_with('-')) return failure(400, "`text` is not a probe");
    const Turn turn(api.questions, max_questions);
    if (!turn.is_free()) return too_many_questions();
    ACU_RESPOND(const agent::Finished finished, run_now(api, "list_probes", arguments, limit_seconds));
    for (std::string_view line : base::split(finished.output, '\n'))
      if (!line.empty() && words.size() < limit) words.push_back(base::printable(line));
  } else {
    for (const spec::Builtin& builtin : spec::builtins)
      if (const std::string_view name = builtin.name; name.starts_with(text) && words.size() < limit && (words.empty() || words.back() != name)) words.emplace_back(name);
  }
  JsonObject out;
  return {.body = out.add("words", words).end()};
}

Response get_audit(Api& api, const Request&) {
  const std::lock_guard lock(api.lines_mutex);
  std::string out;
  for (const std::string& line : api.lines) out += (out.empty() ? "" : ", ") + line;
  return {.body = "{\"lines\": [" + out + "]}"};
}

std::vector<store::Finding> findings_of(const Job& job) {
  std::vector<store::Finding> out;
  rapidjson::Document result;
  if (job.verb->name != "why" || !agent::parse_json(job.result, result).ok()) return out;
  const rapidjson::Value* data = agent::member(result, "data");
  const rapidjson::Value* findings = data ? agent::member(*data, "findings") : nullptr;
  if (!findings || !findings->IsArray()) return out;
  // Those of one process belong to its service.
  const auto pid = static_cast<int>(number_member(*data, "pid", 0, 0, 4194304));
  const std::string service = pid ? monitor::ServiceNames().of_process(pid, text_member(*data, "name")).name : std::string();
  for (const rapidjson::Value& f : findings->GetArray()) {
    const std::string verdict = text_member(f, "verdict");
    if (verdict != "confirmed" && verdict != "likely") continue;
    rapidjson::StringBuffer detail;
    rapidjson::Writer<rapidjson::StringBuffer> writer(detail);
    f.Accept(writer);
    out.push_back({.time = static_cast<int64_t>(job.started), .service = service, .verdict = verdict, .cause = text_member(f, "cause"), .summary = text_member(f, "title"),
                   .detail = {detail.GetString(), detail.GetSize()}});
  }
  return out;
}

} // namespace web
