// Parameters of requests as values, and values as JSON.
#pragma once

#include "base/result.h"
#include "store/store.h"
#include "web/http.h"

#include <optional>
#include <string>

namespace web {

int64_t now_seconds();
double now_exactly();

// `from` and `to`, with this before the names ("a_"). Failure (usage): no numbers, or an empty range.
base::Result<store::Range> range_of(const Request& request, std::string_view before = {}, int64_t length = 3600);
// A whole number from 0 to `most`; `otherwise` where it is not given. Failure (usage): it is none.
base::Result<uint64_t> number_of(const Request& request, std::string_view name, uint64_t otherwise, uint64_t most);

std::string json_number(double value); // six digits
std::string to_json(const store::ServiceUse& use);
std::string to_json(const store::Finding& finding);

} // namespace web
