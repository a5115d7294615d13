// A statement is the body of a POST, or a parameter if rows follow it.
#include "fleet/clickhouse.h"

#include "base/leb128.h"
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace fleet {

namespace {

constexpr uint64_t most_answer_bytes = uint64_t{1} << 30; // of a query over a fleet

// "Code: 60, e.displayText() = DB::Exception: Table … doesn't exist…": what stands behind the last name of a class, on one line.
std::string sentence_of(std::string_view answer) {
  constexpr std::string_view before = "DB::Exception: ";
  if (const size_t at = answer.find(before); at != answer.npos) answer.remove_prefix(at + before.size());
  for (std::string_view end : {", e.what() = ", " (version "})
    if (const size_t at = answer.find(end); at != answer.npos) answer = answer.substr(0, at);
  return base::printable(base::trim(answer.substr(0, 500)));
}

// "Code: 60, …" (dbms/src/Common/ErrorCodes.cpp); 0: the answer is not of ClickHouse.
uint32_t code_of(std::string_view answer) {
  constexpr std::string_view before = "Code: ";
  uint32_t out = 0;
  if (const size_t at = answer.find(before); at != answer.npos) std::from_chars(answer.data() + at + before.size(), answer.data() + answer.size(), out);
  return out;
}

// Why an insert is refused. An unknown reason may be of the rows: then one of many may be at fault.
base::Failure kind_of_insert(std::string_view answer) {
  // Text, numbers and sizes that are not understood, or not accepted by a constraint or throwIf() of the database's owner.
  constexpr uint32_t of_rows[] = {6, 26, 27, 32, 33, 38, 41, 69, 70, 72, 117, 128, 131, 321, 395, 469};
  // Time, memory, disk, too many queries or parts, read-only, a table that is missing for now, an end of the server, ZooKeeper, replicas.
  constexpr uint32_t of_now[] = {0, 3, 60, 81, 159, 160, 164, 173, 202, 203, 209, 210, 216, 218, 225, 236, 241, 242, 243, 252, 279, 285, 286, 319, 394, 439, 999};
  const uint32_t code = code_of(answer);
  if (answer.find("partitions for single INSERT block") != answer.npos) return base::Failure::usage; // 252, as for too many parts
  if (std::ranges::find(of_rows, code) != std::end(of_rows)) return base::Failure::usage;
  return std::ranges::find(of_now, code) != std::end(of_now) ? base::Failure::runtime : base::Failure::unsupported;
}

// TabSeparated (https://clickhouse.com/docs/interfaces/formats/TabSeparated): backslashes escape.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c == '0' ? '\0' : c;
  }
  return out;
}

bool is_name(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::ranges::all_of(text, [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
}

} // namespace

std::string Address::shown() const { return std::string(address_scheme) + endpoint.host + ":" + std::to_string(endpoint.port) + "/" + database; }

base::Result<Address> read_address(const std::string& text) {
  constexpr uint16_t usual_port = 8123;
  const base::Error wrong = {base::Failure::usage, "the store is clickhouse://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE"};
  if (!text.starts_with(address_scheme)) return wrong;
  Address out;
  std::string rest = text.substr(address_scheme.size());
  if (const size_t at = rest.rfind('@'); at != rest.npos) {
    const std::string user = rest.substr(0, at);
    rest.erase(0, at + 1);
    const size_t colon = user.find(':');
    out.user = user.substr(0, colon);
    if (colon != user.npos) out.password = user.substr(colon + 1);
  }
  const size_t slash = rest.find('/');
  if (slash == rest.npos) return wrong;
  out.database = rest.substr(slash + 1);
  rest.resize(slash);
  auto endpoint = net::read_endpoint(rest, usual_port);
  if (!endpoint || out.user.empty()) return wrong;
  out.endpoint = std::move(*endpoint);
  if (!is_name(out.database)) return base::Error{base::Failure::usage, "the name of the database, `" + base::printable(out.database) + "`, may have letters, digits and `_`"};
  if (const char* password = std::getenv("CLICKHOUSE_PASSWORD"); password && out.password.empty()) out.password = password;
  return out;
}

base::Result<net::HttpAnswer> ClickHouse::exchange(const std::string& parameters, std::string_view body, uint32_t seconds) const {
  net::HttpRequest request = {.target = "/?" + parameters, .headers = {{"X-ClickHouse-User", address_.user}}, .body = body, .seconds = seconds, .max_answer_bytes = most_answer_bytes};
  if (!address_.password.empty()) request.headers.emplace_back("X-ClickHouse-Key", address_.password);
  auto answer = net::post(address_.endpoint, request);
  if (!answer.ok()) return std::move(answer.error()).with("ClickHouse");
  return answer;
}

base::Error ClickHouse::refusal(const net::HttpAnswer& answer) const {
  const std::string why = sentence_of(answer.body);
  // User or password; 516: the same in later versions; 497: no right to do this.
  constexpr uint32_t of_users[] = {192, 193, 194, 497, 516};
  if (std::ranges::find(of_users, code_of(answer.body)) != std::end(of_users))
    return base::Error{base::Failure::permission, "ClickHouse at " + address_.shown() + " refuses the user `" + address_.user + "`: " + why + "\nhint: clickhouse://USER@…, and the password in CLICKHOUSE_PASSWORD"};
  return base::Error{base::Failure::runtime, "ClickHouse at " + address_.shown() + ": " + (why.empty() ? "status " + std::to_string(answer.status) : why)};
}

base::Result<std::string> ClickHouse::ask(const std::string& parameters, std::string_view body, uint32_t seconds) const {
  ACU_TRY(net::HttpAnswer answer, exchange(parameters, body, seconds));
  if (answer.status != 200) return refusal(answer);
  return std::move(answer.body);
}

base::Status ClickHouse::run(std::string_view statement, bool in_database, const std::string& settings) const {
  auto done = ask("database=" + (in_database ? address_.database : "default") + settings, statement, 300);
  return done.ok() ? base::Status() : base::Status(std::move(done.error()));
}

// The answer begins when the query has succeeded: a failure in the middle would look like its end.
base::Result<std::string> ClickHouse::bytes(std::string_view query, uint32_t seconds) const {
  return ask("database=" + address_.database + "&wait_end_of_query=1&max_query_size=1048576&max_execution_time=" + std::to_string(seconds), query, seconds + 5);
}

base::Result<std::vector<Row>> ClickHouse::rows(std::string_view query, uint32_t seconds) const {
  ACU_TRY(const std::string text, bytes(std::string(query) + " FORMAT TabSeparated", seconds));
  std::vector<Row> out;
  for (std::string_view line : base::split(text, '\n')) {
    if (line.empty()) continue;
    Row& row = out.emplace_back();
    for (std::string_view cell : base::split(line, '\t')) row.push_back(unescaped(cell));
  }
  return out;
}

base::Status ClickHouse::insert(std::string_view table, std::string_view rows, std::string_view id) const {
  // One block, and so one part for each partition: whole or not at all.
  const std::string parameters = "database=" + address_.database + "&query_id=" + net::percent_encoded(id) + "&max_insert_block_size=1048576&query=" +
                                 net::percent_encoded("INSERT INTO " + std::string(table) + " FORMAT RowBinary");
  ACU_TRY(const net::HttpAnswer answer, exchange(parameters, rows, 120));
  if (answer.status == 200) return {};
  base::Error out = refusal(answer);
  if (out.kind == base::Failure::runtime) out.kind = kind_of_insert(answer.body);
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    if (c) out += c;
  }
  return out + "'";
}

RowWriter& RowWriter::text(std::string_view text) { return base::put(bytes_, text), *this; }
RowWriter& RowWriter::size(uint64_t size) { return base::put(bytes_, size), *this; }

} // namespace fleet
