// One HTTP/1.1 request and its answer, with a deadline for everything. A connection is used once.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace net {

struct Endpoint {
  std::string host; // name or address
  uint16_t port = 0;
  bool is_encrypted = false; // https://
  std::string authorities = {}; // file of certificates, of which one must have issued the server's; empty: those of the system

  std::string shown() const; // "https://collector:7071"
};

// Of this host alone: 127.0.0.1 and the like, ::1.
bool is_loopback(std::string_view address);

// HOST[:PORT], where HOST may be an IPv6 address in brackets. Nothing: it is something else.
std::optional<Endpoint> read_endpoint(std::string_view text, uint16_t usual_port);

struct Url {
  Endpoint to;
  std::string target; // "/path?query", as written; empty: only a host is named
};
// http:// or https://, and then an endpoint. A `usual_port` of 0 means 80 or 443. Nothing: not a URL, or one with a user, a fragment, white space or control characters.
std::optional<Url> read_url(std::string_view text, uint16_t usual_port = 0);

struct HttpRequest {
  std::string target; // "/path?query", encoded
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body;
  uint32_t seconds = 60;
  uint64_t max_answer_bytes = 1 << 20; // of the body
  std::function<bool()> gives_up = {}; // asked several times a second; true: the request fails
};

struct HttpAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  // By its name, in any case; empty: there is none.
  std::string_view header(std::string_view name) const;
};

// POST. Failure (runtime): no connection, no answer in time, or no HTTP.
base::Result<HttpAnswer> post(const Endpoint& to, const HttpRequest& request);

// A value of a query.
std::string percent_encoded(std::string_view text);

} // namespace net
