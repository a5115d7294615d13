// The loop: clients, calls and signals.
#include "agent/server.h"

#include "agent/audit.h"
#include "agent/client.h"
#include "agent/result.h"
#include "agent/temporary_folder.h"
#include "base/clock.h"
#include "base/output_file.h"
#include "base/text.h"
#include "report/json_object.h"
#include "session/signals.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <cstdlib>
#include <list>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace agent {

namespace {

using report::JsonObject;

constexpr size_t most_running = 4, most_waiting = 64, most_clients = 32, most_in_batch = 64;
constexpr uint64_t second = 1'000'000'000;
constexpr uint64_t largest_file = 64 << 20; // of folded stacks

struct Running {
  Call call;
  std::shared_ptr<Client> client;
  Request request;
  std::shared_ptr<Batch> batch;
  TemporaryFolder folder;
  uint64_t next_progress_ns = 0;
};

class Server {
public:
  Server(const ServerOptions& options, Audit audit) : options_(options), audit_(std::move(audit)) {}

  void add(std::shared_ptr<Client> client) { clients_.push_back(std::move(client)); }
  // Until there are no clients left and nobody can come (listening < 0), or a signal.
  void run(int listening);

private:
  void wait(int listening);
  void take_client(int listening);
  void take_message(const std::shared_ptr<Client>& client, const std::string& text);
  void take_request(const std::shared_ptr<Client>& client, Request request, const std::shared_ptr<Batch>& batch);
  std::string cancel(const std::shared_ptr<Client>& client, const Request& request);
  void start_waiting();
  void start(const std::shared_ptr<Client>& client, Waiting waiting);
  void advance();
  void finish(Running& running);
  void refuse(const std::shared_ptr<Client>& client, const Waiting& waiting, const std::string& why);
  void give(Client& client, const std::shared_ptr<Batch>& batch, const std::string& message);
  void record(const Client& client, const Request& request, std::string outcome, const Finished& finished);
  void remove_clients();
  bool is_known(const Client& client, const std::string& id) const;
  void end_all();

  const ServerOptions& options_;
  Audit audit_;
  std::vector<std::shared_ptr<Client>> clients_;
  std::list<Running> running_;
  std::vector<pollfd> waited_;
};

// One answer: at once, or with the others of its list. An empty one: there is none.
void Server::give(Client& client, const std::shared_ptr<Batch>& batch, const std::string& message) {
  if (!batch) {
    if (!message.empty()) client.send(message);
    return;
  }
  if (!message.empty()) batch->answers.push_back(message);
  if (--batch->pending) return;
  std::string list;
  for (const std::string& answer : batch->answers) list += (list.empty() ? "[" : ", ") + answer;
  if (!list.empty()) client.send(list + "]");
}

void Server::record(const Client& client, const Request& request, std::string outcome, const Finished& finished) {
  audit_.write_or_report({.client = client.dialogue.client, .verb = std::string(request.verb->name), .arguments = request.shown, .outcome = std::move(outcome), .exit_status = finished.exit_status,
                .wall_ns = finished.wall_ns, .cpu_ns = finished.cpu_ns, .bytes = finished.output.size()}, options_.command);
}

std::string tool_result(std::string_view text, std::string_view structured, bool is_error) {
  JsonObject content, out;
  content.add("type", "text").add("text", text);
  out.raw("content", "[" + content.end() + "]");
  if (!structured.empty()) out.raw("structuredContent", structured);
  return out.raw("isError", is_error ? "true" : "false").end();
}

// A call that is not made: a model reads why and can correct itself.
void Server::refuse(const std::shared_ptr<Client>& client, const Waiting& waiting, const std::string& why) {
  record(*client, waiting.request, "refused: " + why, {});
  const std::string& id = waiting.request.id;
  give(*client, waiting.batch, client->dialogue.protocol == Protocol::mcp ? result_message(id, tool_result(why, "", true)) : error_message(id, ErrorCode::invalid_params, why));
}

void Server::start(const std::shared_ptr<Client>& client, Waiting waiting) {
  auto made = plan(*waiting.request.verb, waiting.request.arguments, options_.settings);
  if (!made.ok()) return refuse(client, waiting, made.error().message);
  TemporaryFolder folder;
  if (made->form == Form::tree) {
    if (auto ready = folder.make("stacks.folded"); !ready.ok()) return refuse(client, waiting, ready.error().message);
    made->words.push_back("--output=" + folder.file());
  }
  auto call = Call::start(*made);
  if (!call.ok()) return refuse(client, waiting, call.error().message);
  client->running++;
  running_.push_back({.call = std::move(*call), .client = client, .request = std::move(waiting.request), .batch = std::move(waiting.batch), .folder = std::move(folder), .next_progress_ns = base::clock_ns() + second});
}

// Clients take turns.
void Server::start_waiting() {
  for (bool has_started = true; has_started && running_.size() < most_running;) {
    has_started = false;
    for (const auto& client : clients_) {
      if (client->waiting.empty() || running_.size() >= most_running) continue;
      Waiting next = std::move(client->waiting.front());
      client->waiting.pop_front();
      start(client, std::move(next));
      has_started = true;
    }
  }
}

void Server::finish(Running& running) {
  Finished finished = running.call.take();
  const Plan& plan = running.call.plan();
  Client& client = *running.client;
  client.running--;
  if (plan.form == Form::tree) {
    finished.messages = finished.output + finished.messages;
    const base::AsResultOwner as_owner; // who could have put another file there
    auto stacks = base::read_file(running.folder.file());
    finished.output = stacks.ok() && stacks->size() <= largest_file ? std::move(*stacks) : "";
    finished.truncated = false;
  }
  record(client, running.request, std::string(name_of(finished.outcome)), finished);
  const std::string& id = running.request.id;
  const bool is_mcp = client.dialogue.protocol == Protocol::mcp;
  if (finished.outcome == Outcome::cancelled) return give(client, running.batch, is_mcp ? "" : error_message(id, ErrorCode::cancelled, "cancelled"));
  const Answer made = answer(*running.request.verb, plan, finished);
  give(client, running.batch, result_message(id, is_mcp ? tool_result(made.text, made.json, made.is_error) : made.json));
}

void Server::advance() {
  const uint64_t now = base::clock_ns();
  for (auto at = running_.begin(); at != running_.end();) {
    at->call.advance(now);
    if (!at->request.progress.empty() && now >= at->next_progress_ns && !at->call.has_ended()) {
      at->next_progress_ns += second;
      at->client->send(progress_message(at->request.progress, static_cast<double>(at->call.elapsed_ns(now)) / 1e9, at->call.plan().expected_seconds));
    }
    if (!at->call.has_ended()) {
      ++at;
      continue;
    }
    finish(*at);
    at = running_.erase(at);
  }
}

bool Server::is_known(const Client& client, const std::string& id) const {
  for (const Running& r : running_)
    if (r.client.get() == &client && r.request.id == id) return true;
  return std::any_of(client.waiting.begin(), client.waiting.end(), [&](const Waiting& w) { return w.request.id == id; });
}

// The answer to the cancellation itself; of a notification, nothing.
std::string Server::cancel(const std::shared_ptr<Client>& client, const Request& request) {
  bool was_known = false;
  for (Running& r : running_)
    if (r.client == client && r.request.id == request.target) r.call.cancel(base::clock_ns()), was_known = true;
  for (auto at = client->waiting.begin(); at != client->waiting.end(); ++at) {
    if (at->request.id != request.target) continue;
    const Waiting waiting = std::move(*at);
    client->waiting.erase(at);
    record(*client, waiting.request, "cancelled", {});
    give(*client, waiting.batch, client->dialogue.protocol == Protocol::mcp ? "" : error_message(waiting.request.id, ErrorCode::cancelled, "cancelled"));
    was_known = true;
    break;
  }
  return request.id.empty() ? "" : result_message(request.id, was_known ? "{\"cancelled\": true}" : "{\"cancelled\": false}");
}

void Server::take_request(const std::shared_ptr<Client>& client, Request request, const std::shared_ptr<Batch>& batch) {
  switch (request.kind) {
  case Request::Kind::none: return give(*client, batch, "");
  case Request::Kind::reply: return give(*client, batch, request.reply);
  case Request::Kind::cancel: return give(*client, batch, cancel(client, request));
  case Request::Kind::call: break;
  }
  if (is_known(*client, request.id)) return give(*client, batch, error_message(request.id, ErrorCode::invalid_request, "a request with this ID is being answered"));
  Waiting waiting = {.request = std::move(request), .batch = batch};
  if (!waiting.request.mistake.empty()) return refuse(client, waiting, waiting.request.mistake);
  if (client->waiting.size() >= most_waiting) return refuse(client, waiting, "too many calls at once: " + std::to_string(most_waiting) + " are waiting; try again when some of them have been answered");
  client->waiting.push_back(std::move(waiting));
}

void Server::take_message(const std::shared_ptr<Client>& client, const std::string& text) {
  if (text.empty()) return client->send(error_message("", ErrorCode::invalid_request, "a message has at most 1 MiB"));
  rapidjson::Document message;
  if (auto parsed = parse_json(text, message); !parsed.ok()) return client->send(error_message("", ErrorCode::parse, parsed.error().message));
  if (!message.IsArray()) return take_request(client, read_request(message, client->dialogue, options_.settings, options_.version), nullptr);
  if (!client->dialogue.takes_batches) return client->send(error_message("", ErrorCode::invalid_request, "this revision of the protocol has no batches: send one message a line"));
  if (message.Empty() || message.Size() > most_in_batch) return client->send(error_message("", ErrorCode::invalid_request, "a batch has 1 to " + std::to_string(most_in_batch) + " messages"));
  const auto batch = std::make_shared<Batch>();
  batch->pending = message.Size();
  for (const rapidjson::Value& one : message.GetArray()) take_request(client, read_request(one, client->dialogue, options_.settings, options_.version), batch);
}

void Server::take_client(int listening) {
  base::Fd fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd.valid()) return;
  ucred peer = {};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  const bool is_allowed = peer.uid == ::geteuid() || peer.uid == 0;
  base::Fd out(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  auto comm = base::read_file("/proc/" + std::to_string(peer.pid) + "/comm");
  std::string name = "uid " + std::to_string(peer.uid) + " pid " + std::to_string(peer.pid) + (comm.ok() ? " " + base::printable(base::trim(*comm)) : "");
  const auto client = std::make_shared<Client>(std::move(fd), std::move(out), Protocol::api, std::move(name));
  client->dialogue.takes_batches = true;
  if (!is_allowed) return client->send(error_message("", ErrorCode::invalid_request, "only the user that serves this socket may use it"));
  if (clients_.size() >= most_clients) return client->send(error_message("", ErrorCode::invalid_request, "too many clients: at most " + std::to_string(most_clients) + " are served at once"));
  clients_.push_back(client);
}

void Server::remove_clients() {
  for (const auto& client : clients_) {
    if (!client->is_gone()) continue;
    client->waiting.clear();
    for (Running& r : running_)
      if (r.client == client) r.call.cancel(base::clock_ns());
  }
  std::erase_if(clients_, [](const auto& c) { return !c->running && (c->is_gone() || (c->input_has_ended() && c->waiting.empty() && !c->has_output())); });
}

// Waits for something, and takes what clients sent.
void Server::wait(int listening) {
  waited_.clear();
  waited_.push_back({session::signals::fd(), POLLIN, 0});
  waited_.push_back({listening, POLLIN, 0});
  const size_t served = clients_.size();
  for (const auto& client : clients_) {
    const bool reads = !client->input_has_ended() && !client->is_slow() && !client->is_gone();
    waited_.push_back({reads ? client->in() : -1, POLLIN, 0});
    waited_.push_back({client->is_gone() ? -1 : client->out(), static_cast<short>(client->has_output() ? POLLOUT : 0), 0});
  }
  bool is_ending = false;
  for (const Running& r : running_) {
    waited_.push_back({r.call.output(), POLLIN, 0});
    waited_.push_back({r.call.messages(), POLLIN, 0});
    is_ending |= r.call.output() < 0 && r.call.messages() < 0;
  }
  ::poll(waited_.data(), waited_.size(), running_.empty() ? -1 : is_ending ? 2 : 50);
  for (size_t i = 0; i < served; i++) {
    const std::shared_ptr<Client> client = clients_[i];
    const pollfd &in = waited_[2 + 2 * i], &out = waited_[3 + 2 * i];
    if (out.revents & POLLOUT) client->flush();
    std::vector<std::string> messages;
    if (in.revents) client->read(messages);
    for (const std::string& message : messages) take_message(client, message);
    if (out.revents & (POLLERR | POLLHUP | POLLNVAL)) client->leave();
  }
  if (waited_[1].revents & POLLIN) take_client(listening);
}

// Measurements detach; answers to them are not sent any more.
void Server::end_all() {
  for (Running& r : running_) r.call.cancel(base::clock_ns());
  for (const auto& client : clients_) client->waiting.clear();
  constexpr uint64_t patience = 10 * second;
  for (const uint64_t until = base::clock_ns() + patience; !running_.empty() && base::clock_ns() < until;) {
    advance();
    ::poll(nullptr, 0, 10);
  }
}

void Server::run(int listening) {
  while (listening >= 0 || !clients_.empty()) {
    wait(listening);
    if (!session::signals::take().empty()) break;
    start_waiting();
    advance();
    start_waiting();
    remove_clients();
  }
  end_all();
}

base::Result<Server> make_server(const ServerOptions& options) {
  ACU_CHECK(session::signals::install({}));
  ACU_TRY(Audit audit, Audit::open(options.audit));
  return Server(options, std::move(audit));
}

// A socket that a server has left behind is removed; one that is served is not.
base::Status take_path(const std::string& path, const sockaddr_un& address) {
  struct stat about = {};
  if (::lstat(path.c_str(), &about) != 0) return {};
  if (!S_ISSOCK(about.st_mode)) return base::Error{base::Failure::usage, "`" + path + "` exists and is no socket"};
  const base::Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return base::Error{base::Failure::runtime, "`" + path + "` is served by another process"};
  if (errno != ECONNREFUSED) return base::errno_error("cannot replace `" + path + "`, which may be in use", errno);
  return ::unlink(path.c_str()) == 0 ? base::Status() : base::errno_error("cannot replace `" + path + "`", errno);
}

// The socket is a result: it lies where the caller may write, and belongs to them.
base::Status take_address(const base::Fd& listening, const std::string& path, const sockaddr_un& address) {
  const base::AsResultOwner as_owner;
  ACU_CHECK(take_path(path, address));
  const mode_t before = ::umask(0177); // nobody else can connect, from the first moment on
  const bool is_bound = ::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = errno;
  ::umask(before);
  return is_bound ? base::Status() : base::errno_error("cannot make the socket `" + path + "`", error);
}

} // namespace

base::Status serve_standard_input(const ServerOptions& options) {
  ACU_TRY(Server server, make_server(options));
  server.add(std::make_shared<Client>(base::Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), base::Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)), Protocol::mcp, "unnamed"));
  server.run(-1);
  return {};
}

base::Status serve_socket(const ServerOptions& options, const std::string& path, const std::function<void()>& ready) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return base::Error{base::Failure::usage, "the path of a socket has 1 to " + std::to_string(sizeof address.sun_path - 1) + " bytes: " + path};
  path.copy(address.sun_path, path.size());
  ACU_TRY(Server server, make_server(options));
  const base::Fd listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listening.valid()) return base::errno_error("cannot make a socket", errno);
  ACU_CHECK(take_address(listening, path, address));
  if (::listen(listening.get(), static_cast<int>(most_clients)) != 0) return base::errno_error("cannot listen on `" + path + "`", errno);
  ready();
  server.run(listening.get());
  const base::AsResultOwner as_owner;
  ::unlink(path.c_str());
  return {};
}

} // namespace agent
