// Who may ask: tokens, sessions, users, and what every request must have.
//
// Without users, a token in a printed URL opens one session of a browser and is then replaced. With users (login.h), the login page opens sessions. Either is a
// cookie that scripts cannot read and other sites do not send. Programs have the token of a file. A request from a page of another site fails for its Host,
// its Origin, or the header that changes need.
#pragma once

#include "base/result.h"
#include "web/http.h"
#include "web/login.h"
#include "web/sessions.h"
#include "web/tls.h"

#include <cstdint>
#include <functional>
#include <memory>
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
  // From now on there is a login page, and no token in a URL.
  base::Status use_users(const std::string& path, uint64_t session_ns, Note note);
  // Connections are encrypted; names of the certificate mean this server, too.
  void use_tls(std::shared_ptr<const Tls> tls);
  void print_token();
  // Of users; nothing: there is no login page.
  Login* login() { return login_ ? &*login_ : nullptr; }

  // Nothing: the request may go on, and its client is set. Its body need not be read yet.
  std::optional<Response> check(Request& request);
  bool is_login(const Request& request) const { return login_ && (request.path == Login::path || request.path == Login::end_path); }

private:
  std::optional<Response> log_in(const Request& request);
  std::optional<Response> check_host(const Request& request);
  bool recognize(Request& request);
  std::string cookie_name() const { return is_encrypted_ ? "__Host-acu" : "acu"; }

  std::vector<std::string> hosts_;
  std::function<void(const std::string&)> print_;
  std::optional<Login> login_;
  bool is_encrypted_ = false;
  std::mutex mutex_; // of what follows
  std::shared_ptr<const Tls> tls_;
  std::string token_, file_token_;
  Sessions sessions_;
  uint64_t opened_ = 0;
};

} // namespace web
