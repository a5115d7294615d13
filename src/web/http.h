// A request and its response, without the library that reads and writes them.
#pragma once

#include "web/role.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace web {

enum class Method : uint8_t { get, head, post, erase, other };

struct Request {
  Method method = Method::get;
  std::string path; // percent-decoded: "/api/flame"
  std::vector<std::pair<std::string, std::string>> parameters; // behind `?`, decoded
  std::vector<std::pair<std::string, std::string>> headers;    // names in lower case
  std::string body;
  std::string address; // of the other end: "10.0.0.7"
  std::string client; // who asks, for the audit: set by Access, as is the role
  Role role = Role::view;

  // Empty: there is none.
  std::string_view header(std::string_view lower_name) const;
  std::string_view parameter(std::string_view name) const;
  bool has(std::string_view name) const;
  // By its header, before the body is read.
  bool has_body() const;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// {"error": …, "hint": …}. A message's second line, "hint: …", is the hint.
Response failure(int status, std::string_view message);

// A target as requests have it ("/api/flame?kind=cpu"). false: it is no path, or has a damaged escape, a 0 byte or `..`.
bool read_target(std::string_view target, Request& to);
// The value of a cookie; empty: there is none.
std::string_view cookie(std::string_view header, std::string_view name);

} // namespace web
