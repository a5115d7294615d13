// Nothing is answered before this has looked at it, but /healthz.
#include "web/access.h"

#include "base/fd.h"
#include "base/output_file.h"
#include "base/text.h"
#include "net/private_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace web {

namespace {

constexpr std::string_view login_page =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>acu</title></head>\n"
    "<body><h1>acu</h1><p>Open the address that <code>acu serve</code> printed: it has a token, which opens one session. After that it prints the next one.</p></body></html>\n";

Response not_logged_in(const Request& request) {
  if (request.path == "/") return {.status = 401, .type = "text/html; charset=utf-8", .body = std::string(login_page), .headers = {{"Content-Security-Policy", "default-src 'none'"}}};
  return failure(401, "no session\nhint: open the address that acu serve printed, or send the token of --token-file as `Authorization: Bearer TOKEN`");
}

} // namespace

Access::Access(std::vector<std::string> hosts, std::function<void(const std::string&)> print) : hosts_(std::move(hosts)), print_(std::move(print)), token_(make_token()) {}

void Access::print_token() { print_(token_); }

base::Status Access::use_token_file(const std::string& path) {
  constexpr size_t shortest = 32;
  base::Fd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (made.valid()) {
    if (const int error = base::write_all(made.get(), make_token() + "\n")) return base::errno_error("cannot write `" + path + "`", error);
  } else if (errno != EEXIST) {
    return base::errno_error("cannot write the token file `" + path + "`", errno);
  }
  ACU_TRY(const std::string text, net::read_private("the token file", path));
  file_token_ = base::trim(text);
  if (file_token_.size() < shortest) return base::Error{base::Failure::usage, "the token file `" + path + "` has fewer than 32 characters\nhint: remove it, and acu serve makes one"};
  return {};
}

base::Status Access::use_users(const std::string& path, uint64_t session_ns, Note note) {
  login_.emplace(path, session_ns, std::move(note));
  login_->set_encrypted(is_encrypted_);
  return login_->read();
}

void Access::use_tls(std::shared_ptr<const Tls> tls) {
  const std::lock_guard lock(mutex_);
  tls_ = std::move(tls), is_encrypted_ = true;
}

std::optional<Response> Access::log_in(const Request& request) {
  std::string session;
  {
    const std::lock_guard lock(mutex_);
    if (!is_equal(request.parameter("token"), token_)) return failure(401, "the token is wrong, or was used before\nhint: acu serve prints a new address for each session");
    token_ = make_token();
    session = sessions_.open({.client = "session " + std::to_string(++opened_)});
  }
  print_token();
  return Response{.status = 303, .type = "text/plain", .headers = {{"Location", "/"}, {"Set-Cookie", cookie_name() + "=" + session + "; HttpOnly; SameSite=Strict; Path=/" + (is_encrypted_ ? "; Secure" : "")}}};
}

std::optional<Response> Access::check_host(const Request& request) {
  const std::string_view host = request.header("host");
  if (std::ranges::find(hosts_, host) != hosts_.end()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (tls_ && tls_->is_for(host)) return std::nullopt;
  return failure(403, std::string("the request is for another host (header Host)") + (tls_ ? "\nhint: use a name of the certificate" : ""));
}

// Sets client and role.
bool Access::recognize(Request& request) {
  const std::string_view authorization = request.header("authorization");
  constexpr std::string_view bearer = "Bearer ";
  if (!file_token_.empty() && authorization.starts_with(bearer) && is_equal(authorization.substr(bearer.size()), file_token_)) {
    request.client = "token file", request.role = login_ ? Role::view : Role::admin;
    return true;
  }
  if (login_) return login_->recognize(request);
  const std::lock_guard lock(mutex_);
  const std::optional<Session> session = sessions_.find(cookie(request.header("cookie"), cookie_name()), 0);
  if (session) request.client = session->client, request.role = session->role;
  return session.has_value();
}

std::optional<Response> Access::check(Request& request) {
  if (auto refused = check_host(request)) return refused;
  if (request.path == "/healthz") return std::nullopt;
  if (request.method == Method::other) return failure(405, "only GET, HEAD, POST and DELETE are known here");
  if (!login_ && request.path == "/" && request.method == Method::get && request.has("token")) return log_in(request);
  const bool is_known = recognize(request), is_form = is_login(request);
  if (!is_known && !(is_form && request.path == Login::path)) return login_ ? login_->refuse(request) : not_logged_in(request);
  if (is_form)
    if (auto refused = Login::check_form(request)) return refused;
  if (request.method == Method::get || request.method == Method::head) return std::nullopt;
  const std::string_view origin = request.header("origin");
  if (!origin.empty() && origin != (is_encrypted_ ? "https://" : "http://") + std::string(request.header("host"))) return failure(403, "the request comes from a page of another site (header Origin)");
  if (is_form) return std::nullopt; // the form has a value of its own
  if (request.header("x-acu").empty()) return failure(403, "a change needs the header `X-Acu: 1`");
  if (request.has_body() && !request.header("content-type").starts_with("application/json")) return failure(400, "the body is not JSON: `Content-Type: application/json` is missing");
  return std::nullopt;
}

} // namespace web
