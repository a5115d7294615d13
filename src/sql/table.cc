#include "sql/table.h"

#include "base/clock.h"
#include "session/signals.h"

#include <algorithm>

namespace sql {

static size_t index_of(const Table& table, std::string_view column) {
  return static_cast<size_t>(std::ranges::find(table.columns, column, &Column::name) - table.columns.begin());
}

bool Limit::is_interrupted() const { return session::signals::is_stopping(); }

uint64_t Limit::left_ns() const {
  const uint64_t now = base::clock_ns();
  return is_interrupted() || now >= deadline_ns ? 0 : deadline_ns - now;
}

bool Request::uses(std::string_view column) const { return used_ >> std::min<size_t>(index_of(table_, column), 63) & 1; }

const Value& Request::given(std::string_view column) const { return given_[index_of(table_, column)]; }

std::optional<int64_t> Request::number(std::string_view column) const {
  const auto* number = std::get_if<int64_t>(&given(column));
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<double> Request::real(std::string_view column) const {
  const auto* number = std::get_if<double>(&given(column));
  return number ? std::optional(*number) : std::nullopt;
}

std::optional<std::string> Request::text(std::string_view column) const {
  const auto* text = std::get_if<std::string>(&given(column));
  return text ? std::optional(*text) : std::nullopt;
}

void Request::note(std::string text) const {
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

} // namespace sql
