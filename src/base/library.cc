#include "base/library.h"

#include <dlfcn.h>

namespace base {

Result<Library> Library::open(const char* name) {
  if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return Library(handle);
  const char* why = ::dlerror();
  return Error{Failure::unsupported, why ? why : std::string(name) + " cannot be loaded"};
}

void* Library::address(const char* name) const { return ::dlsym(handle_, name); }

} // namespace base
