// The parts of the server without a network: addresses, cookies, access, policies, trees, routes.
#include "agent/json.h"
#include "scratch.h"
#include "web/access.h"
#include "web/api.h"
#include "web/call_tree.h"
#include "web/pages.h"
#include "web/parameters.h"
#include "web/symptoms.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace web {
namespace {

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

TEST(Access, ATokenFileThatOthersReadIsRefused) {
  const Scratch scratch;
  scratch.write("token", std::string(64, 'a'));
  ASSERT_EQ(::chmod(scratch.path("token").c_str(), 0644), 0);
  Access access({}, [](const std::string&) {});
  EXPECT_NE(access.use_token_file(scratch.path("token")).error().message.find("others may read"), std::string::npos);
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
  for (int64_t slot = 100'000; slot < 100'050; slot += 10) ASSERT_TRUE((*store)->write({}, slot, {{{}, "pressure_cpu", 0.9}, {{}, "pressure_io", 0.9}}).ok());
  EXPECT_EQ(find_symptom(**store, 100'060), ""); // the last slot is missing
  ASSERT_TRUE((*store)->write({}, 100'050, {{{}, "pressure_cpu", 0.3}, {{}, "pressure_io", 0.9}}).ok());
  EXPECT_EQ(find_symptom(**store, 100'060), "pressure_io");
  EXPECT_TRUE(symptoms.should_ask(**store, 100'060));
  EXPECT_FALSE(symptoms.should_ask(**store, 100'061));
  EXPECT_EQ(find_symptom(**store, 100'120), "");
}

// 10 minutes in which parse() takes 10% of the CPU time, then 10 in which it takes 30%.
TEST(Comparison, NamesTheFunctionThatGrew) {
  const Scratch scratch;
  Jobs jobs({}, [](const Job&) {});
  Samplers samplers(scratch.path("store"));
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
      ASSERT_TRUE((*store)->write({{.kind = "cpu", .slot = slot, .profile = &p, .gains = gains, .services = {{"web", store::ServiceType::process}}}}, slot, {}).ok());
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
  Jobs jobs({}, [](const Job&) {});
  Samplers samplers("/nowhere/store.db");
  Api api;
  api.store = "/nowhere/store.db", api.jobs = &jobs, api.samplers = &samplers, api.is_read_only = true;
  uint64_t audited = 0;
  api.audit = [&](const agent::AuditLine&) { audited++; };
  auto status = [&](Method method, const char* path) {
    Request request = with(path);
    request.method = method;
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
}

} // namespace
} // namespace web
