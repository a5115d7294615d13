// Queries of people to the store: they read, in bounded time and with a bounded number of rows.
#pragma once

#include "base/result.h"

#include <string>
#include <vector>

namespace store {

struct Rows {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows; // values as JSON
  bool is_truncated = false;
};

// One statement. Failure (usage): the text has a mistake, or does not only read.
base::Result<Rows> select(const std::string& path, const std::string& text, size_t most_rows, uint64_t duration_ns);

} // namespace store
