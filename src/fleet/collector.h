// `acu collect`: receives batches of agents over HTTP and stores them in ClickHouse, many at once. A request is answered when its batches are stored.
#pragma once

#include "base/result.h"
#include "fleet/clickhouse.h"
#include "fleet/schema.h"
#include "web/tls.h"

#include <cstdint>
#include <string>

namespace fleet {

struct CollectorOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 7071;
  Address store;
  std::string agents; // file of tokens
  Retention keep;
  web::TlsFiles tls;
};

// Until SIGINT or SIGTERM; with TLS, SIGHUP has its files read again. Failure: the port is in use, the tokens cannot be read, or ClickHouse refuses user or schema. One that is not reachable
// is no failure: agents keep their batches until it is.
base::Status collect(const CollectorOptions& options);

} // namespace fleet
