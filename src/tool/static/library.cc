// base/library.h in the executable that is linked statically (`acu_static`): it loads nothing, as the libraries of a host belong to the C library there.
#include "base/library.h"

#include <nss.h>

namespace base {

Result<Library> Library::open(const char* name) {
  return Error{Failure::unsupported, std::string(name) + " cannot be loaded, as this acu is linked statically; use the package for this distribution"};
}

void* Library::address(const char*) const { return nullptr; }

} // namespace base

// Users are those of /etc/passwd: other sources would be libraries, too.
[[gnu::constructor]] static void look_into_files_only() { ::__nss_configure_lookup("passwd", "files"); }
