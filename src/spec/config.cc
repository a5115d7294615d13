#include "spec/config.h"

#include "base/text.h"

#include <cassert>
#include <cstdlib>

namespace spec {

static size_t row_of(std::string_view name) {
  for (size_t i = 0; i < std::size(config_keys); i++)
    if (config_keys[i].name == name) return i;
  return std::size(config_keys);
}

Config::Config() : from_environment_(std::size(config_keys)) {
  for (const ConfigKey& key : config_keys) values_.emplace_back(key.value);
}

void Config::read_environment() {
  for (size_t i = 0; i < std::size(config_keys); i++) {
    std::string name(config_keys[i].name);
    for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    for (const char* prefix : {"BPFTRACE_", "ACU_"}) // the later one wins
      if (const char* value = std::getenv((prefix + name).c_str()))
        if (assign(i, value).empty()) from_environment_[i] = true;
  }
}

std::string Config::assign(size_t row, std::string_view value) {
  const ConfigKey& key = config_keys[row];
  switch (key.kind) {
  case ConfigKind::number:
    if (!base::parse_integer(value)) return "`" + std::string(key.name) + "` takes a number";
    break;
  case ConfigKind::boolean:
    if (value == "1") value = "true";
    if (value == "0") value = "false";
    if (value != "true" && value != "false") return "`" + std::string(key.name) + "` takes true or false";
    break;
  case ConfigKind::word: {
    bool found = false;
    for (std::string_view word : base::split(key.allowed, '|')) found |= word == value;
    if (!found) return "`" + std::string(key.name) + "` takes one of " + std::string(key.allowed);
    break;
  }
  case ConfigKind::text: break;
  }
  values_[row] = value;
  return {};
}

std::string Config::set(std::string_view name, std::string_view value) {
  std::string plain = base::lower(name);
  for (std::string_view prefix : {"bpftrace_", "acu_"})
    if (plain.starts_with(prefix)) plain.erase(0, prefix.size());
  size_t row = row_of(plain);
  if (row == std::size(config_keys)) return "unknown configuration key `" + std::string(name) + "`";
  return from_environment_[row] ? std::string() : assign(row, value);
}

const std::string& Config::text(std::string_view key) const {
  size_t row = row_of(key);
  assert(row < values_.size());
  return values_[row];
}

uint64_t Config::number(std::string_view key) const { return base::parse_integer(text(key)).value_or(0); }
bool Config::flag(std::string_view key) const { return text(key) == "true"; }

} // namespace spec
