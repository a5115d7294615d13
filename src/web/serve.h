// `acu serve`: samplers, the store's upkeep, and the HTTP server, from start to end.
#pragma once

#include "agent/verb.h"
#include "push/targets.h"
#include "store/store.h"
#include "web/api.h"
#include "web/tls.h"

#include <string>
#include <vector>

namespace web {

struct ServeOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 7070;
  std::string store;      // path, or the address of a fleet's store
  OpenFleet open_fleet;   // set: the store is a fleet's; nothing is recorded or measured here
  std::string token_file; // empty: none
  std::string users;      // file; empty: a token in a URL opens a session
  uint64_t login_ns = uint64_t{12} * 3600 * 1'000'000'000; // how long a login lasts
  TlsFiles tls;
  std::string audit;      // file; empty: the store's path and ".audit"
  store::Limits limits;
  bool is_read_only = false;
  agent::Settings settings;
  std::string version;
  std::vector<ToolRow> tools;
  std::vector<push::Target> push; // servers that get each minute's stacks, and findings
};

// Until SIGINT or SIGTERM; with users or TLS, SIGHUP has their files read again. Failure: the port or the store is in use, or cannot be opened.
base::Status serve(const ServeOptions& options);

} // namespace web
