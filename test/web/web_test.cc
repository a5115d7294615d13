// The parts of the server without a network: addresses, cookies, access, policies, trees, routes.
#include "agent/json.h"
#include "profile/formats.h"
#include "scratch.h"
#include "web/access.h"
#include "web/api.h"
#include "web/attempts.h"
#include "web/call_tree.h"
#include "web/http_server.h"
#include "web/pages.h"
#include "web/parameters.h"
#include "web/sessions.h"
#include "web/symptoms.h"

#include <arpa/inet.h>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace web {
namespace {

constexpr uint64_t ten_seconds = 10'000'000'000;

TEST(Target, IsDecoded) {
  Request request;
  ASSERT_TRUE(read_target("/api/flame?service=a%20b%2Fc&x=1+2&empty=&flag", request));
  EXPECT_EQ(request.path, "/api/flame");
  EXPECT_EQ(request.parameter("service"), "a b/c");
  EXPECT_EQ(request.parameter("x"), "1 2");
  EXPECT_TRUE(request.has("flag"));
  EXPECT_FALSE(request.has("none"));
}

TEST(Target, DamagedOnesAreRefused) {
  for (const char* target : {"", "api", "http://host/", "/a%2", "/a%zz", "/a%00b", "/../etc/passwd", "/api/%2e%2e/x", "/./a", "*"}) {
    Request request;
    EXPECT_FALSE(read_target(target, request)) << target;
  }
}

TEST(Cookie, IsFoundByItsWholeName) {
  EXPECT_EQ(cookie("a=1; acu=xyz; b=2", "acu"), "xyz");
  EXPECT_EQ(cookie("xacu=1", "acu"), "");
  EXPECT_EQ(cookie("", "acu"), "");
}

Request with(std::string path, std::vector<std::pair<std::string, std::string>> headers = {}) {
  Request out;
  EXPECT_TRUE(read_target(path, out));
  out.headers = std::move(headers);
  out.headers.emplace_back("host", "127.0.0.1:1");
  return out;
}

TEST(Access, ATokenOpensOneSession) {
  std::vector<std::string> printed;
  Access access({"127.0.0.1:1"}, [&](const std::string& token) { printed.push_back(token); });
  access.print_token();
  Request plain = with("/api/me");
  EXPECT_EQ(access.check(plain)->status, 401);
  Request wrong = with("/?token=" + std::string(64, '0'));
  EXPECT_EQ(access.check(wrong)->status, 401);
  Request login = with("/?token=" + printed[0]);
  const auto opened = access.check(login);
  ASSERT_EQ(opened->status, 303);
  const std::string set = opened->headers[1].second;
  EXPECT_NE(set.find("; HttpOnly; SameSite=Strict"), std::string::npos);
  Request again = with("/?token=" + printed[0]);
  EXPECT_EQ(access.check(again)->status, 401);
  ASSERT_EQ(printed.size(), 2u);
  EXPECT_NE(printed[0], printed[1]);
  Request known = with("/api/me", {{"cookie", set.substr(0, set.find(';'))}});
  EXPECT_FALSE(access.check(known).has_value());
  EXPECT_EQ(known.client, "session 1");
}

TEST(Access, ChangesNeedTheirHeaderAndTheirOrigin) {
  const Scratch scratch;
  Access access({"127.0.0.1:1"}, [](const std::string&) {});
  ASSERT_TRUE(access.use_token_file(scratch.path("token")).ok());
  const std::string bearer = "Bearer " + scratch.read("token").substr(0, 64);
  auto status = [&](std::vector<std::pair<std::string, std::string>> headers) {
    headers.emplace_back("authorization", bearer);
    Request request = with("/api/jobs", std::move(headers));
    request.method = Method::post, request.body = "{}";
    const auto refused = access.check(request);
    return refused ? refused->status : 200;
  };
  EXPECT_EQ(status({{"content-type", "application/json"}}), 403);
  EXPECT_EQ(status({{"content-type", "application/json"}, {"x-acu", "1"}}), 200);
  EXPECT_EQ(status({{"content-type", "text/plain"}, {"x-acu", "1"}}), 400);
  EXPECT_EQ(status({{"content-type", "application/json"}, {"x-acu", "1"}, {"origin", "http://evil.example"}}), 403);
  EXPECT_EQ(status({{"content-type", "application/json"}, {"x-acu", "1"}, {"origin", "http://127.0.0.1:1"}}), 200);
  Request other = with("/api/me", {{"host", "evil.example"}, {"authorization", bearer}});
  EXPECT_EQ(access.check(other)->status, 403);
}

TEST(Access, ABodyShowsInTheHeader) {
  EXPECT_FALSE(with("/x").has_body());
  EXPECT_FALSE(with("/x", {{"content-length", "0"}}).has_body());
  EXPECT_TRUE(with("/x", {{"content-length", "17"}}).has_body());
  EXPECT_TRUE(with("/x", {{"transfer-encoding", "chunked"}}).has_body());
}

TEST(Routes, OfAFleetWaitAsideWhereTheyReadTheStore) {
  for (const char* path : {"/api/overview", "/api/me", "/api/findings", "/metrics"}) {
    EXPECT_FALSE(is_slow(with(path), false)) << path;
    EXPECT_TRUE(is_slow(with(path), true)) << path;
  }
  for (const char* path : {"/api/flame", "/api/series"}) EXPECT_TRUE(is_slow(with(path), false)) << path;
  for (const char* path : {"/", "/healthz", "/api/verbs", "/api/jobs/1"}) EXPECT_FALSE(is_slow(with(path), true)) << path;
}

TEST(Access, ATokenFileThatOthersReadIsRefused) {
  const Scratch scratch;
  scratch.write("token", std::string(64, 'a'));
  ASSERT_EQ(::chmod(scratch.path("token").c_str(), 0644), 0);
  Access access({}, [](const std::string&) {});
  EXPECT_NE(access.use_token_file(scratch.path("token")).error().message.find("can be read or written by others"), std::string::npos);
  scratch.write("short", "abc");
  ASSERT_EQ(::chmod(scratch.path("short").c_str(), 0600), 0);
  EXPECT_FALSE(access.use_token_file(scratch.path("short")).ok());
}

TEST(Pages, OnlyTheirOwnBlocksMayRun) {
  // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
  EXPECT_EQ(hashes_of("<style>a</style><script type=\"application/json\">{}</script><script>alert(1)</script>"),
            "script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='; style-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='");
  EXPECT_EQ(hashes_of("<p>nothing</p>"), "script-src 'none'; style-src 'none'");
}

TEST(Ranges, AreAbsoluteOrRelative) {
  const int64_t now = now_seconds();
  const auto last = range_of(with("/?from=-900"));
  ASSERT_TRUE(last.ok());
  EXPECT_NEAR(static_cast<double>(last->from), static_cast<double>(now - 900), 12);
  EXPECT_EQ(range_of(with("/?a_from=1000.5&a_to=2000"), "a_")->from, 1000);
  EXPECT_FALSE(range_of(with("/?from=2000&to=1000")).ok());
  EXPECT_FALSE(range_of(with("/?from=yesterday")).ok());
  EXPECT_FALSE(range_of(with("/?from=1796000000000")).ok()); // milliseconds
  EXPECT_FALSE(range_of(with("/?from=nan")).ok());
}

TEST(Trees, AddUpAndEscapeNames) {
  profile::Profile p;
  const uint32_t thread = p.thread({.pid = 1, .tid = 1, .process = p.text("p"), .name = p.text("t")});
  const uint32_t outer = p.node(0, p.frame({.name = p.text("outer<\"x\">")})), inner = p.node(outer, p.frame({.name = p.text("inner")}));
  p.add(thread, outer, 5, 1), p.add(thread, inner, 10, 2);
  const TreeJson tree = tree_json(p);
  EXPECT_TRUE(agent::is_json(tree.json)) << tree.json;
  EXPECT_EQ(tree.json, "{\"name\":\"all\",\"value\":15,\"self\":0,\"children\":[{\"name\":\"outer<\\\"x\\\">\",\"module\":\"\",\"kind\":\"user\",\"value\":15,\"self\":5,\"children\":"
                       "[{\"name\":\"inner\",\"module\":\"\",\"kind\":\"user\",\"value\":10,\"self\":10,\"children\":[]}]}]}");
}

TEST(Trees, DeepStacksNeedNoRecursion) {
  profile::Profile p;
  const uint32_t thread = p.thread({.pid = 1, .tid = 1, .process = p.text("p"), .name = p.text("t")}), frame = p.frame({.name = p.text("again")});
  uint32_t node = 0;
  for (int i = 0; i < 15'000; i++) node = p.node(node, frame);
  p.add(thread, node, 1, 1);
  EXPECT_GT(tree_json(p).json.size(), 15'000u * 50);
}

TEST(Symptoms, LastAMinuteAndAreAskedAboutOnce) {
  auto store = store::open_sqlite(":memory:", store::Mode::write);
  ASSERT_TRUE(store.ok());
  Symptoms symptoms;
  for (int64_t slot = 100'000; slot < 100'050; slot += 10) ASSERT_TRUE((*store)->write({"host", slot, ten_seconds}, {{{}, "pressure_cpu", 0.9}, {{}, "pressure_io", 0.9}}).ok());
  EXPECT_EQ(find_symptom(**store, 100'060), ""); // the last slot is missing
  ASSERT_TRUE((*store)->write({"host", 100'050, ten_seconds}, {{{}, "pressure_cpu", 0.3}, {{}, "pressure_io", 0.9}}).ok());
  EXPECT_EQ(find_symptom(**store, 100'060), "pressure_io");
  for (int i = 0; i < 2; i++) EXPECT_TRUE(symptoms.should_ask(**store, 100'060)); // until acu could
  symptoms.has_asked(100'060);
  EXPECT_FALSE(symptoms.should_ask(**store, 100'061));
  EXPECT_EQ(find_symptom(**store, 100'120), "");
}

// 10 minutes in which parse() takes 10% of the CPU time, then 10 in which it takes 30%.
TEST(Comparison, NamesTheFunctionThatGrew) {
  const Scratch scratch;
  Jobs jobs({}, {}, {});
  Samplers samplers(scratch.path("store"), [](const std::string&) {});
  Api api;
  api.store = scratch.path("store"), api.jobs = &jobs, api.samplers = &samplers;
  {
    auto store = store::open_sqlite(api.store, store::Mode::write);
    ASSERT_TRUE(store.ok());
    profile::Profile p;
    const uint32_t thread = p.thread({.pid = 1, .tid = 1, .process = p.text("web"), .name = p.text("web")}), top = p.node(0, p.frame({.name = p.text("main")}));
    const uint32_t parse = p.add(thread, p.node(top, p.frame({.name = p.text("parse")})), 1, 1), render = p.add(thread, p.node(top, p.frame({.name = p.text("render")})), 1, 1);
    for (int64_t slot = 1'200'000; slot < 1'201'200; slot += 10) {
      const uint64_t share = slot < 1'200'600 ? 10 : 30;
      const std::vector<profile::Gain> gains = {{parse, share * 100, share}, {render, 9000, 90}};
      const store::Batch batch = {.profile = &p, .gains = gains, .services = {{"web", store::ServiceType::process}}};
      ASSERT_TRUE((*store)->write({"cpu", slot, ten_seconds}, {}, &batch).ok());
    }
  }
  const Response found = answer(api, with("/api/compare?service=web&a_from=1200000&a_to=1200600&b_from=1200600&b_to=1201200"));
  rapidjson::Document json;
  ASSERT_TRUE(found.status == 200 && agent::parse_json(found.body, json).ok()) << found.body;
  const auto& first = (*agent::member(json, "functions"))[0];
  EXPECT_EQ(agent::text_of(*agent::member(first, "name")), "parse");
  EXPECT_EQ(agent::member(first, "self_a")->GetInt64(), 60 * 1000);
  EXPECT_EQ(agent::member(first, "self_b")->GetInt64(), 60 * 3000);
  EXPECT_EQ(agent::member(json, "scale")->GetDouble(), 1);
}

TEST(Findings, AreTheVerdictsOfWhy) {
  Job job;
  const agent::Settings settings;
  job.verb = agent::find_verb("why", settings), job.started = 5;
  job.result = R"({"data": {"findings": [{"cause": "c", "verdict": "confirmed", "title": "t"}, {"cause": "d", "verdict": "open"}]}})";
  const auto findings = findings_of(job);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].cause + findings[0].summary + findings[0].service, "ct");
  job.result = "{}";
  EXPECT_TRUE(findings_of(job).empty());
}

TEST(Routes, KnowTheirMethodsAndReadOnly) {
  Jobs jobs({}, {}, {});
  Samplers samplers("/nowhere/store.db", [](const std::string&) {});
  Api api;
  api.store = "/nowhere/store.db", api.jobs = &jobs, api.samplers = &samplers, api.is_read_only = true;
  uint64_t audited = 0;
  api.audit = [&](const agent::AuditLine&) { audited++; };
  Role role = Role::admin;
  auto status = [&](Method method, const char* path) {
    Request request = with(path);
    request.method = method, request.role = role;
    return answer(api, request).status;
  };
  EXPECT_EQ(status(Method::get, "/healthz"), 200);
  EXPECT_EQ(status(Method::get, "/"), 200);
  EXPECT_EQ(status(Method::get, "/index.html"), 404);
  EXPECT_EQ(status(Method::get, "/etc/passwd"), 404);
  EXPECT_EQ(status(Method::erase, "/api/me"), 405);
  EXPECT_EQ(status(Method::get, "/api/me"), 500); // no store
  EXPECT_EQ(status(Method::post, "/api/jobs"), 403);
  EXPECT_EQ(status(Method::get, "/api/jobs/17"), 404);
  EXPECT_EQ(status(Method::get, "/api/jobs/17x"), 404);
  EXPECT_EQ(audited, 1u);
  api.is_read_only = false;
  EXPECT_EQ(status(Method::post, "/api/jobs"), 400); // an empty body
  role = Role::view;
  EXPECT_EQ(status(Method::get, "/api/jobs/17"), 403);
  EXPECT_EQ(audited, 3u); // a refusal is audited, whatever its method
}

TEST(Attempts, WrongOnesWaitTwiceAsLongEachTime) {
  constexpr uint64_t second = 1'000'000'000;
  Attempts attempts(2, 5 * second);
  uint64_t now = 1000 * second;
  for (const uint64_t wait : {0u, 0u, 1u, 2u, 4u, 5u, 5u}) {
    attempts.failed("a", now);
    EXPECT_EQ(attempts.wait_ns("a", now), wait * second);
    EXPECT_EQ(attempts.wait_ns("b", now), 0u);
    if (wait) attempts.too_early("a");
    now += wait * second;
    EXPECT_EQ(attempts.wait_ns("a", now), 0u);
  }
  EXPECT_EQ(attempts.take_refused("a"), 5u);
  EXPECT_EQ(attempts.take_refused("a"), 0u);
  now += 1000 * second; // forgotten
  attempts.failed("a", now);
  EXPECT_EQ(attempts.wait_ns("a", now), 0u);
}

// A connection to a server of this process.
class Client {
public:
  explicit Client(uint16_t port, size_t body_bytes = 0) {
    const timeval longest = {60, 0}; // of status()
    EXPECT_EQ(::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest), 0);
    sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const std::string request = "POST /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(body_bytes) + "\r\n\r\n" + std::string(body_bytes, 'x');
    EXPECT_EQ(::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  }
  // The status of the answer, which is waited for.
  std::string status() {
    std::string out;
    char part[4096];
    for (ssize_t n = 0; (n = ::recv(socket_.get(), part, sizeof part, 0)) > 0;) out.append(part, static_cast<size_t>(n));
    return out.substr(0, out.find('\r'));
  }

private:
  base::Fd socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

TEST(HttpServer, RequestsThatWaitHaveALimitOfBytes) {
  std::mutex mutex;
  std::condition_variable changed;
  int begun = 0;
  bool may_end = false;
  auto server = listen("127.0.0.1", 0, {.slow_threads = 2, .slow_waiting = 100, .waiting_bytes = 1000},
                       {.admit = [](Request&) { return std::optional<Response>(); },
                        .answer = [&](const Request&) {
                          std::unique_lock lock(mutex);
                          begun++;
                          changed.notify_all();
                          changed.wait(lock, [&] { return may_end; });
                          return Response();
                        },
                        .lane = [](const Request&) { return Lane::slow; }});
  ASSERT_TRUE(server.ok()) << server.error().message;
  std::thread thread([&] { (*server)->run(); });
  const uint16_t port = (*server)->port();
  {
    Client first(port, 400), second(port, 500);
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return begun == 2; });
    }
    EXPECT_EQ(Client(port, 101).status(), "HTTP/1.1 503 Service Unavailable");
    Client third(port, 100); // waits, as there is no thread for it
    {
      const std::lock_guard lock(mutex);
      may_end = true;
      changed.notify_all();
    }
    for (Client* client : {&first, &second, &third}) EXPECT_EQ(client->status(), "HTTP/1.1 200 OK");
    EXPECT_EQ(Client(port, 1000).status(), "HTTP/1.1 200 OK"); // all bytes are free again
  }
  ::kill(::getpid(), SIGTERM);
  thread.join();
}

// A job is this program again, as `test_web flame … --output=FILE`: it leaves a FIFO there, whose reader waits until this test has written.
[[gnu::constructor]] void be_the_child_of_a_job(int count, char** words) {
  constexpr std::string_view output = "--output=";
  if (count < 2 || words[1] != std::string_view("flame")) return;
  for (char** word = words; word != words + count; word++)
    if (std::string_view(*word).starts_with(output)) ::_exit(::mkfifo(*word + output.size(), 0600));
}

class JobOfServer : public testing::Test {
protected:
  struct Running {
    uint64_t id = 0;
    std::string file;
  };
  Running start() {
    const auto job = jobs->start(*agent::find_verb("flame", {}), {}, "a");
    EXPECT_TRUE(job.ok()) << job.error().message;
    const std::string& output = job->plan.words.back();
    return {job->id, output.substr(output.find('=') + 1)};
  }
  // The other end of the FIFO, once somebody reads from it.
  static base::Fd reader_of(const std::string& file) {
    base::Fd out;
    while (!out.valid()) { // forever: the suite has a limit of time
      out = base::Fd(::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
      std::this_thread::yield();
    }
    return out;
  }
  JobState state(uint64_t id) { return jobs->find(id)->state; }
  void wait_for_end(uint64_t id) {
    while (state(id) == JobState::running) std::this_thread::yield();
  }
  void SetUp() override {
    jobs.emplace(agent::Settings(), [this](std::function<void()> work) { server->in_background(std::move(work)); }, [this](const Job& job) { ended += job.state == JobState::done; });
    server->repeat(5, [this] { jobs->advance(); });
    thread = std::thread([this] { server->run(); });
  }
  void end() {
    if (!thread.joinable()) return;
    ::kill(::getpid(), SIGTERM);
    thread.join();
  }
  void TearDown() override { end(); }

  std::atomic<int> ended = 0;
  std::optional<Jobs> jobs;
  std::unique_ptr<HttpServer> server = std::move(*listen("127.0.0.1", 0, {}, {.admit = [](Request&) { return std::optional<Response>(); },
                                                                              .answer = [this](const Request&) { return Response{.body = jobs->all().empty() ? "" : "jobs"}; },
                                                                              .lane = [](const Request&) { return Lane::quick; }}));
  std::thread thread;
};

TEST_F(JobOfServer, RequestsAreAnsweredWhileAResultIsRead) {
  const Running job = start();
  {
    const base::Fd to = reader_of(job.file);
    EXPECT_EQ(Client(server->port()).status(), "HTTP/1.1 200 OK");
    EXPECT_EQ(state(job.id), JobState::running);
    EXPECT_TRUE(jobs->cancel(job.id)); // too late
    const std::string_view stacks = "main;parse 3\nmain;read 4\n";
    EXPECT_EQ(::write(to.get(), stacks.data(), stacks.size()), static_cast<ssize_t>(stacks.size()));
  }
  wait_for_end(job.id);
  EXPECT_EQ(state(job.id), JobState::done);
  EXPECT_EQ(profile::read_recording(jobs->find(job.id)->profile)->total(), 7u);
  EXPECT_NE(::access(job.file.c_str(), F_OK), 0);
  while (!ended) std::this_thread::yield();
}

// The one that is being read is read to its end; those behind it are dropped with their files.
TEST_F(JobOfServer, TheEndOfTheServerWaitsForOneResult) {
  const Running first = start();
  base::Fd to = reader_of(first.file);
  const Running second = start();
  while (::access(second.file.c_str(), F_OK) != 0) std::this_thread::yield(); // its child has been there
  std::atomic<bool> is_closed = false;
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    is_closed = true;
    to = {};
  });
  end();
  EXPECT_TRUE(is_closed);
  writer.join();
  EXPECT_EQ(state(first.id), JobState::done);
  EXPECT_EQ(state(second.id), JobState::running);
  jobs.reset();
  for (const Running& job : {first, second}) EXPECT_NE(::access(job.file.c_str(), F_OK), 0);
}

// Twenty people behind one address, of whom somebody mistypes every ten minutes, never wait.
TEST(Attempts, AreOfAQuarterOfAnHour) {
  constexpr uint64_t second = 1'000'000'000;
  Attempts attempts(2, 60 * second);
  for (uint64_t now = 1000 * second; now < 20'000 * second; now += 600 * second) {
    attempts.failed("a", now);
    EXPECT_EQ(attempts.wait_ns("a", now), 0u) << now;
  }
  const uint64_t begin = 30'000 * second;
  for (uint64_t i = 0; i < 3; i++) attempts.failed("a", begin + i * 400 * second);
  EXPECT_EQ(attempts.wait_ns("a", begin + 800 * second), second);
}

TEST(Questions, LeaveAThreadForOthers) {
  Jobs jobs({}, {}, {});
  Samplers samplers("/nowhere/store.db", [](const std::string&) {});
  Api api;
  api.store = "/nowhere/store.db", api.jobs = &jobs, api.samplers = &samplers;
  api.audit = [](const agent::AuditLine&) {};
  auto status = [&](Method method, const char* path, std::string body = "") {
    Request request = with(path);
    request.method = method, request.role = Role::admin, request.body = std::move(body);
    return answer(api, request).status;
  };
  const std::string script = R"({"script": "BEGIN { exit(); }"})", query = R"({"query": "select 1", "of": "store"})";
  EXPECT_EQ(status(Method::post, "/api/sql", query), 500); // no store
  EXPECT_EQ(status(Method::post, "/api/check", R"({"script": 7})"), 400);
  EXPECT_EQ(api.questions, 0u);
  EXPECT_EQ(api.queries, 0u);
  api.questions = 3;
  EXPECT_EQ(status(Method::post, "/api/check", script), 503);
  EXPECT_EQ(status(Method::post, "/api/sql", query), 503);
  EXPECT_EQ(status(Method::get, "/api/complete?text=kprobe:vfs_r"), 503);
  EXPECT_EQ(status(Method::get, "/api/complete?text=cou"), 200);
  EXPECT_EQ(api.questions, 3u);
  api.questions = 2, api.queries = 2;
  EXPECT_EQ(status(Method::post, "/api/sql", query), 503);
  EXPECT_EQ(api.queries, 2u);
}

TEST(Sql, IsNotOfTheHostThatShowsAFleet) {
  Jobs jobs({}, {}, {});
  Samplers samplers("/nowhere/store.db", [](const std::string&) {});
  Api api;
  api.store = "clickhouse://nowhere/acu", api.jobs = &jobs, api.samplers = &samplers, api.is_read_only = true;
  api.audit = [](const agent::AuditLine&) {};
  api.open_fleet = [](const std::string&) -> base::Result<std::unique_ptr<store::Store>> { return base::Error{base::Failure::runtime, "no store"}; };
  for (const char* body : {R"({"query": "select 1"})", R"({"query": "select 1", "of": "host"})", R"({"query": "select 1", "of": "store"})"}) {
    Request request = with("/api/sql");
    request.method = Method::post, request.role = Role::admin, request.body = body;
    const Response found = answer(api, request);
    EXPECT_EQ(found.status, 400);
    EXPECT_NE(found.body.find("not supported for a fleet"), std::string::npos) << found.body;
  }
}

TEST(Sessions, EndAndAreLimitedForEachClient) {
  Sessions sessions;
  const std::string first = sessions.open({.client = "a", .ends_ns = 10}), other = sessions.open({.client = "b", .ends_ns = 10});
  EXPECT_TRUE(sessions.find(first, 9).has_value());
  for (int i = 0; i < 20; i++) (void)sessions.open({.client = "a", .ends_ns = 20});
  EXPECT_FALSE(sessions.find(first, 9).has_value());
  EXPECT_TRUE(sessions.find(other, 9).has_value());
  EXPECT_FALSE(sessions.find(other, 10).has_value());
}

} // namespace
} // namespace web
