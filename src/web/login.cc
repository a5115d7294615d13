// Cookies with the prefix `__Host-` (draft-ietf-httpbis-rfc6265bis, section 4.1.3) cannot be set by other hosts of the domain or without TLS.
#include "web/login.h"

#include "base/clock.h"
#include "base/text.h"
#include "report/json_object.h"
#include "web/pages.h"

#include <algorithm>

namespace web {

namespace {

constexpr std::string_view session_cookie = "acu", form_cookie = "acu-form";
constexpr size_t token_size = 64;

constexpr std::string_view page_start =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>Log in · acu</title><style>"
    ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}main{max-width:20rem;margin:15vh auto;padding:0 1rem}label{display:block;margin:.8rem 0 .2rem}"
    "input{width:100%;box-sizing:border-box;font:inherit;padding:.4rem}button{font:inherit;margin-top:1.2rem;padding:.4rem 1.2rem}[role=alert]{border-left:.3rem solid #c33;padding-left:.6rem}"
    "</style></head><body><main><h1>acu</h1>\n";
constexpr std::string_view page_end = "</main></body></html>\n";

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

// An IPv6 network of 64 bits is one sender: its addresses are free to choose.
std::string sender_of(const std::string& address) {
  if (address.find(':') == address.npos) return address;
  if (address.starts_with("::ffff:")) return address.substr(7);
  std::string out;
  size_t groups = 0;
  for (std::string_view group : base::split(address.substr(0, address.find("::")), ':'))
    if (groups++ < 4) out += std::string(group) + ":";
  return out;
}

bool is_token(std::string_view text) { return text.size() == token_size && text.find_first_not_of("0123456789abcdef") == text.npos; }

// The fields of a form (application/x-www-form-urlencoded), as parameters.
bool read_form(std::string_view body, Request& to) { return read_target("/?" + std::string(body), to); }

Response redirect(std::string_view to, std::vector<std::pair<std::string, std::string>> headers) {
  headers.emplace_back("Location", to);
  return {.status = 303, .type = "text/plain", .headers = std::move(headers)};
}

} // namespace

base::Status Login::read() {
  ACU_TRY(Users users, read_users(users_file_));
  (void)nobodys_hash(); // takes a moment, once
  const std::lock_guard lock(mutex_);
  users_ = std::move(users);
  return {};
}

size_t Login::users() {
  const std::lock_guard lock(mutex_);
  return users_.size();
}

std::string Login::set_cookie(std::string_view name, std::string_view value, std::string_view more) const {
  return cookie_name(name) + "=" + std::string(value) + "; HttpOnly; SameSite=Strict; Path=/" + (is_encrypted_ ? "; Secure" : "") + std::string(more);
}

std::optional<Session> Login::session_of(const Request& request) {
  const std::string_view value = cookie(request.header("cookie"), cookie_name(session_cookie));
  if (value.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  std::optional<Session> session = sessions_.find(value, base::clock_ns(CLOCK_BOOTTIME));
  if (!session) return std::nullopt;
  // The file may have been read again since: its user may be gone, have another password, or another role.
  const auto user = users_.find(session->client);
  if (user == users_.end() || user->second.hash != session->password_hash) {
    sessions_.close(value);
    return std::nullopt;
  }
  session->role = user->second.role;
  return session;
}

bool Login::recognize(Request& request) {
  const std::optional<Session> session = session_of(request);
  if (session) request.client = session->client, request.role = session->role;
  return session.has_value();
}

Response Login::refuse(const Request& request) const {
  if (request.path == "/" && (request.method == Method::get || request.method == Method::head)) return redirect(path, {{"Cache-Control", "no-store"}});
  Response out = failure(401, "no session, or it has ended\nhint: log in at " + std::string(path) + ", or send the token of --token-file as `Authorization: Bearer TOKEN`");
  out.headers.emplace_back("Location", path); // for the console
  return out;
}

std::optional<Response> Login::check_form(const Request& request) {
  if (request.method == Method::get || request.method == Method::head) return request.path == path ? std::nullopt : std::optional(failure(405, "method not allowed"));
  if (request.method != Method::post) return failure(405, "method not allowed");
  const std::string_view type = request.header("content-type"), length = request.header("content-length");
  const bool is_own = !request.header("x-acu").empty() && request.path == end_path; // of the console
  if (!is_own && !type.starts_with("application/x-www-form-urlencoded")) return failure(400, "the body is not a form: `Content-Type: application/x-www-form-urlencoded` is missing");
  if (!request.header("transfer-encoding").empty()) return failure(411, "the form needs a Content-Length");
  const auto bytes = base::parse_integer(length);
  if (!length.empty() && (!bytes || *bytes > longest_body)) return failure(413, "the form is larger than 4 KiB");
  return std::nullopt;
}

// The page with the form, or for somebody who has logged in, that of the way out.
Response Login::form(const Request& request, int status, std::string_view message) const {
  const std::string_view known = cookie(request.header("cookie"), cookie_name(form_cookie));
  const std::string token = is_token(known) ? std::string(known) : make_token();
  const std::string hidden = "<input type=\"hidden\" name=\"form\" value=\"" + token + "\">";
  std::string html(page_start);
  if (!message.empty()) html += "<p role=\"alert\">" + escaped(message) + "</p>\n";
  if (request.client.empty())
    html += "<form method=\"post\" action=\"/login\">" + hidden +
            "<label for=\"name\">User</label><input id=\"name\" name=\"name\" autocomplete=\"username\" autocapitalize=\"none\" maxlength=\"64\" required autofocus>"
            "<label for=\"password\">Password</label><input id=\"password\" name=\"password\" type=\"password\" autocomplete=\"current-password\" maxlength=\"1024\" required>"
            "<button>Log in</button></form>\n";
  else
    html += "<p>Logged in as " + escaped(request.client) + " (" + std::string(name_of(request.role)) + "). <a href=\"/\">To the console</a></p><form method=\"post\" action=\"/logout\">" + hidden + "<button>Log out</button></form>\n";
  html += page_end;
  const std::string policy = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " + hashes_of(html);
  // With `no-referrer`, browsers would send `Origin: null`.
  return {.status = status, .type = "text/html; charset=utf-8", .body = std::move(html),
          .headers = {{"Content-Security-Policy", policy}, {"Set-Cookie", set_cookie(form_cookie, token)}, {"Referrer-Policy", "same-origin"}, {"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}}};
}

Response Login::answer(const Request& request) {
  if (request.method == Method::get || request.method == Method::head) return form(request, 200, "");
  return request.path == path ? log_in(request) : log_out(request);
}

Response Login::log_in(const Request& request) {
  Request fields;
  const std::string_view token = cookie(request.header("cookie"), cookie_name(form_cookie));
  if (request.body.size() > longest_body || !read_form(request.body, fields)) return form(request, 400, "The form is damaged. Try again.");
  if (!is_token(token) || !is_equal(token, fields.parameter("form"))) return form(request, 403, "The form was too old, or came from another page. Try again.");
  const std::string name(fields.parameter("name").substr(0, 64)), sender = sender_of(request.address);
  const std::string_view password = fields.parameter("password");

  // Wrong passwords delay the next attempt of the address and of the user.
  User user = {.hash = nobodys_hash()};
  bool is_known = false;
  {
    const std::lock_guard lock(mutex_);
    const uint64_t now = base::clock_ns(CLOCK_BOOTTIME), of_address = of_addresses_.wait_ns(sender, now), of_user = of_users_.wait_ns(name, now), wait = std::max(of_address, of_user);
    if (wait) {
      if (of_address) // counted once
        of_addresses_.too_early(sender);
      else
        of_users_.too_early(name);
      const std::string seconds = std::to_string((wait + 999'999'999) / 1'000'000'000);
      Response out = form(request, 429, "Too many wrong passwords. Try again in " + seconds + (seconds == "1" ? " second." : " seconds."));
      out.headers.emplace_back("Retry-After", seconds);
      return out;
    }
    if (const auto at = users_.find(name); at != users_.end()) user = at->second, is_known = true;
  }
  const bool is_right = password.size() <= longest_password && is_password(user.hash, password) && is_known;

  std::string value;
  report::JsonObject arguments;
  {
    const std::lock_guard lock(mutex_);
    const uint64_t now = base::clock_ns(CLOCK_BOOTTIME);
    if (is_right) {
      sessions_.close(cookie(request.header("cookie"), cookie_name(session_cookie)));
      value = sessions_.open({.client = name, .role = user.role, .password_hash = user.hash, .ends_ns = now + session_ns_});
    } else {
      of_addresses_.failed(sender, now), of_users_.failed(name, now);
    }
    arguments.add("user", name).add("too_early", of_addresses_.take_refused(sender) + of_users_.take_refused(name));
  }
  Request noted = request;
  noted.client = is_right ? name : "";
  note_(noted, "login", arguments.end(), is_right ? 303 : 401);
  if (!is_right) return form(request, 401, "User or password is wrong.");
  return redirect("/", {{"Set-Cookie", set_cookie(session_cookie, value, "; Max-Age=" + std::to_string(session_ns_ / 1'000'000'000))}, {"Cache-Control", "no-store"}});
}

Response Login::log_out(const Request& request) {
  const bool is_of_console = !request.header("x-acu").empty();
  if (!is_of_console) {
    Request fields;
    const std::string_view token = cookie(request.header("cookie"), cookie_name(form_cookie));
    if (request.body.size() > longest_body || !read_form(request.body, fields) || !is_token(token) || !is_equal(token, fields.parameter("form")))
      return form(request, 403, "The form was too old, or came from another page. Try again.");
  }
  {
    const std::lock_guard lock(mutex_);
    sessions_.close(cookie(request.header("cookie"), cookie_name(session_cookie)));
  }
  note_(request, "logout", "{}", 303);
  const std::pair<std::string, std::string> removed = {"Set-Cookie", set_cookie(session_cookie, "", "; Max-Age=0")};
  if (is_of_console) return {.body = "{}", .headers = {removed, {"Cache-Control", "no-store"}}};
  return redirect(path, {removed, {"Cache-Control", "no-store"}});
}

} // namespace web
