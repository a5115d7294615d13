// The HTTP server: one port, one thread for input and output, some threads for answers. Boost.Beast reads and writes messages; limits of size and time
// hold for each message, and a limit of connections for all of them. The body of a request is read once its header has been admitted. Requests that may take seconds have threads of their own, so that they never keep the
// others waiting.
#pragma once

#include "base/result.h"
#include "web/http.h"
#include "web/tls.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace web {

struct HttpLimits {
  uint32_t header_bytes = 16 << 10;
  uint64_t body_bytes = 256 << 10;
  uint32_t connections = 256;    // beyond that the one that has been idle longest is closed
  uint32_t threads = 2, waiting = 64;           // for answers, and requests that wait for one of these
  uint32_t slow_threads = 4, slow_waiting = 16; // of requests that may take seconds
  uint32_t login_waiting = 8;
  uint64_t waiting_bytes = 64 << 20; // of the bodies of all requests of a lane
  uint32_t request_seconds = 15; // for a whole request, and between two
  uint32_t answer_seconds = 60;  // for a client to read an answer
};

class HttpServer {
public:
  virtual ~HttpServer() = default;
  virtual uint16_t port() const = 0;
  // Every so often, on the thread of run().
  virtual void repeat(uint32_t ms, std::function<void()> work) = 0;
  // One after the other, on a thread of its own.
  virtual void in_background(std::function<void()> work) = 0;
  // New connections are encrypted from now on; before run(), or on its thread.
  virtual void use_tls(std::shared_ptr<const Tls> tls) = 0;
  // On SIGHUP, which ends acu otherwise; on the thread of run().
  virtual void on_hangup(std::function<void()> work) = 0;
  // Until stop(), and where the service ends on signals until SIGINT or SIGTERM.
  virtual void run() = 0;
  virtual void stop() = 0; // from any thread
};

// Which threads answer a request.
enum class Lane : uint8_t {
  quick,
  slow,  // may take seconds
  login, // takes memory: one at a time
};

struct Service {
  // Sees the header before the body is read, on the thread of run(). A response refuses the request.
  std::function<std::optional<Response>(Request&)> admit;
  std::function<Response(Request)> answer;
  std::function<Lane(const Request&)> lane;
  std::vector<std::pair<std::string, std::string>> headers = {}; // of every response
  bool ends_on_signals = true; // false: signals are another's
};
// `address`: a numeric one. Port 0: any that is free. Failure: the port is in use, or not permitted.
base::Result<std::unique_ptr<HttpServer>> listen(const std::string& address, uint16_t port, const HttpLimits& limits, Service service);

} // namespace web
