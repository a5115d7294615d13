// Boost.Beast and Asio throw; nothing of that leaves this file, which is compiled with exceptions.
#include "net/http_client.h"

#include "base/text.h"
#include "net/crypto.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include <algorithm>
#include <condition_variable>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <thread>

namespace net {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

using Clock = std::chrono::steady_clock;
constexpr auto look_period = std::chrono::milliseconds(50); // at gives_up()

// The resolver of libc cannot be interrupted: it has a thread of its own, which ends on its own where nobody waits for it any more.
struct Lookup {
  std::mutex mutex;
  std::condition_variable is_done;
  std::optional<tcp::resolver::results_type> found;
  error_code failed;
};

std::shared_ptr<Lookup> look_up(const Endpoint& to) {
  auto out = std::make_shared<Lookup>();
  std::thread([out, host = to.host, port = std::to_string(to.port)] {
    asio::io_context io;
    error_code failed;
    auto found = tcp::resolver(io).resolve(host, port, failed);
    const std::lock_guard lock(out->mutex);
    out->found = std::move(found), out->failed = failed;
    out->is_done.notify_all();
  }).detach();
  return out;
}

using Encrypted = beast::ssl_stream<beast::tcp_stream>;

std::string host_and_port(const Endpoint& to) { return (to.host.find(':') == to.host.npos ? to.host : "[" + to.host + "]") + ":" + std::to_string(to.port); }

// Certificates that issued those of servers, as distributions have them.
void trust(asio::ssl::context& context, const std::string& file) {
  context.set_verify_mode(asio::ssl::verify_peer);
  if (!file.empty()) return context.load_verify_file(file);
  for (const char* bundle : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    error_code failed;
    context.load_verify_file(bundle, failed);
    if (!failed) return;
  }
}

// The steps of a request. Each starts the next one; the deadline of the stream is for all of them. `Stream`: a beast::tcp_stream, or an Encrypted one.
template<class Stream> class Exchange {
public:
  template<class... Words> Exchange(const Endpoint& to, const HttpRequest& request, Words&... words) : to_(to), gives_up_(request.gives_up), max_answer_bytes_(request.max_answer_bytes), until_(Clock::now() + std::chrono::seconds(request.seconds)), stream_(io_, words...) {
    message_.method(http::verb::post);
    message_.target(request.target);
    message_.version(11);
    message_.set(http::field::host, host_and_port(to));
    message_.set(http::field::user_agent, "acu");
    message_.set(http::field::connection, "close");
    for (const auto& [name, value] : request.headers) message_.set(name, value);
    message_.body() = std::string(request.body);
    message_.prepare_payload();
    parser_.body_limit(max_answer_bytes_);
    socket().expires_at(until_);
  }

  base::Result<HttpAnswer> run() {
    auto endpoints = resolve();
    if (failed_) return failure("cannot find the host");
    socket().async_connect(endpoints, [this](error_code failed, const tcp::endpoint&) { connected(failed); });
    while (!io_.stopped() && !has_given_up()) io_.run_for(look_period);
    if (!io_.stopped()) failed_ = asio::error::operation_aborted;
    if (failed_) return failure(step_);
    HttpAnswer out = {.status = static_cast<int>(parser_.get().result_int())};
    for (const auto& field : parser_.get()) out.headers.emplace_back(field.name_string(), field.value());
    out.body = std::move(parser_.get().body());
    return out;
  }

private:
  static constexpr bool is_encrypted = std::is_same_v<Stream, Encrypted>;
  beast::tcp_stream& socket() { return beast::get_lowest_layer(stream_); }
  tcp::resolver::results_type resolve() {
    const asio::ip::address numeric = asio::ip::make_address(to_.host, failed_);
    if (!failed_) return tcp::resolver::results_type::create(tcp::endpoint(numeric, to_.port), to_.host, std::to_string(to_.port));
    const std::shared_ptr<Lookup> lookup = look_up(to_);
    std::unique_lock lock(lookup->mutex);
    while (!lookup->found && Clock::now() < until_ && !has_given_up()) lookup->is_done.wait_for(lock, look_period);
    failed_ = lookup->found ? lookup->failed : has_given_up() ? error_code(asio::error::operation_aborted) : error_code(beast::error::timeout);
    return lookup->found.value_or(tcp::resolver::results_type());
  }
  bool has_given_up() const { return gives_up_ && gives_up_(); }
  void connected(error_code failed) {
    step_ = "cannot connect";
    if ((failed_ = failed)) return;
    ::fcntl(socket().socket().native_handle(), F_SETFD, FD_CLOEXEC);
    if constexpr (is_encrypted) {
      step_ = "cannot encrypt the connection";
      error_code is_name;
      asio::ip::make_address(to_.host, is_name);
      if (is_name) ::SSL_set_tlsext_host_name(stream_.native_handle(), to_.host.c_str()); // which of its certificates the server is to send
      stream_.set_verify_callback(asio::ssl::host_name_verification(to_.host));
      return stream_.async_handshake(asio::ssl::stream_base::client, [this](error_code failed) {
        if (!(failed_ = failed)) send();
      });
    }
    send();
  }
  void send() {
    http::async_write(stream_, message_, [this](error_code failed, size_t) { written(failed); });
  }
  void written(error_code failed) {
    step_ = "cannot send";
    // A server that refuses answers before it has read everything.
    if (failed && failed != asio::error::broken_pipe && failed != asio::error::connection_reset) return void(failed_ = failed);
    http::async_read_header(stream_, buffer_, parser_, [this](error_code failed, size_t) {
      step_ = "no answer";
      if ((failed_ = failed)) return;
      if (parser_.content_length() && *parser_.content_length() > max_answer_bytes_) return void(failed_ = http::error::body_limit);
      read_body();
    });
  }
  void read_body() {
    http::async_read(stream_, buffer_, parser_, [this](error_code failed, size_t) {
      failed_ = failed;
      // Its length was in the header, or its end was signed: nobody has cut it.
      if (failed == asio::ssl::error::stream_truncated && parser_.is_done()) failed_ = {};
    });
  }
  base::Error failure(std::string_view what) const {
    const std::string why = failed_ == beast::error::timeout ? "no answer in time" : failed_ == asio::error::operation_aborted ? "given up" : failed_.message();
    const std::string cause = failed_.category() == asio::error::get_ssl_category() ? why_not_trusted() : "";
    return {base::Failure::runtime, std::string(what) + ": " + to_.host + ":" + std::to_string(to_.port) + ": " + (cause.empty() ? why : cause)};
  }
  // Empty: the server's certificate is not the reason.
  std::string why_not_trusted() const {
    if constexpr (is_encrypted) {
      const long result = ::SSL_get_verify_result(const_cast<Stream&>(stream_).native_handle());
      const std::string hint = to_.authorities.empty() ? "\nhint: name the certificates to trust: --tls-ca FILE (acu agent), or ca=FILE behind the URL (acu serve --push)" : "";
      if (result != X509_V_OK) return "the certificate is not trusted: " + std::string(::X509_verify_cert_error_string(result)) + hint;
      if (failed_.value() && ERR_GET_REASON(static_cast<unsigned long>(failed_.value())) == SSL_R_CERTIFICATE_VERIFY_FAILED) return "the certificate is for another name";
    }
    return {};
  }

  const Endpoint& to_;
  const std::function<bool()>& gives_up_;
  const uint64_t max_answer_bytes_;
  const Clock::time_point until_;
  asio::io_context io_{1};
  Stream stream_;
  http::request<http::string_body> message_;
  http::response_parser<http::string_body> parser_;
  beast::flat_buffer buffer_{64 << 10};
  error_code failed_;
  std::string_view step_ = "cannot connect";
};

} // namespace

base::Result<HttpAnswer> post(const Endpoint& to, const HttpRequest& request) {
  try {
    if (!to.is_encrypted) return Exchange<beast::tcp_stream>(to, request).run();
    ACU_CHECK(load_tls());
    asio::ssl::context context(asio::ssl::context::tls_client);
    if (SSL_CTX_get_min_proto_version(context.native_handle()) < TLS1_2_VERSION) SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION); // as in web/tls.cc
    trust(context, to.authorities);
    return Exchange<Encrypted>(to, request, context).run();
  } catch (const std::exception& thrown) {
    return base::Error{base::Failure::runtime, "cannot send to " + to.host + ": " + thrown.what()};
  }
}

std::string Endpoint::shown() const { return (is_encrypted ? "https://" : "http://") + host_and_port(*this); }

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

std::optional<Endpoint> read_endpoint(std::string_view text, uint16_t usual_port) {
  size_t colon = text.rfind(':');
  if (const size_t bracket = text.rfind(']'); bracket != text.npos && colon != text.npos && colon < bracket) colon = text.npos;
  const auto port = colon == text.npos ? std::optional<uint64_t>(usual_port) : base::parse_integer(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const bool is_wrong = std::ranges::any_of(host, [](unsigned char c) { return c <= ' ' || c == 0x7f || std::string_view("/@?#[]\\").find(static_cast<char>(c)) != std::string_view::npos; });
  if (!port || *port == 0 || *port > 65535 || host.empty() || is_wrong) return {};
  return Endpoint{.host = std::string(host), .port = static_cast<uint16_t>(*port)};
}

std::optional<Url> read_url(std::string_view text, uint16_t usual_port) {
  constexpr std::string_view plain = "http://", encrypted = "https://";
  const bool is_encrypted = text.starts_with(encrypted);
  if (!is_encrypted && !text.starts_with(plain)) return {};
  const std::string_view rest = text.substr(is_encrypted ? encrypted.size() : plain.size());
  const size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view target = rest.substr(end);
  if (std::ranges::any_of(target, [](unsigned char c) { return c <= ' ' || c >= 0x7f || c == '#'; })) return {};
  auto to = read_endpoint(rest.substr(0, end), usual_port ? usual_port : is_encrypted ? 443 : 80);
  if (!to) return {};
  to->is_encrypted = is_encrypted;
  return Url{std::move(*to), (target.starts_with('?') ? "/" : "") + std::string(target)};
}

std::string_view HttpAnswer::header(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [&](const auto& header) { return beast::iequals(beast::string_view(header.first.data(), header.first.size()), beast::string_view(name.data(), name.size())); });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (unsigned char c : text) {
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.') {
      out += static_cast<char>(c);
      continue;
    }
    out += '%', out += "0123456789ABCDEF"[c >> 4], out += "0123456789ABCDEF"[c & 15];
  }
  return out;
}

} // namespace net
