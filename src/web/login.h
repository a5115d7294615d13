// The login page of `acu serve --users`, and who has logged in. The page is a plain form, without a script.
//
// The form is protected by a value that is in a cookie and in the form ("double submit"): pages of other sites know neither. Passwords are checked one at a
// time (Lane::login), and wrong ones slow their sender down.
#pragma once

#include "base/result.h"
#include "web/attempts.h"
#include "web/http.h"
#include "web/sessions.h"
#include "web/users.h"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace web {

// A line of the audit: who is in the request, `arguments` are JSON.
using Note = std::function<void(const Request& request, std::string_view action, std::string_view arguments, int status)>;

class Login {
public:
  static constexpr std::string_view path = "/login", end_path = "/logout";
  static constexpr uint64_t longest_body = 4096;

  // `is_encrypted`: cookies are sent over TLS only.
  Login(std::string users_file, uint64_t session_ns, Note note) : users_file_(std::move(users_file)), session_ns_(session_ns), note_(std::move(note)) {}
  // Reads the file of users. Failure: it is wrong, and the users that were read before stay.
  base::Status read();
  size_t users();
  void set_encrypted(bool is_encrypted) { is_encrypted_ = is_encrypted; }

  // Sets client and role of a request that has a session. false: it has none.
  bool recognize(Request& request);
  // Of the header of a request to `path` or `end_path`, before its body is read; nothing: it may go on.
  static std::optional<Response> check_form(const Request& request);
  // The answer to a request to these.
  Response answer(const Request& request);
  // For a request without a session.
  Response refuse(const Request& request) const;

private:
  std::string cookie_name(std::string_view name) const { return (is_encrypted_ ? "__Host-" : "") + std::string(name); }
  std::string set_cookie(std::string_view name, std::string_view value, std::string_view more = "") const;
  Response form(const Request& request, int status, std::string_view message) const;
  Response log_in(const Request& request);
  Response log_out(const Request& request);
  std::optional<Session> session_of(const Request& request);

  const std::string users_file_;
  const uint64_t session_ns_;
  const Note note_;
  bool is_encrypted_ = false;
  std::mutex mutex_; // of what follows
  Users users_;
  Sessions sessions_;
  // Somebody else's attempts delay a user for seconds only.
  Attempts of_addresses_{5, 60'000'000'000}, of_users_{5, 10'000'000'000};
};

} // namespace web
