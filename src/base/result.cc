#include "base/result.h"

#include <cerrno>
#include <cstring>

namespace base {

Error usage_error(std::string message) { return {Failure::usage, std::move(message)}; }

Error errno_error(std::string_view what, int code) {
  Failure kind = code == EPERM || code == EACCES ? Failure::permission : Failure::runtime;
  return {kind, std::string(what) + ": " + std::strerror(code)};
}

} // namespace base
