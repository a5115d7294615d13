// `acu agent`: samplers that write to a spool, and a thread that sends what is in it.
#pragma once

#include "base/result.h"
#include "net/http_client.h"

#include <cstdint>
#include <string>

namespace fleet {

struct AgentOptions {
  net::Endpoint to;
  std::string token;
  std::string spool; // folder
  uint64_t max_bytes = uint64_t{256} << 20; // of the spool
};

// Until SIGINT or SIGTERM; then sends what was measured last. Failure: the spool is in use or cannot be written.
base::Status run_agent(const AgentOptions& options);

} // namespace fleet
