// The schema of a tool's output in JSON, from its header: one alternative for each kind of line that `-f json` prints (report/printer.cc).
//
// A printed line is text. Its columns and their units are in `x-tables`, a list for each table of the tool; names that begin with x- are
// ignored by validators. Values of maps have the types that the header's sample shows.
#include "report/json_object.h"
#include "tool/tool_header.h"

namespace tool {

namespace {

using report::JsonObject;

std::string constant(std::string_view text) { return JsonObject().add("const", text).end(); }
std::string reference(std::string_view name) { return JsonObject().add("$ref", "#/$defs/" + std::string(name)).end(); }

std::string properties(std::string_view type, std::string_view data) {
  return JsonObject().raw("properties", JsonObject().raw("type", type).raw("data", data).end()).end();
}

// An object with one number, as of attached_probes.
std::string counted(std::string_view name) {
  return JsonObject()
      .add("type", "object")
      .raw("properties", JsonObject().raw(name, reference("number")).end())
      .add("required", std::vector<std::string>{std::string(name)})
      .raw("additionalProperties", "false")
      .end();
}

std::string tables_of(const ToolHeader& header) {
  const auto columns = [](const std::vector<Column>& all) {
    return report::json_list(all, [](const Column& c) {
      JsonObject out;
      out.add("name", c.name);
      if (!c.unit.empty()) out.add("unit", c.unit);
      return out.end();
    });
  };
  std::vector<std::vector<Column>> tables = header.more_tables;
  if (!header.columns.empty()) tables.insert(tables.begin(), header.columns);
  return report::json_list(tables, columns);
}

std::string value_of(ShownMap::Value value) {
  switch (value) {
  case ShownMap::Value::number: return reference("number");
  case ShownMap::Value::stats: return reference("stats");
  case ShownMap::Value::histogram: return reference("histogram");
  case ShownMap::Value::unknown: break;
  }
  return "true";
}

std::string maps_of(const ToolHeader& header) {
  JsonObject all;
  for (const ShownMap& map : header.maps)
    all.raw(map.name, map.has_keys ? JsonObject().add("type", "object").raw("additionalProperties", value_of(map.value)).end() : value_of(map.value));
  return JsonObject()
      .add("type", "object")
      .raw("properties", all.end())
      .raw("additionalProperties", "false")
      .add("minProperties", 1)
      .add("maxProperties", 1)
      .end();
}

// Integers beyond 2^53 are strings, as readers may hold numbers as doubles.
constexpr std::string_view definitions = R"({
    "number": {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^-?[0-9]+$"}]},
    "stats": {"type": "object", "properties": {"count": {"$ref": "#/$defs/number"}, "average": {"$ref": "#/$defs/number"}, "total": {"$ref": "#/$defs/number"}},
              "required": ["count", "average", "total"], "additionalProperties": false},
    "histogram": {"type": "array", "items": {"type": "object", "properties": {"min": {"$ref": "#/$defs/number"}, "max": {"$ref": "#/$defs/number"}, "count": {"$ref": "#/$defs/number"}},
                  "required": ["count"], "additionalProperties": false}}
  })";

} // namespace

std::string schema_of(const ToolHeader& header) {
  const std::string text = R"({"enum": ["printf", "time", "join", "cat"]})", map = R"({"enum": ["map", "stats", "hist"]})";
  std::vector<std::string> lines = {properties(constant("attached_probes"), counted("probes")), properties(constant("lost_events"), counted("events")),
                                    properties(text, R"({"type": "string"})"), properties(constant("value"), "true")};
  if (!header.maps.empty()) lines.push_back(properties(map, maps_of(header)));
  std::string out = "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n";
  const auto add = [&](std::string_view name, std::string_view json) {
    out += "  ";
    report::append_json(out, name);
    out.append(": ").append(json).append(",\n");
  };
  const auto quoted = [](std::string_view plain) {
    std::string json;
    report::append_json(json, plain);
    return json;
  };
  add("title", quoted("a line of `acu " + header.name + " -f json`"));
  add("description", quoted(header.summary));
  add("x-tables", tables_of(header));
  add("type", quoted("object"));
  add("required", R"(["type", "data"])");
  std::string alternatives;
  for (const std::string& line : lines) alternatives.append(alternatives.empty() ? "[\n    " : ",\n    ").append(line);
  add("oneOf", alternatives + "\n  ]");
  return out.append("  \"$defs\": ").append(definitions).append("\n}\n");
}

} // namespace tool
