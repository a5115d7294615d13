// The tables of the embedded store, and the version of their form. README.md explains them.
#pragma once

#include "store/connection.h"

namespace store {

constexpr int64_t schema_version = 2;
// `application_id` of SQLite's header: "acu1".
constexpr int64_t application_id = 0x61637531;

// A store that is empty gets its tables (Access::write). Failure: it is of an older or newer acu, or no store of acu.
base::Status prepare_schema(const Connection& connection, Access access);

} // namespace store
