// Who may ask: tokens, sessions, and what every request must have.
//
// A token in a printed URL opens one session of a browser and is then replaced; the session is a cookie that scripts cannot read and other sites do not
// send. Programs have the token of a file. A request from a page of another site fails for its Host, its Origin, or the header that changes need.
#pragma once

#include "base/result.h"
#include "web/http.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace web {

class Access {
public:
  // `hosts`: values of Host that mean this server. `print`: shows the URL that opens the next session.
  Access(std::vector<std::string> hosts, std::function<void(const std::string& token)> print);
  // Reads the token for programs from a file, which is made if it is not there. Failure: others can read it, or it is too short.
  base::Status use_token_file(const std::string& path);
  void print_token();

  // Nothing: the request may go on, and its client is set.
  std::optional<Response> check(Request& request);

private:
  std::optional<Response> log_in(const Request& request);

  std::vector<std::string> hosts_;
  std::function<void(const std::string&)> print_;
  std::mutex mutex_;
  std::string token_, file_token_;
  std::map<std::string, std::string> sessions_; // to names of clients
  uint64_t opened_ = 0;
};

// 32 random bytes, hexadecimal.
std::string make_token();
// In a time that does not depend on where they differ.
bool is_equal(std::string_view a, std::string_view b);

} // namespace web
