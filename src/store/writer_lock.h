// One writer at a time: of a store, and of each source in it. The kernel releases the lock with the process, however that ends.
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace store {

// Locks the file `path`, which gets this process's number. Waits up to `patience_ns` for one that is about to end. Failure: "SUBJECT: process 17 (acu)".
// `option`: names another one.
base::Result<base::Fd> lock_writer(const std::string& path, std::string_view subject, std::string_view option, uint64_t patience_ns = 0);
// For a source of a store.
base::Result<base::Fd> lock_source(const std::string& store, std::string_view source);
// For an import of whatever source (import.h).
base::Result<base::Fd> lock_import(const std::string& store, uint64_t patience_ns);

} // namespace store
