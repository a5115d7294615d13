#include "proc/text.h"

#include "base/text.h"

#include <charconv>

namespace proc {

std::optional<uint64_t> NamedNumbers::find(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  constexpr std::string_view blank = " \t\n";
  for (size_t begin = line.find_first_not_of(blank); begin != line.npos;) {
    const size_t end = std::min(line.find_first_of(blank, begin), line.size());
    out.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(blank, end);
  }
  return out;
}

std::optional<uint64_t> decimal(std::string_view word) {
  uint64_t out = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(out) : std::nullopt;
}

std::string text_of(const std::string& path) {
  base::Result<std::string> text = base::read_file(path);
  return text.ok() ? std::move(*text) : std::string();
}

uint64_t number_in(const std::string& path) {
  const std::string text = text_of(path);
  return decimal(base::trim(text)).value_or(0);
}

NamedNumbers read_named_numbers(std::string_view text) {
  NamedNumbers out;
  for (std::string_view line : base::split(text, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() < 2) continue;
    const std::optional<uint64_t> number = decimal(words[1]);
    std::string_view name = words[0];
    if (name.ends_with(':')) name.remove_suffix(1);
    if (number) out.set(std::string(name), words.size() > 2 && words[2] == "kB" ? *number * 1024 : *number);
  }
  return out;
}

NamedNumbers read_protocol_numbers(std::string_view text) {
  NamedNumbers out;
  std::vector<std::string_view> names;
  for (std::string_view line : base::split(text, '\n')) {
    std::vector<std::string_view> words = words_of(line);
    const bool are_numbers = !names.empty() && !words.empty() && words[0] == names[0];
    if (!are_numbers) {
      names = std::move(words);
      continue;
    }
    const std::string protocol(names[0].substr(0, names[0].find(':')));
    for (size_t i = 1; i < words.size() && i < names.size(); i++)
      if (const std::optional<uint64_t> number = decimal(words[i])) out.set(protocol + "." + std::string(names[i]), *number);
    names.clear();
  }
  return out;
}

std::optional<PressureTotals> read_pressure(std::string_view text) {
  std::optional<PressureTotals> out;
  for (std::string_view line : base::split(text, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || (words[0] != "some" && words[0] != "full")) continue;
    for (std::string_view word : words) {
      if (!word.starts_with("total=")) continue;
      const std::optional<uint64_t> total = decimal(word.substr(6));
      if (!total) continue;
      if (!out) out.emplace();
      (words[0] == "some" ? out->some_us : out->full_us) = *total;
    }
  }
  return out;
}

} // namespace proc
