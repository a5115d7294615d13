#include "symbol/debuginfod.h"

#include "base/text.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace symbol {

using base::Error;
using base::Failure;

// The functions of elfutils/debuginfod.h that we call.
struct Library {
  void* (*begin)() = nullptr;
  void (*end)(void* client) = nullptr;
  int (*find)(void* client, const unsigned char* build_id, int size, char** path) = nullptr;
};

static base::Result<Library> load() {
  void* handle = ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = ::dlerror();
    return Error{Failure::unsupported,
                 std::string("no debug files can be fetched: ") +
                     (why ? why : "libdebuginfod.so.1 cannot be loaded") +
                     "; install libdebuginfod (Debian: libdebuginfod1, Fedora: elfutils-debuginfod-client)"};
  }
  Library library;
  auto resolve = [&](auto& function, const char* name) {
    void* at = ::dlsym(handle, name);
    std::memcpy(&function, &at, sizeof at);
    return at != nullptr;
  };
  if (resolve(library.begin, "debuginfod_begin") && resolve(library.end, "debuginfod_end") &&
      resolve(library.find, "debuginfod_find_debuginfo"))
    return library;
  return Error{Failure::unsupported, "libdebuginfod.so.1 lacks a function: another version of it is needed"};
}

base::Result<Download> download_debug_file(base::ByteSpan build_id) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (!servers || !*servers)
    return Error{Failure::usage,
                 "DEBUGINFOD_URLS names no server to ask; set it to that of the distribution"};
  static const base::Result<Library> library = load();
  if (!library) return library.error();
  void* client = library->begin();
  if (!client) return Error{Failure::runtime, "libdebuginfod does not start"};
  Download out;
  char* path = nullptr;
  int fd = library->find(client, reinterpret_cast<const unsigned char*>(build_id.data()),
                         static_cast<int>(build_id.size()), &path);
  library->end(client);
  if (fd < 0) {
    if (fd == -ENOENT) return Error{Failure::nothing_matched, "the servers have no such file"};
    return base::errno_error("asking the servers failed", -fd);
  }
  out.fd = base::Fd(fd);
  if (path) out.path = path;
  std::free(path);
  return out;
}

} // namespace symbol
