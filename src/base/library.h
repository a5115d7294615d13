// Shared libraries that are loaded on request: what few runs need takes no time at each start.
#pragma once

#include "base/result.h"

#include <cstring>

namespace base {

class Library {
public:
  // By its name for the loader, "libZydis.so.4.0". Failure: what the loader says. It stays loaded.
  static Result<Library> open(const char* name);

  // A function of it, or nullptr.
  template<class Function> Function find(const char* name) const {
    void* const at = address(name);
    Function out;
    static_assert(sizeof out == sizeof at);
    std::memcpy(&out, &at, sizeof out);
    return out;
  }

private:
  explicit Library(void* handle) : handle_(handle) {}
  void* address(const char* name) const;

  void* handle_;
};

} // namespace base
