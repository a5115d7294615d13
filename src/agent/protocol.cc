// Requests of the Model Context Protocol and of the API.
#include "agent/protocol.h"

#include "agent/schema.h"
#include "base/print.h"
#include "base/text.h"
#include "report/json_object.h"

#include <algorithm>

namespace agent {

namespace {

using report::JsonObject;

// Newest first. Only that of 2025-03-26 has batches.
constexpr std::string_view revisions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr std::string_view with_batches = "2025-03-26";

constexpr std::string_view instructions =
    "acu traces and profiles the Linux host that this server runs on; nothing here changes it. Start with `why` for a cause, `sql` for facts, `flame` for where time goes, `slow` for rare slow calls. "
    "Before writing a script, list probes with `list_probes` and check it with `check_script`. Every result names the command a person would type, what was lost, and what the call cost.";

Request reply(std::string id, std::string message) { return {.kind = Request::Kind::reply, .id = std::move(id), .reply = std::move(message)}; }
Request refuse(const std::string& id, ErrorCode code, std::string_view text) { return reply(id, error_message(id, code, text)); }

// A name that a client gives itself, short and printable.
std::string client_name(const rapidjson::Value* about) {
  const rapidjson::Value* name = about ? member(*about, "name") : nullptr;
  const rapidjson::Value* version = about ? member(*about, "version") : nullptr;
  std::string out = name && name->IsString() ? base::printable(text_of(*name).substr(0, 64)) : "unnamed";
  if (version && version->IsString()) out += " " + base::printable(text_of(*version).substr(0, 32));
  return out;
}

Request initialize(const std::string& id, const rapidjson::Value* params, Dialogue& dialogue, std::string_view version) {
  const rapidjson::Value* wanted = params ? member(*params, "protocolVersion") : nullptr;
  if (!wanted || !wanted->IsString()) return refuse(id, ErrorCode::invalid_params, "initialize needs `protocolVersion`, such as \"2025-06-18\"");
  const auto found = std::find(std::begin(revisions), std::end(revisions), text_of(*wanted));
  const std::string_view revision = found == std::end(revisions) ? revisions[0] : *found;
  dialogue.takes_batches = revision == with_batches;
  dialogue.client = client_name(member(*params, "clientInfo"));
  JsonObject tools, capabilities, server, out;
  capabilities.raw("tools", tools.raw("listChanged", "false").end());
  server.add("name", "acu").add("title", "acu: tracing and profiling of this host").add("version", version);
  out.add("protocolVersion", revision).raw("capabilities", capabilities.end()).raw("serverInfo", server.end()).add("instructions", instructions);
  return reply(id, result_message(id, out.end()));
}

Request list_tools(const std::string& id, const rapidjson::Value* params, const Settings& settings) {
  if (const rapidjson::Value* cursor = params ? member(*params, "cursor") : nullptr; cursor && !cursor->IsNull()) return refuse(id, ErrorCode::invalid_params, "unknown cursor: all tools are on one page");
  JsonObject out;
  return reply(id, result_message(id, out.raw("tools", tool_list(settings)).end()));
}

Request call(const std::string& id, const Verb& verb, const rapidjson::Value* arguments, const Settings& settings) {
  constexpr size_t longest_shown = 600;
  Request out = {.kind = Request::Kind::call, .id = id, .verb = &verb};
  if (arguments) out.shown = shortened(*arguments, longest_shown);
  auto checked = check_arguments(verb, arguments, settings);
  if (checked.ok())
    out.arguments = std::move(*checked);
  else
    out.mistake = checked.error().message;
  return out;
}

std::string unknown_verb(std::string_view name, const Settings& settings) {
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs())
    if (is_offered(verb, settings)) names.push_back(verb.name);
  const std::string_view near = base::nearest(name, names);
  return "unknown tool: `" + base::printable(name.substr(0, 64)) + "`" + (near.empty() ? "" : "; did you mean `" + std::string(near) + "`?");
}

Request call_tool(const std::string& id, const rapidjson::Value* params, const Settings& settings) {
  const rapidjson::Value* name = params ? member(*params, "name") : nullptr;
  if (!name || !name->IsString()) return refuse(id, ErrorCode::invalid_params, "tools/call needs `name`, a text");
  const Verb* verb = find_verb(text_of(*name), settings);
  if (!verb) return refuse(id, ErrorCode::invalid_params, unknown_verb(text_of(*name), settings));
  Request out = call(id, *verb, member(*params, "arguments"), settings);
  const rapidjson::Value* meta = member(*params, "_meta");
  if (const rapidjson::Value* token = meta ? member(*meta, "progressToken") : nullptr) out.progress = id_text(*token);
  return out;
}

Request cancel(const std::string& id, const rapidjson::Value* params, std::string_view name) {
  const rapidjson::Value* target = params ? member(*params, name) : nullptr;
  if (!target) return id.empty() ? Request() : refuse(id, ErrorCode::invalid_params, "cancel needs `id`, the ID of a request");
  return {.kind = Request::Kind::cancel, .id = id, .target = id_text(*target)};
}

Request read_mcp(std::string_view method, const std::string& id, const rapidjson::Value* params, Dialogue& dialogue, const Settings& settings, std::string_view version) {
  if (method == "notifications/cancelled") return cancel("", params, "requestId");
  if (id.empty()) return {}; // other notifications need no answer
  if (method == "initialize") return initialize(id, params, dialogue, version);
  if (method == "ping") return reply(id, result_message(id, "{}"));
  if (method == "tools/list") return list_tools(id, params, settings);
  if (method == "tools/call") return call_tool(id, params, settings);
  return refuse(id, ErrorCode::no_method, "unknown method: `" + base::printable(method.substr(0, 64)) + "`");
}

Request read_api(std::string_view method, const std::string& id, const rapidjson::Value* params, const Settings& settings) {
  if (method == "cancel") return cancel(id, params, "id");
  if (id.empty()) return {}; // without an ID nobody would get the answer
  if (method == "ping") return reply(id, result_message(id, "{}"));
  if (method == "verbs") return reply(id, result_message(id, tool_list(settings)));
  if (const Verb* verb = find_verb(method, settings)) return call(id, *verb, params, settings);
  return refuse(id, ErrorCode::no_method, unknown_verb(method, settings) + " (`verbs` lists all)");
}

} // namespace

std::string result_message(std::string_view id, std::string_view result) {
  JsonObject out;
  return out.add("jsonrpc", "2.0").raw("id", id).raw("result", result).end();
}

std::string error_message(std::string_view id, ErrorCode code, std::string_view text) {
  JsonObject error, out;
  error.raw("code", std::to_string(static_cast<int>(code))).add("message", text);
  return out.add("jsonrpc", "2.0").raw("id", id.empty() ? "null" : id).raw("error", error.end()).end();
}

std::string progress_message(std::string_view token, double seconds, double total_seconds) {
  JsonObject params, out;
  params.raw("progressToken", token).raw("progress", base::print("%.1f", seconds));
  if (total_seconds > 0) params.raw("total", base::print("%.1f", total_seconds));
  return out.add("jsonrpc", "2.0").add("method", "notifications/progress").raw("params", params.end()).end();
}

Request read_request(const rapidjson::Value& message, Dialogue& dialogue, const Settings& settings, std::string_view version) {
  if (!message.IsObject()) return refuse("", ErrorCode::invalid_request, "a message is an object");
  const rapidjson::Value* given_id = member(message, "id");
  const std::string id = given_id ? id_text(*given_id) : "";
  if (given_id && id.empty()) return refuse("", ErrorCode::invalid_request, "`id` is neither a number nor a text");
  const rapidjson::Value* method = member(message, "method");
  if (!method && (member(message, "result") || member(message, "error"))) return {}; // an answer, to nothing that was asked
  if (!method || !method->IsString()) return refuse(id, ErrorCode::invalid_request, "`method` is missing, or no text");
  const rapidjson::Value* number = member(message, "jsonrpc");
  if (!number || !number->IsString() || text_of(*number) != "2.0") return refuse(id, ErrorCode::invalid_request, "`jsonrpc` is not \"2.0\"");
  const rapidjson::Value* params = member(message, "params");
  if (params && !params->IsObject()) return refuse(id, ErrorCode::invalid_params, "`params` is not an object");
  if (dialogue.protocol == Protocol::api) return read_api(text_of(*method), id, params, settings);
  return read_mcp(text_of(*method), id, params, dialogue, settings, version);
}

} // namespace agent
