// Boost.Beast and Asio throw; nothing of that leaves this file, which is compiled with exceptions.
//
// A connection is always in one of three states: it reads a request (with a deadline for all of it), its request is answered on a thread, or it writes
// the answer (with a deadline). Idle connections are those that read; they are listed by age.
#include "web/http_server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

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

class Connection;

struct Shared {
  HttpLimits limits;
  Handler handler;
  std::list<Connection*> idle; // the oldest first
  uint32_t connections = 0;
  std::atomic<uint32_t> waiting = 0;
  // Destroyed first: they hold the last connections, which leave the list above.
  asio::io_context io{1};
  std::optional<asio::thread_pool> threads;
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

class Connection : public std::enable_shared_from_this<Connection> {
public:
  Connection(tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) { shared_.connections++; }
  ~Connection() {
    leave_idle();
    shared_.connections--;
  }

  void read() {
    parser_.emplace();
    parser_->header_limit(shared_.limits.header_bytes);
    parser_->body_limit(shared_.limits.body_bytes);
    stream_.expires_after(std::chrono::seconds(shared_.limits.request_seconds));
    idle_at_ = shared_.idle.insert(shared_.idle.end(), this);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code failed, size_t) { self->has_read(failed); });
  }
  // The end of its read releases it.
  void close() {
    leave_idle();
    error_code ignored;
    stream_.socket().close(ignored);
  }

private:
  void leave_idle() {
    if (idle_at_) shared_.idle.erase(*idle_at_);
    idle_at_.reset();
  }

  void has_read(error_code failed) {
    leave_idle();
    if (failed == http::error::end_of_stream || failed == asio::error::operation_aborted || failed == asio::error::connection_reset || failed == asio::error::eof) return;
    if (failed == http::error::partial_message) return;
    if (failed == beast::error::timeout) return; // the stream is closed already
    if (failed == http::error::header_limit || failed == http::error::buffer_overflow) return refuse(failure(431, "the header of the request is too large"));
    if (failed == http::error::body_limit) return refuse(failure(413, "the body of the request is too large"));
    if (failed) return refuse(failure(400, "the request is not HTTP/1.1: " + failed.message()));
    http::request<http::string_body> message = parser_->release();
    keeps_ = message.keep_alive();
    is_head_ = message.method() == http::verb::head;
    Request request;
    request.method = method_of(message.method());
    if (!read_target({message.target().data(), message.target().size()}, request)) return refuse(failure(400, "invalid request target"));
    for (const auto& field : message) {
      std::string name(field.name_string());
      for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 'a' - 'A');
      request.headers.emplace_back(std::move(name), std::string(field.value()));
    }
    request.body = std::move(message.body());
    if (shared_.waiting >= shared_.limits.waiting) return refuse(failure(503, "too many requests at once\nhint: try again in a second"));
    shared_.waiting++;
    stream_.expires_never();
    asio::post(*shared_.threads, [self = shared_from_this(), request = std::move(request)]() mutable {
      Response response;
      try {
        response = self->shared_.handler(std::move(request));
      } catch (const std::exception&) { // of the standard library: no memory
        response = failure(500, "out of memory");
      }
      Shared& shared = self->shared_;
      shared.waiting--;
      // Moved: connections end on the thread of `io` alone.
      asio::post(shared.io, [self = std::move(self), response = std::move(response)]() mutable { self->write(std::move(response)); });
    });
  }

  void refuse(Response response) {
    keeps_ = false;
    write(std::move(response));
  }

  void write(Response response) {
    answer_.emplace();
    answer_->version(11);
    answer_->result(static_cast<unsigned>(response.status));
    answer_->set(http::field::content_type, response.type);
    for (const auto& [name, value] : response.headers) answer_->set(name, value);
    answer_->keep_alive(keeps_);
    answer_->body() = std::move(response.body);
    answer_->prepare_payload();
    if (is_head_) answer_->body().clear();
    stream_.expires_after(std::chrono::seconds(shared_.limits.answer_seconds));
    http::async_write(stream_, *answer_, [self = shared_from_this()](error_code failed, size_t) { self->has_written(failed); });
  }

  void has_written(error_code failed) {
    answer_.reset();
    if (failed) return;
    if (keeps_) return read();
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    // What the client still sends is read and dropped for a moment: closing at once would discard the answer on its way.
    stream_.expires_after(std::chrono::seconds(1));
    drain();
  }

  void drain() {
    stream_.async_read_some(asio::buffer(dropped_), [self = shared_from_this()](error_code failed, size_t) {
      if (!failed && ++self->drained_ < 512) self->drain();
    });
  }

  beast::tcp_stream stream_;
  Shared& shared_;
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
  explicit Server(const HttpLimits& limits, Handler handler) : acceptor_(shared_.io), signals_(shared_.io, SIGINT, SIGTERM) {
    shared_.limits = limits;
    shared_.handler = std::move(handler);
    shared_.threads.emplace(limits.threads);
  }
  ~Server() override {
    if (shared_.threads) shared_.threads->join();
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
  void in_background(std::function<void()> work) override { asio::post(*shared_.threads, std::move(work)); }
  void run() override {
    signals_.async_wait([this](error_code failed, int) {
      if (failed) return;
      error_code ignored;
      signals_.clear(ignored); // a second one ends acu at once
      shared_.io.stop();
    });
    accept();
    shared_.io.run();
    shared_.threads->stop(); // requests that have not begun
    shared_.threads->join();
    shared_.threads.reset();
  }

private:
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
      if (shared_.connections < 2 * shared_.limits.connections) std::make_shared<Connection>(std::move(socket), shared_)->read();
      accept();
    });
  }

  Shared shared_;
  tcp::acceptor acceptor_;
  asio::signal_set signals_;
};

} // namespace

base::Result<std::unique_ptr<HttpServer>> listen(const std::string& address, uint16_t port, const HttpLimits& limits, Handler handler) {
  error_code failed;
  const asio::ip::address numeric = asio::ip::make_address(address, failed);
  if (failed) return base::Error{base::Failure::usage, "`--listen` takes a numeric address and a port (127.0.0.1:7070, [::1]:7070), not `" + address + "`"};
  auto server = std::make_unique<Server>(limits, std::move(handler));
  failed = server->open(numeric, port);
  if (!failed) return std::unique_ptr<HttpServer>(std::move(server));
  const std::string subject = address + ":" + std::to_string(port);
  if (failed == asio::error::address_in_use) return base::Error{base::Failure::runtime, "cannot listen on " + subject + ": the port is in use\nhint: --listen " + address + ":0 uses any free port"};
  if (failed == asio::error::access_denied) return base::Error{base::Failure::permission, "cannot listen on " + subject + ": no permission"};
  return base::Error{base::Failure::runtime, "cannot listen on " + subject + ": " + failed.message()};
}

} // namespace web
