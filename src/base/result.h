// Result<T>: a value or an Error. Every function that may fail returns one; a failure gains a phrase of
// context on its way up (`Error::with`). Absence is not failure: that is std::optional.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace base {

// Why something failed; the numbers are acu's exit statuses.
enum class Failure : unsigned char {
  runtime = 1,
  usage = 2,
  nothing_matched = 3,
  permission = 4,
  unsupported = 5,
};

struct Error {
  Failure kind = Failure::runtime;
  std::string message;

  // "cannot load map" . with("probe x") -> "probe x: cannot load map"
  [[gnu::cold]] Error with(std::string_view context) && {
    message = std::string(context) + ": " + message;
    return std::move(*this);
  }
};

// The user has asked for something that is not there, or not like that.
[[gnu::cold]] Error usage_error(std::string message);

// "WHAT: strerror(errno)", with EPERM and EACCES as permission failures.
[[gnu::cold]] Error errno_error(std::string_view what, int code);

template<class T>
class [[nodiscard]] Result {
public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  [[gnu::cold]] Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  [[gnu::cold]] Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

private:
  std::variant<T, Error> state_;
};

// Success without a value: `return {};`.
template<>
class [[nodiscard]] Result<void> {
public:
  Result() = default;
  [[gnu::cold]] Result(Error error) : error_(std::move(error)) {}
  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  [[gnu::cold]] Error& error() { return *error_; }
  const Error& error() const { return *error_; }

private:
  std::optional<Error> error_;
};
using Status = Result<void>;

} // namespace base

#define ACU_JOIN_(a, b) a##b
#define ACU_JOIN(a, b) ACU_JOIN_(a, b)
// ACU_TRY(auto x, f()): x is the value, or the enclosing function returns the error.
#define ACU_TRY(decl, expr)                                                                                  \
  auto ACU_JOIN(try_, __LINE__) = (expr);                                                                    \
  if (!ACU_JOIN(try_, __LINE__).ok()) return std::move(ACU_JOIN(try_, __LINE__).error());                    \
  decl = std::move(ACU_JOIN(try_, __LINE__).value())
// ACU_CHECK(f()): the same for a Status.
#define ACU_CHECK(expr)                                                                                      \
  do {                                                                                                       \
    if (auto check_ = (expr); !check_.ok()) return std::move(check_.error());                                \
  } while (0)
