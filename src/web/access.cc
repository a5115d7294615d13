// Nothing is answered before this has looked at it, but /healthz.
#include "web/access.h"

#include "base/fd.h"
#include "base/output_file.h"
#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

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

std::string make_token() {
  unsigned char bytes[32];
  size_t filled = 0;
  while (filled < sizeof bytes)
    if (const ssize_t n = ::getrandom(bytes + filled, sizeof bytes - filled, 0); n > 0) filled += static_cast<size_t>(n);
  std::string out;
  for (unsigned char byte : bytes) out += "0123456789abcdef"[byte >> 4], out += "0123456789abcdef"[byte & 15];
  return out;
}

bool is_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char differs = 0;
  for (size_t i = 0; i < a.size(); i++) differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return !differs;
}

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
  struct stat about = {};
  if (::lstat(path.c_str(), &about) != 0) return base::errno_error("cannot read the token file `" + path + "`", errno);
  if (!S_ISREG(about.st_mode) || (about.st_uid != 0 && about.st_uid != ::geteuid()))
    return base::Error{base::Failure::usage, "the token file `" + path + "` is not a regular file of yours: who wrote it knows the token\nhint: name a file that does not exist, which acu serve then makes"};
  if (about.st_mode & 077) return base::Error{base::Failure::usage, "others may read the token file `" + path + "`\nhint: chmod 600 " + path};
  ACU_TRY(const std::string text, base::read_file(path));
  file_token_ = base::trim(text);
  if (file_token_.size() < shortest) return base::Error{base::Failure::usage, "the token file `" + path + "` has fewer than 32 characters\nhint: remove it, and acu serve makes one"};
  return {};
}

std::optional<Response> Access::log_in(const Request& request) {
  std::string session;
  {
    const std::lock_guard lock(mutex_);
    if (!is_equal(request.parameter("token"), token_)) return failure(401, "the token is wrong, or was used before\nhint: acu serve prints a new address for each session");
    token_ = make_token();
    session = make_token();
    constexpr size_t most_sessions = 100;
    if (sessions_.size() >= most_sessions) sessions_.clear(); // nobody has so many browsers
    sessions_[session] = "session " + std::to_string(++opened_);
  }
  print_token();
  return Response{.status = 303, .type = "text/plain", .headers = {{"Location", "/"}, {"Set-Cookie", "acu=" + session + "; HttpOnly; SameSite=Strict; Path=/"}}};
}

std::optional<Response> Access::check(Request& request) {
  if (std::ranges::find(hosts_, request.header("host")) == hosts_.end()) return failure(403, "the request is for another host (header Host)");
  if (request.path == "/healthz") return std::nullopt;
  if (request.method == Method::other) return failure(405, "only GET, HEAD, POST and DELETE are known here");
  if (request.path == "/" && request.method == Method::get && request.has("token")) return log_in(request);
  const std::string_view authorization = request.header("authorization");
  constexpr std::string_view bearer = "Bearer ";
  if (!file_token_.empty() && authorization.starts_with(bearer) && is_equal(authorization.substr(bearer.size()), file_token_)) {
    request.client = "token file";
  } else {
    const std::lock_guard lock(mutex_);
    const auto session = sessions_.find(std::string(cookie(request.header("cookie"), "acu")));
    if (session == sessions_.end()) return not_logged_in(request);
    request.client = session->second;
  }
  if (request.method == Method::get || request.method == Method::head) return std::nullopt;
  const std::string_view origin = request.header("origin");
  if (!origin.empty() && origin != "http://" + std::string(request.header("host"))) return failure(403, "the request comes from a page of another site (header Origin)");
  if (request.header("x-acu").empty()) return failure(403, "a change needs the header `X-Acu: 1`");
  if (!request.body.empty() && !request.header("content-type").starts_with("application/json")) return failure(400, "the body is not JSON: `Content-Type: application/json` is missing");
  return std::nullopt;
}

} // namespace web
