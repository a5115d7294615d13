// Boost.Beast and Asio throw; nothing of that leaves this file, which is compiled with exceptions.
//
// A connection is always in one of three states: it reads a request (with a deadline for all of it; the body only once the header has been admitted), its request is answered on a thread, or it writes
// the answer (with a deadline). Idle connections are those that read; they are listed by age. With TLS, a connection begins with its handshake, which counts as reading.
#include "web/http_server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include <atomic>
#include <fcntl.h>
#include <list>
#include <optional>

namespace web {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

class Connection {
public:
  virtual ~Connection() = default;
  // The end of its read releases it.
  virtual void close() = 0;
};

// Threads for answers, and the requests that are with them.
struct Pool {
  Pool(uint32_t n, uint32_t waiting) : most(n + waiting), threads(n) {}
  ~Pool() { threads.join(); }
  const uint32_t most;
  std::atomic<uint32_t> requests = 0;
  std::atomic<uint64_t> bytes = 0; // of their bodies
  asio::thread_pool threads;
};

struct Shared {
  HttpLimits limits;
  Service service;
  std::list<Connection*> idle; // the oldest first
  uint32_t connections = 0;
  // Destroyed first: they hold the last connections, which leave the list above.
  asio::io_context io{1};
  std::optional<Pool> quick, slow, login, background;

  Pool& pool(Lane lane) { return lane == Lane::slow ? *slow : lane == Lane::login ? *login : *quick; }
  void stop() { // requests that have not begun are dropped
    for (std::optional<Pool>* pool : {&quick, &slow, &login, &background}) (*pool)->threads.stop();
    for (std::optional<Pool>* pool : {&quick, &slow, &login, &background}) pool->reset();
  }
};

Method method_of(http::verb verb) {
  switch (verb) {
  case http::verb::get: return Method::get;
  case http::verb::head: return Method::head;
  case http::verb::post: return Method::post;
  case http::verb::delete_: return Method::erase;
  default: return Method::other;
  }
}

std::string_view busy(Lane lane) {
  switch (lane) {
  case Lane::slow: return "too many requests that take long\nhint: try again in a few seconds";
  case Lane::login: return "too many logins at once\nhint: try again in a few seconds";
  case Lane::quick: break;
  }
  return "too many requests at once\nhint: try again in a second";
}

using Encrypted = beast::ssl_stream<beast::tcp_stream>;

// `Stream`: a beast::tcp_stream, or an Encrypted one.
template<class Stream> class StreamConnection final : public Connection, public std::enable_shared_from_this<StreamConnection<Stream>> {
public:
  template<class... Words> StreamConnection(std::string address, Shared& shared, Words&&... words) : stream_(std::forward<Words>(words)...), shared_(shared), address_(std::move(address)) { shared_.connections++; }
  ~StreamConnection() override {
    leave_idle();
    shared_.connections--;
  }

  void begin() {
    if constexpr (is_encrypted) {
      socket().expires_after(std::chrono::seconds(shared_.limits.request_seconds));
      idle_at_ = shared_.idle.insert(shared_.idle.end(), this);
      beast::async_detect_ssl(socket(), buffer_, [self = this->shared_from_this()](error_code failed, bool is_tls) { self->has_looked(failed, is_tls); });
    } else {
      read();
    }
  }
  void close() override {
    leave_idle();
    error_code ignored;
    socket().socket().close(ignored);
  }

private:
  static constexpr bool is_encrypted = std::is_same_v<Stream, Encrypted>;
  beast::tcp_stream& socket() { return beast::get_lowest_layer(stream_); }

  void has_looked(error_code failed, bool is_tls) {
    if (failed) return;
    if constexpr (is_encrypted) {
      if (!is_tls) return turn_away();
      stream_.async_handshake(asio::ssl::stream_base::server, buffer_.data(), [self = this->shared_from_this()](error_code failed, size_t used) {
        if (failed) return; // OpenSSL has sent an alert
        self->buffer_.consume(used);
        self->leave_idle();
        self->read();
      });
    }
  }
  // A browser that was given http:// instead of https://.
  void turn_away() {
    leave_idle();
    answer_.emplace(http::status::bad_request, 11);
    answer_->set(http::field::content_type, "text/plain");
    answer_->keep_alive(false);
    answer_->body() = "this port is encrypted: the address begins with https://\n";
    answer_->prepare_payload();
    socket().expires_after(std::chrono::seconds(shared_.limits.request_seconds));
    http::async_write(socket(), *answer_, [self = this->shared_from_this()](error_code failed, size_t) {
      if (!failed) self->end();
    });
  }

  void read() {
    parser_.emplace();
    parser_->header_limit(shared_.limits.header_bytes);
    parser_->body_limit(shared_.limits.body_bytes);
    socket().expires_after(std::chrono::seconds(shared_.limits.request_seconds));
    idle_at_ = shared_.idle.insert(shared_.idle.end(), this);
    http::async_read_header(stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code failed, size_t) { self->has_read_header(failed); });
  }

  void leave_idle() {
    if (idle_at_) shared_.idle.erase(*idle_at_);
    idle_at_.reset();
  }

  // Whether the request ends here: the other end has gone, or sends what is not accepted.
  bool ends_with(error_code failed) {
    if (!failed) return false;
    leave_idle();
    if (failed == http::error::end_of_stream || failed == asio::error::operation_aborted || failed == asio::error::connection_reset || failed == asio::error::eof) return true;
    if (failed == http::error::partial_message) return true;
    if (failed == beast::error::timeout) return true; // the stream is closed already
    if (failed == asio::ssl::error::stream_truncated || failed.category() == asio::error::get_ssl_category()) return true;
    if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
      refuse(failure(431, "the header of the request is too large"));
    else if (failed == http::error::body_limit)
      refuse(failure(413, "the body of the request is too large"));
    else
      refuse(failure(400, "the request is not HTTP/1.1: " + failed.message()));
    return true;
  }

  void has_read_header(error_code failed) {
    if (ends_with(failed)) return;
    const auto& message = parser_->get();
    is_head_ = message.method() == http::verb::head;
    request_ = {};
    request_.address = address_;
    request_.method = method_of(message.method());
    if (!read_target({message.target().data(), message.target().size()}, request_)) return refuse(failure(400, "invalid request target"));
    for (const auto& field : message) {
      std::string name(field.name_string());
      for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 'a' - 'A');
      request_.headers.emplace_back(std::move(name), std::string(field.value()));
    }
    if (auto refused = shared_.service.admit(request_)) {
      if (request_.has_body()) return refuse(std::move(*refused)); // which is not read
      leave_idle();
      keeps_ = message.keep_alive();
      return write(std::move(*refused));
    }
    http::async_read(stream_, buffer_, *parser_, [self = this->shared_from_this()](error_code failed, size_t) { self->has_read(failed); });
  }

  void has_read(error_code failed) {
    if (ends_with(failed)) return;
    leave_idle();
    keeps_ = parser_->get().keep_alive();
    request_.body = std::move(parser_->get().body());
    const Lane lane = shared_.service.lane(request_);
    Pool& pool = shared_.pool(lane);
    const uint64_t size = request_.body.size();
    if (pool.requests >= pool.most || pool.bytes + size > shared_.limits.waiting_bytes) return refuse(failure(503, busy(lane)));
    pool.requests++, pool.bytes += size;
    socket().expires_never();
    asio::post(pool.threads, [self = this->shared_from_this(), &pool, size, request = std::move(request_)]() mutable {
      Response response;
      try {
        response = self->shared_.service.answer(std::move(request));
      } catch (const std::exception&) { // of the standard library: no memory
        response = failure(500, "out of memory");
      }
      Shared& shared = self->shared_;
      pool.requests--, pool.bytes -= size;
      // Moved: connections end on the thread of `io` alone.
      asio::post(shared.io, [self = std::move(self), response = std::move(response)]() mutable { self->write(std::move(response)); });
    });
  }

  void refuse(Response response) {
    leave_idle();
    keeps_ = false;
    write(std::move(response));
  }

  void write(Response response) {
    answer_.emplace();
    answer_->version(11);
    answer_->result(static_cast<unsigned>(response.status));
    answer_->set(http::field::content_type, response.type);
    for (const auto* headers : {&std::as_const(shared_.service.headers), &std::as_const(response.headers)})
      for (const auto& [name, value] : *headers) answer_->set(name, value);
    answer_->keep_alive(keeps_);
    answer_->body() = std::move(response.body);
    answer_->prepare_payload();
    if (is_head_) answer_->body().clear();
    socket().expires_after(std::chrono::seconds(shared_.limits.answer_seconds));
    http::async_write(stream_, *answer_, [self = this->shared_from_this()](error_code failed, size_t) { self->has_written(failed); });
  }

  void has_written(error_code failed) {
    answer_.reset();
    if (failed) return;
    if (keeps_) return read();
    if constexpr (is_encrypted) { // a client may only believe an answer whose end is signed
      socket().expires_after(std::chrono::seconds(1));
      return stream_.async_shutdown([self = this->shared_from_this()](error_code) { self->end(); });
    }
    end();
  }

  void end() {
    error_code ignored;
    socket().socket().shutdown(tcp::socket::shutdown_send, ignored);
    // What the client still sends is read and dropped for a moment: closing at once would discard the answer on its way.
    socket().expires_after(std::chrono::seconds(1));
    drain();
  }

  void drain() {
    socket().async_read_some(asio::buffer(dropped_), [self = this->shared_from_this()](error_code failed, size_t) {
      if (!failed && ++self->drained_ < 512) self->drain();
    });
  }

  Stream stream_;
  Shared& shared_;
  const std::string address_; // of the other end
  Request request_; // that is being read
  beast::flat_buffer buffer_{1 << 20};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> answer_;
  std::optional<std::list<Connection*>::iterator> idle_at_;
  bool keeps_ = false, is_head_ = false;
  char dropped_[4096];
  int drained_ = 0;
};

class Server final : public HttpServer {
public:
  Server(const HttpLimits& limits, Service service) : acceptor_(shared_.io), signals_(shared_.io), hangup_(shared_.io) {
    shared_.limits = limits;
    shared_.service = std::move(service);
    error_code ignored;
    if (shared_.service.ends_on_signals)
      for (int signal : {SIGINT, SIGTERM}) signals_.add(signal, ignored);
    shared_.quick.emplace(limits.threads, limits.waiting);
    shared_.slow.emplace(limits.slow_threads, limits.slow_waiting);
    shared_.login.emplace(1, limits.login_waiting);
    shared_.background.emplace(1, 0);
  }

  error_code open(const asio::ip::address& address, uint16_t port) {
    error_code failed;
    acceptor_.open(address.is_v6() ? tcp::v6() : tcp::v4(), failed);
    if (!failed) ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC); // Asio leaves sockets to child processes
    if (!failed) acceptor_.set_option(tcp::acceptor::reuse_address(true), failed);
    if (!failed) acceptor_.bind({address, port}, failed);
    if (!failed) acceptor_.listen(128, failed);
    return failed;
  }
  uint16_t port() const override {
    error_code ignored;
    return acceptor_.local_endpoint(ignored).port();
  }
  void repeat(uint32_t ms, std::function<void()> work) override {
    auto timer = std::make_shared<asio::steady_timer>(shared_.io);
    wait(timer, ms, std::make_shared<std::function<void()>>(std::move(work)));
  }
  void in_background(std::function<void()> work) override { asio::post(shared_.background->threads, std::move(work)); }
  void use_tls(std::shared_ptr<const Tls> tls) override { tls_ = std::move(tls); }
  void on_hangup(std::function<void()> work) override {
    error_code ignored;
    hangup_.add(SIGHUP, ignored);
    wait_for_hangup(std::make_shared<std::function<void()>>(std::move(work)));
  }
  void stop() override { shared_.io.stop(); }
  void run() override {
    if (shared_.service.ends_on_signals) signals_.async_wait([this](error_code failed, int) {
      if (failed) return;
      error_code ignored;
      signals_.clear(ignored); // a second one ends acu at once
      shared_.io.stop();
    });
    accept();
    shared_.io.run();
    shared_.stop();
  }

private:
  void wait_for_hangup(std::shared_ptr<std::function<void()>> work) {
    hangup_.async_wait([this, work](error_code failed, int) {
      if (failed) return;
      (*work)();
      wait_for_hangup(work);
    });
  }
  void wait(std::shared_ptr<asio::steady_timer> timer, uint32_t ms, std::shared_ptr<std::function<void()>> work) {
    timer->expires_after(std::chrono::milliseconds(ms));
    timer->async_wait([this, timer, ms, work](error_code failed) {
      if (failed) return;
      (*work)();
      wait(timer, ms, work);
    });
  }
  void accept() {
    acceptor_.async_accept([this](error_code failed, tcp::socket socket) {
      if (failed) { // of descriptors, most likely: one that is idle gives its own
        if (!shared_.idle.empty()) shared_.idle.front()->close();
        auto timer = std::make_shared<asio::steady_timer>(shared_.io, std::chrono::milliseconds(50));
        return timer->async_wait([this, timer](error_code) { accept(); });
      }
      ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
      if (shared_.connections >= shared_.limits.connections && !shared_.idle.empty()) shared_.idle.front()->close();
      if (shared_.connections < 2 * shared_.limits.connections) start(std::move(socket));
      accept();
    });
  }

  void start(tcp::socket socket) {
    error_code failed;
    const tcp::endpoint from = socket.remote_endpoint(failed);
    if (failed) return; // it has gone
    std::string address = from.address().to_string(failed);
    if (!tls_) return std::make_shared<StreamConnection<beast::tcp_stream>>(std::move(address), shared_, std::move(socket))->begin();
    ::SSL_CTX_up_ref(tls_->context()); // Asio's context has a reference of its own, and the stream takes another one
    asio::ssl::context context(tls_->context());
    std::make_shared<StreamConnection<Encrypted>>(std::move(address), shared_, std::move(socket), context)->begin();
  }

  Shared shared_;
  tcp::acceptor acceptor_;
  asio::signal_set signals_, hangup_;
  std::shared_ptr<const Tls> tls_; // none: connections are not encrypted
};

} // namespace

base::Result<std::unique_ptr<HttpServer>> listen(const std::string& address, uint16_t port, const HttpLimits& limits, Service service) {
  error_code failed;
  const asio::ip::address numeric = asio::ip::make_address(address, failed);
  if (failed) return base::Error{base::Failure::usage, "`--listen` takes a numeric address and a port (127.0.0.1:7070, [::1]:7070), not `" + address + "`"};
  auto server = std::make_unique<Server>(limits, std::move(service));
  failed = server->open(numeric, port);
  if (!failed) return std::unique_ptr<HttpServer>(std::move(server));
  const std::string subject = address + ":" + std::to_string(port);
  if (failed == asio::error::address_in_use) return base::Error{base::Failure::runtime, "cannot listen on " + subject + ": the port is in use\nhint: --listen " + address + ":0 uses any free port"};
  if (failed == asio::error::access_denied) return base::Error{base::Failure::permission, "cannot listen on " + subject + ": no permission"};
  return base::Error{base::Failure::runtime, "cannot listen on " + subject + ": " + failed.message()};
}

} // namespace web
