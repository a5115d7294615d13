// The HTTP server: one port, one thread for input and output, some threads for answers. Boost.Beast reads and writes messages; limits of size and time
// hold for each message, and a limit of connections for all of them.
#pragma once

#include "base/result.h"
#include "web/http.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace web {

struct HttpLimits {
  uint32_t header_bytes = 16 << 10;
  uint64_t body_bytes = 256 << 10;
  uint32_t connections = 256;    // beyond that the one that has been idle longest is closed
  uint32_t waiting = 64;         // requests that wait for a thread
  uint32_t threads = 4;
  uint32_t request_seconds = 15; // for a whole request, and between two
  uint32_t answer_seconds = 60;  // for a client to read an answer
};

class HttpServer {
public:
  virtual ~HttpServer() = default;
  virtual uint16_t port() const = 0;
  // Every so often, on the thread of run().
  virtual void repeat(uint32_t ms, std::function<void()> work) = 0;
  // On one of the threads for answers.
  virtual void in_background(std::function<void()> work) = 0;
  // Until SIGINT or SIGTERM.
  virtual void run() = 0;
};

using Handler = std::function<Response(Request)>;
// `address`: a numeric one. Port 0: any that is free. Failure: the port is in use, or not permitted.
base::Result<std::unique_ptr<HttpServer>> listen(const std::string& address, uint16_t port, const HttpLimits& limits, Handler handler);

} // namespace web
