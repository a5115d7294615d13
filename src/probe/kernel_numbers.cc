// The file: a line for each, "NAME NUMBER".
#include "probe/kernel_numbers.h"

#include "base/text.h"

#include <utility>

namespace probe {

static constexpr size_t most_numbers = 4096; // a kernel has about 2,000 tracepoints

KernelNumbers::KernelNumbers(symbol::Cache cache, std::vector<std::byte> build_id)
    : cache_(std::move(cache)), build_id_(std::move(build_id)) {
  auto file = cache_.find(key());
  if (!file) return;
  std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  for (std::string_view line : base::split(text, '\n')) {
    size_t blank = line.find(' ');
    auto number = blank == line.npos ? std::nullopt : base::parse_integer(line.substr(blank + 1));
    if (number && *number <= UINT32_MAX)
      known_.emplace(line.substr(0, blank), static_cast<uint32_t>(*number));
  }
}

void KernelNumbers::store() {
  if (!std::exchange(is_new_, false) || known_.size() > most_numbers) return;
  std::string text;
  for (auto& [name, number] : known_) text += name + " " + std::to_string(number) + "\n";
  (void)cache_.store(key(), std::as_bytes(std::span(text))); // next time it is asked for again
}

symbol::CacheKey KernelNumbers::key() const {
  return {.kind = "numbers", .version = 1, .build_id = build_id_, .source = 0};
}

uint32_t KernelNumbers::get(const std::string& name, const std::function<uint32_t()>& ask) {
  if (auto at = known_.find(name); at != known_.end()) return at->second;
  uint32_t number = ask();
  known_.emplace(name, number);
  is_new_ = true;
  return number;
}

} // namespace probe
