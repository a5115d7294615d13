// JSON from clients and from acu's own commands: read by RapidJSON without recursion, however deeply a text nests.
#pragma once

#include "agent/verb.h"

#include <rapidjson/document.h>

#include <string>
#include <string_view>

namespace agent {

// What a message holds. Failure: it is not JSON, with the offset.
base::Status parse_json(std::string_view text, rapidjson::Document& to);
// Whether a text is one JSON value and nothing else.
bool is_json(std::string_view text);
// The member, or nullptr: there is none, or `value` is no object.
const rapidjson::Value* member(const rapidjson::Value& value, std::string_view name);
inline std::string_view text_of(const rapidjson::Value& value) { return {value.GetString(), value.GetStringLength()}; }
// A number or a string again as JSON, as the ID of a request; empty: it is something else.
std::string id_text(const rapidjson::Value& value);
// At most `most` bytes on one line, for the audit.
std::string shortened(const rapidjson::Value& value, size_t most);

// The arguments of a call, checked against the verb's parameters. nullptr: none were given. Failure::usage names the first mistake.
base::Result<Arguments> check_arguments(const Verb& verb, const rapidjson::Value* given, const Settings& settings);

} // namespace agent
