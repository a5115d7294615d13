// `acu serve`: samplers, the store's upkeep, and the HTTP server, from start to end.
#pragma once

#include "agent/verb.h"
#include "store/store.h"
#include "web/api.h"

#include <string>
#include <vector>

namespace web {

struct ServeOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 7070;
  std::string store;      // path
  std::string token_file; // empty: none
  std::string audit;      // file; empty: the store's path and ".audit"
  store::Limits limits;
  bool is_read_only = false;
  agent::Settings settings;
  std::string version;
  std::vector<ToolRow> tools;
};

// Until SIGINT or SIGTERM. Failure: the port or the store is in use, or cannot be opened.
base::Status serve(const ServeOptions& options);

} // namespace web
