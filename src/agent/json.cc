// Reading JSON, and checking arguments against the table of verbs.
#include "agent/json.h"

#include "base/print.h"
#include "base/text.h"
#include "report/json.h"

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <cmath>

namespace agent {

namespace {

constexpr unsigned how = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;

std::string_view type_name(const rapidjson::Value& value) {
  if (value.IsString()) return "text";
  if (value.IsNumber()) return "a number";
  if (value.IsBool()) return "true or false";
  if (value.IsArray()) return "a list";
  return value.IsObject() ? "an object" : "null";
}

std::string expected(const Parameter& p) {
  switch (p.kind) {
  case Kind::text: return p.allowed.empty() ? "text" : "one of " + std::string(p.allowed);
  case Kind::integer: return base::print("an integer from %.0f to %.0f", p.min, p.max);
  case Kind::number: return base::print("a number from %g to %g", p.min, p.max);
  case Kind::flag: return "true or false";
  case Kind::list: return base::print("a list of at most %.0f texts", p.max);
  }
  return {};
}

constexpr size_t longest_word = 4096;

// What is wrong with a text that becomes a word of a command line, or empty.
std::string word_mistake(std::string_view text, bool is_word) {
  if (text.find('\0') != text.npos) return "contains a zero byte";
  return is_word && text.starts_with('-') ? "begins with `-`" : "";
}

base::Result<Value> check_value(const Parameter& p, const rapidjson::Value& given) {
  const auto refused = [&](std::string found) { return base::usage_error("argument `" + std::string(p.name) + "`: " + expected(p) + " expected, not " + found); };
  Value out;
  switch (p.kind) {
  case Kind::text: {
    if (!given.IsString()) return refused(std::string(type_name(given)));
    out.text = text_of(given);
    const double size = static_cast<double>(out.text.size());
    if (size < p.min) return base::usage_error("argument `" + std::string(p.name) + "` is empty");
    if (p.max > 0 && size > p.max) return base::usage_error(base::print("argument `%s` has %.0f bytes; at most %.0f are accepted", std::string(p.name).c_str(), size, p.max));
    if (const std::string why = word_mistake(out.text, p.is_word); !why.empty()) return base::usage_error("argument `" + std::string(p.name) + "` " + why);
    const std::vector<std::string_view> allowed = base::split(p.allowed, '|');
    if (!p.allowed.empty() && !base::is_one_of(allowed, out.text)) return refused("`" + out.text.substr(0, 64) + "`");
    return out;
  }
  case Kind::integer:
  case Kind::number:
    if (!given.IsNumber()) return refused(std::string(type_name(given)));
    out.number = given.GetDouble();
    if (p.kind == Kind::integer && out.number != std::floor(out.number)) return refused(base::print("%g", out.number));
    if (!(out.number >= p.min && out.number <= p.max)) return refused(base::print("%g", out.number));
    return out;
  case Kind::flag:
    if (!given.IsBool()) return refused(std::string(type_name(given)));
    out.flag = given.GetBool();
    return out;
  case Kind::list:
    if (!given.IsArray()) return refused(std::string(type_name(given)));
    if (given.Size() > p.max) return refused(base::print("%u", given.Size()));
    for (const rapidjson::Value& entry : given.GetArray()) {
      if (!entry.IsString()) return refused("a list with " + std::string(type_name(entry)));
      const std::string_view text = text_of(entry);
      std::string why = text.empty() ? "is empty" : text.size() > longest_word ? "is too long" : word_mistake(text, p.is_word);
      if (!why.empty()) return base::usage_error("argument `" + std::string(p.name) + "`: an entry " + why);
      out.list.emplace_back(text);
    }
    return out;
  }
  return out;
}

} // namespace

base::Status parse_json(std::string_view text, rapidjson::Document& to) {
  if (const size_t zero = text.find('\0'); zero != text.npos) return base::usage_error(base::print("not JSON at byte %zu: a zero byte", zero)); // RapidJSON ends there
  to.Parse<how>(text.data(), text.size());
  if (!to.HasParseError()) return {};
  return base::usage_error(base::print("not JSON at byte %zu: %s", to.GetErrorOffset(), rapidjson::GetParseError_En(to.GetParseError())));
}

bool is_json(std::string_view text) {
  if (text.find('\0') != text.npos) return false;
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::BaseReaderHandler<> nothing;
  rapidjson::Reader reader;
  return !reader.Parse<how>(stream, nothing).IsError();
}

const rapidjson::Value* member(const rapidjson::Value& value, std::string_view name) {
  if (!value.IsObject()) return nullptr;
  const auto found = value.FindMember(rapidjson::Value(rapidjson::StringRef(name.data(), static_cast<rapidjson::SizeType>(name.size()))));
  return found == value.MemberEnd() ? nullptr : &found->value;
}

std::string id_text(const rapidjson::Value& value) {
  if (value.IsInt64()) return std::to_string(value.GetInt64());
  if (value.IsUint64()) return std::to_string(value.GetUint64());
  if (value.IsNumber()) return base::print("%.17g", value.GetDouble());
  std::string out;
  if (value.IsString()) report::append_json(out, text_of(value));
  return out;
}

std::string shortened(const rapidjson::Value& value, size_t most) {
  // Deeper values, which a recursive writer must not follow, are left out.
  std::string out = "{";
  if (!value.IsObject()) return "{}";
  for (const auto& m : value.GetObject()) {
    if (out.size() > most) return out + ", \"...\": true}";
    if (out.size() > 1) out += ", ";
    report::append_json(out, text_of(m.name).substr(0, 64));
    out += ": ";
    constexpr size_t longest_text = 200;
    if (m.value.IsString())
      report::append_json(out, text_of(m.value).substr(0, longest_text));
    else if (m.value.IsNumber())
      out += id_text(m.value);
    else if (m.value.IsBool())
      out += m.value.GetBool() ? "true" : "false";
    else if (m.value.IsArray()) {
      std::string list;
      for (const rapidjson::Value& entry : m.value.GetArray()) {
        if (!entry.IsString() || list.size() > longest_text) continue;
        list += list.empty() ? "" : ", ";
        report::append_json(list, text_of(entry).substr(0, longest_text));
      }
      out += "[" + list + "]";
    } else
      out += "null";
  }
  return out + "}";
}

base::Result<Arguments> check_arguments(const Verb& verb, const rapidjson::Value* given, const Settings& settings) {
  Arguments out;
  const std::vector<Parameter> parameters = parameters_of(verb, settings);
  if (given && !given->IsObject()) return base::usage_error("arguments are an object, not " + std::string(type_name(*given)));
  if (given)
    for (const auto& m : given->GetObject()) {
      const std::string_view name = text_of(m.name);
      const Parameter* found = nullptr;
      for (const Parameter& p : parameters)
        if (p.name == name) found = &p;
      if (!found) {
        std::vector<std::string_view> names;
        for (const Parameter& p : parameters) names.push_back(p.name);
        const std::string_view near = base::nearest(name, names);
        return base::usage_error("`" + std::string(verb.name) + "` has no argument `" + std::string(name.substr(0, 64)) + "`" + (near.empty() ? "" : "; did you mean `" + std::string(near) + "`?"));
      }
      if (out.has(name)) return base::usage_error("argument `" + std::string(name) + "` is given twice");
      ACU_TRY(Value value, check_value(*found, m.value));
      out.set(name, std::move(value));
    }
  for (const Parameter& p : parameters)
    if (p.required && !out.has(p.name)) return base::usage_error("`" + std::string(verb.name) + "` needs the argument `" + std::string(p.name) + "`");
  return out;
}

} // namespace agent
