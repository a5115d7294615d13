// Schemas and documentation of the verbs.
#include "agent/schema.h"

#include "base/print.h"
#include "base/text.h"
#include "report/json_object.h"

namespace agent {

namespace {

using report::JsonObject;

std::string bound(double number) { return base::print("%.15g", number); }

std::string schema_of(const Parameter& p) {
  JsonObject out;
  constexpr std::string_view types[] = {"string", "integer", "number", "boolean", "array"};
  out.add("type", types[static_cast<size_t>(p.kind)]).add("description", p.doc);
  if (p.kind == Kind::text && !p.allowed.empty()) {
    std::vector<std::string> words;
    for (std::string_view word : base::split(p.allowed, '|')) words.emplace_back(word);
    out.add("enum", words);
  }
  if (p.kind == Kind::text && p.min > 0) out.raw("minLength", bound(p.min));
  if (p.kind == Kind::text && p.max > 0) out.raw("maxLength", bound(p.max));
  if (p.kind == Kind::text && p.is_word) out.add("pattern", "^[^-]");
  if (p.kind == Kind::integer || p.kind == Kind::number) out.raw("minimum", bound(p.min)).raw("maximum", bound(p.max));
  if (p.kind == Kind::list) {
    JsonObject entry;
    entry.add("type", "string").add("minLength", 1);
    if (p.is_word) entry.add("pattern", "^[^-]");
    out.raw("maxItems", bound(p.max)).raw("items", entry.end());
  }
  return out.end();
}

std::string input_schema(const Verb& verb, const Settings& settings) {
  JsonObject properties;
  std::vector<std::string> required;
  for (const Parameter& p : parameters_of(verb, settings)) {
    properties.raw(p.name, schema_of(p));
    if (p.required) required.emplace_back(p.name);
  }
  JsonObject out;
  out.add("type", "object").raw("properties", properties.end()).add("required", required).raw("additionalProperties", "false");
  return out.end();
}

// The fields of every result; `result.cc` writes them.
struct Field {
  std::string_view name, type, doc;
  bool always;
};
constexpr Field fields[] = {
    {"command", "string", "The command line that a person would type for the same.", true},
    {"outcome", "string", "complete, failed, or what ended it: time limit, output limit, cost limit, cancelled.", true},
    {"exit_status", "integer", "Of the command: 0 success, 1 failure, 2 mistake in arguments or script, 3 nothing matched, 4 no permission, 5 not supported; 128 and the signal if one ended it.", true},
    {"data", "", "The answer, if it is one JSON value.", false},
    {"rows", "array", "The answer, if it is one JSON value a line.", false},
    {"text", "string", "The answer, if it is text.", false},
    {"truncated", "boolean", "Whether part of the answer is missing.", true},
    {"notes", "array", "Messages: warnings, losses, hints, and summary lines of the command.", true},
    {"lost", "integer", "Events, samples, stacks and other things that were lost; 0 means none.", true},
    {"cost", "object", "wall_ms: duration of the call; cpu_ms: CPU time of acu; probes_ms: CPU time of its programs in the kernel; percent: both, of one CPU; limit_percent: highest cost allowed, 0 without a limit.", true},
    {"units", "string", "Units of the numbers in the answer.", true},
};

std::string output_schema() {
  JsonObject properties;
  std::vector<std::string> required;
  for (const Field& f : fields) {
    JsonObject one;
    if (!f.type.empty()) one.add("type", f.type);
    properties.raw(f.name, one.add("description", f.doc).end());
    if (f.always) required.emplace_back(f.name);
  }
  JsonObject out;
  out.add("type", "object").raw("properties", properties.end()).add("required", required);
  return out.end();
}

std::string default_of(const Verb& verb, const Parameter& p, const Settings& settings) {
  if (p.name == "duration") return base::print("%g", std::min(verb.seconds, settings.max_seconds));
  if (p.name == "time_limit") return base::print("%g", std::min(verb.seconds, settings.max_seconds) + verb.limit_seconds);
  if (p.name == "max_cost") return base::print("%g", std::min(verb.max_cost, settings.max_cost));
  return p.name == "max_output" ? std::to_string(default_output) : "";
}

std::string cell(std::string_view text) {
  std::string out(text);
  base::replace_all(out, "|", "\\|");
  return out;
}

} // namespace

std::string tool_list(const Settings& settings) {
  std::string out;
  for (const Verb& verb : verbs()) {
    if (!is_offered(verb, settings)) continue;
    JsonObject about;
    about.add("title", verb.title).raw("readOnlyHint", "true").raw("destructiveHint", "false").raw("openWorldHint", "false");
    JsonObject one;
    one.add("name", verb.name).add("title", verb.title).add("description", std::string(verb.doc) + " Like `" + std::string(verb.command) + "`. Units: " + std::string(verb.units) + ".");
    one.raw("inputSchema", input_schema(verb, settings)).raw("outputSchema", output_schema()).raw("annotations", about.end());
    out += (out.empty() ? "" : ", ") + one.end();
  }
  return "[" + out + "]";
}

std::string verbs_markdown(const Settings& settings) {
  std::string out;
  for (const Verb& verb : verbs()) {
    if (!is_offered(verb, settings)) continue;
    out += "### " + std::string(verb.name) + "\n\n" + std::string(verb.doc) + " Stands for `" + std::string(verb.command) + "`. Units: " + std::string(verb.units) + ".\n\n";
    out += "| argument | type | default | meaning |\n|---|---|---|---|\n";
    constexpr std::string_view kinds[] = {"text", "integer", "number", "true, false", "list of texts"};
    for (const Parameter& p : parameters_of(verb, settings))
      out += "| `" + std::string(p.name) + "` | " + cell(p.allowed.empty() ? kinds[static_cast<size_t>(p.kind)] : p.allowed) + " | " + (p.required ? "required" : default_of(verb, p, settings)) + " | " +
             cell(p.doc) + " |\n";
    out += "\n";
  }
  out += "### Results\n\n| field | type | meaning |\n|---|---|---|\n";
  for (const Field& f : fields) out += "| `" + std::string(f.name) + "` | " + std::string(f.type.empty() ? "any" : f.type) + " | " + std::string(f.doc) + " |\n";
  return out;
}

} // namespace agent
