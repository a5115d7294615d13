// The prompt of `acu sql`: lines with completion of tables, columns and keywords, and a history that is kept in a file (libedit).
#pragma once

#include "base/result.h"
#include "sql/query.h"

#include <functional>
#include <string>

namespace tool {

// Calls `answer` with each complete statement, until the end of the input or `.quit`.
void run_prompt(sql::Database& database, const std::function<void(const std::string&)>& answer);

} // namespace tool
