// The file: a line for each number, "NAME NUMBER"; then the formats, a zero byte before each.
#include "probe/kernel_facts.h"

#include "base/text.h"

#include <algorithm>
#include <utility>

namespace probe {

// A kernel has about 2,000 tracepoints and 350 system calls.
static constexpr size_t most_numbers = 4096, most_formats = 1024;
static constexpr std::string_view name_key = "name: ";

KernelFacts::KernelFacts(symbol::Cache cache, std::vector<std::byte> build_id)
    : cache_(std::move(cache)), build_id_(std::move(build_id)), file_(cache_.find(key())) {
  if (!file_) return;
  std::string_view text(reinterpret_cast<const char*>(file_->bytes().data()), file_->bytes().size());
  const size_t numbers = std::min(text.find('\0'), text.size());
  for (std::string_view line : base::split(text.substr(0, numbers), '\n')) {
    size_t blank = line.find(' ');
    auto number = blank == line.npos ? std::nullopt : base::parse_integer(line.substr(blank + 1));
    if (number && *number <= UINT32_MAX)
      numbers_.emplace(line.substr(0, blank), static_cast<uint32_t>(*number));
  }
  if (numbers < text.size()) formats_ = base::split(text.substr(numbers + 1), '\0');
}

void KernelFacts::store() {
  if (!std::exchange(is_new_, false) || numbers_.size() > most_numbers) return;
  std::string text;
  for (auto& [name, number] : numbers_) text += name + " " + std::to_string(number) + "\n";
  for (std::string_view format : formats_) text.append(1, '\0').append(format);
  (void)cache_.store(key(), std::as_bytes(std::span(text))); // next time it is asked for again
}

symbol::CacheKey KernelFacts::key() const {
  return {.kind = "facts", .version = 1, .build_id = build_id_, .source = 0};
}

uint32_t KernelFacts::number(const std::string& name, const std::function<uint32_t()>& ask) {
  if (auto at = numbers_.find(name); at != numbers_.end()) return at->second;
  uint32_t number = ask();
  numbers_.emplace(name, number);
  is_new_ = true;
  return number;
}

std::vector<std::string_view>::const_iterator KernelFacts::find_format(std::string_view first_line) const {
  return std::lower_bound(formats_.begin(), formats_.end(), first_line);
}

std::optional<std::string_view> KernelFacts::format(std::string_view event) const {
  std::string first_line;
  first_line.append(name_key).append(event).append(1, '\n');
  auto at = find_format(first_line);
  if (at == formats_.end() || !at->starts_with(first_line)) return std::nullopt;
  return *at;
}

void KernelFacts::keep_format(std::string_view text) {
  if (!text.starts_with(name_key) || formats_.size() == most_formats) return;
  text = text.substr(0, text.find("\nprint fmt:"));
  constexpr std::string_view head = "\nformat:\n", after_common = "\n\n";
  const size_t begin = text.find(head), end = text.find(after_common);
  if (begin == text.npos || end == text.npos || end < begin) return;
  std::string& kept = new_formats_.emplace_front(text.substr(0, begin + head.size()));
  kept.append(text.substr(end + after_common.size()));
  formats_.insert(find_format(kept), kept);
  is_new_ = true;
}

} // namespace probe
