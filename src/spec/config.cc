#include "spec/config.h"

#include "base/text.h"

#include <cassert>
#include <cstdlib>
#include <unistd.h>

namespace spec {

static size_t row_of(std::string_view name) {
  for (size_t i = 0; i < std::size(config_keys); i++)
    if (config_keys[i].name == name) return i;
  return std::size(config_keys);
}

Config::Config() : from_environment_(std::size(config_keys)) {
  for (const ConfigKey& key : config_keys) values_.emplace_back(key.value);
}

// Of environment variables; the later one wins.
static constexpr std::string_view prefixes[] = {"BPFTRACE_", "ACU_"};

// Whether the environment has anything for us: normally not.
static bool is_configured_by_environment() {
  for (char** variable = environ; variable && *variable; variable++) {
    const std::string_view text = *variable;
    for (const std::string_view prefix : prefixes)
      if (text.starts_with(prefix)) return true;
  }
  return false;
}

static const OldVariable* find_old_variable(std::string_view key) {
  for (const OldVariable& old : old_variables)
    if (old.key == key) return &old;
  return nullptr;
}

static std::string variable_of(std::string_view prefix, std::string_view key) {
  std::string out(prefix);
  for (const char c : key) out += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return out;
}

std::string old_variable_of(std::string_view key) {
  const OldVariable* old = find_old_variable(key);
  return old ? std::string(old->name) : variable_of("BPFTRACE_", key);
}

// A value of the variable, in today's words.
static std::string_view as_today(const OldVariable& old, std::string_view value) {
  for (const std::string_view pair : base::split(old.values, '|'))
    if (const size_t sign = pair.find('='); sign != pair.npos && pair.substr(0, sign) == value) return pair.substr(sign + 1);
  return value;
}

std::string Config::read_variable(size_t row, const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  if (!value) return {};
  const OldVariable* old = find_old_variable(config_keys[row].name);
  if (std::string wrong = assign(row, old && old->name == variable ? as_today(*old, value) : value, false); !wrong.empty())
    return "environment variable " + variable + ": " + wrong + ", not `" + value + "`";
  from_environment_[row] = true;
  return {};
}

std::string Config::read_environment() {
  if (!is_configured_by_environment()) return {};
  for (size_t row = 0; row < std::size(config_keys); row++) {
    std::vector<std::string> variables = {old_variable_of(config_keys[row].name)};
    for (const std::string_view prefix : prefixes) variables.push_back(variable_of(prefix, config_keys[row].name));
    for (const std::string& variable : variables)
      if (std::string wrong = read_variable(row, variable); !wrong.empty()) return wrong;
  }
  return {};
}

static std::string check_number(const ConfigKey& key, std::string_view value) {
  auto number = base::parse_integer(value);
  std::string name = "`" + std::string(key.name) + "`";
  if (!number) return name + " takes a number";
  if (*number >= key.least && *number <= key.most) return {};
  if (key.most == UINT64_MAX) return name + " takes a number of at least " + std::to_string(key.least);
  return name + " takes a number from " + std::to_string(key.least) + " to " + std::to_string(key.most);
}

// What is wrong with a value, or nothing.
static std::string check_value(const ConfigKey& key, std::string_view value) {
  std::string name = "`" + std::string(key.name) + "`";
  switch (key.kind) {
  case ConfigKind::number: return check_number(key, value);
  case ConfigKind::boolean: return value == "true" || value == "false" ? "" : name + " takes true or false";
  case ConfigKind::word:
    for (std::string_view word : base::split(key.allowed, '|'))
      if (word == value) return {};
    return name + " takes one of " + std::string(key.allowed);
  case ConfigKind::text: break;
  }
  return {};
}

// The word of the list that differs in nothing but capitals.
static std::string_view as_listed(const ConfigKey& key, std::string_view value) {
  for (std::string_view word : base::split(key.allowed, '|'))
    if (base::lower(word) == base::lower(value)) return word;
  return value;
}

std::string Config::assign(size_t row, std::string_view value, bool keep) {
  const ConfigKey& key = config_keys[row];
  if (key.kind == ConfigKind::boolean)
    if (const auto flag = base::parse_boolean(value)) value = *flag ? "true" : "false";
  if (key.kind == ConfigKind::word) value = as_listed(key, value);
  std::string wrong = check_value(key, value);
  if (keep) return wrong;
  if (wrong.empty()) values_[row] = value;
  return wrong;
}

static std::string unknown_key(std::string_view written, std::string_view name) {
  std::string out = "unknown configuration key `" + std::string(written) + "`";
  for (std::string_view only : environment_only)
    if (only == name) return "`" + std::string(written) + "` can only be set in the environment";
  std::vector<std::string_view> names;
  for (const ConfigKey& key : config_keys) names.push_back(key.name);
  std::string_view near = base::nearest(name, names);
  return near.empty() ? out : out + "; did you mean `" + std::string(near) + "`?";
}

std::string Config::set(std::string_view name, std::string_view value) {
  std::string plain = base::lower(name);
  for (std::string_view prefix : {"bpftrace_", "acu_"})
    if (plain.starts_with(prefix)) plain.erase(0, prefix.size());
  size_t row = row_of(plain);
  if (row == std::size(config_keys)) return unknown_key(name, plain);
  return assign(row, value, from_environment_[row]);
}

const std::string& Config::text(std::string_view key) const {
  size_t row = row_of(key);
  assert(row < values_.size());
  return values_[row];
}

uint64_t Config::number(std::string_view key) const { return base::parse_integer(text(key)).value_or(0); }
bool Config::flag(std::string_view key) const { return text(key) == "true"; }

} // namespace spec
