#include "symbol/debuginfod.h"

#include "base/library.h"
#include "base/text.h"

#include <cstdlib>

namespace symbol {

using base::Error;
using base::Failure;

// The functions of elfutils/debuginfod.h that we call.
struct Client {
  void* (*begin)() = nullptr;
  void (*end)(void* client) = nullptr;
  int (*find)(void* client, const unsigned char* build_id, int size, char** path) = nullptr;
};

static base::Result<Client> load() {
  constexpr const char* name = "libdebuginfod.so.1";
  const base::Result<base::Library> library = base::Library::open(name);
  if (!library.ok())
    return Error{Failure::unsupported, "no debug files can be fetched: " + library.error().message +
                                           "; install libdebuginfod (Debian: libdebuginfod1, Fedora: elfutils-debuginfod-client)"};
  const Client out = {.begin = library->find<void* (*)()>("debuginfod_begin"),
                      .end = library->find<void (*)(void*)>("debuginfod_end"),
                      .find = library->find<int (*)(void*, const unsigned char*, int, char**)>("debuginfod_find_debuginfo")};
  if (out.begin && out.end && out.find) return out;
  return Error{Failure::unsupported, std::string(name) + " lacks a function: another version of it is needed"};
}

base::Result<Download> download_debug_file(base::ByteSpan build_id) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (!servers || !*servers)
    return Error{Failure::usage,
                 "DEBUGINFOD_URLS names no server to ask; set it to that of the distribution"};
  static const base::Result<Client> library = load();
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
