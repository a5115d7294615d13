// Files of servers, parts of a profile, and what answers mean.
#include "base/protobuf.h"
#include "push/requests.h"

#include <gtest/gtest.h>

namespace push {
namespace {

std::string failure_of(const std::string& text) {
  const auto read = read_targets(text, "servers");
  return read.ok() ? "" : read.error().message;
}

TEST(Targets, AreLinesWithHeadersBelow) {
  const auto read = read_targets("# ours\n"
                                 "otlp https://collector.example:4318/base/\n"
                                 "  Authorization: Bearer a:b c\r\n"
                                 "\tX-Scope-OrgID: 7\n"
                                 "\n"
                                 "pyroscope \t http://127.0.0.1:4040\n"
                                 "webhook http://127.0.0.1/hook?key=1\n"
                                 "webhook http://127.0.0.1:81\n",
                                 "servers");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 4u);
  const Target& otlp = (*read)[0];
  EXPECT_EQ(otlp.row->kind, TargetKind::otlp);
  EXPECT_EQ(otlp.path, "/base/v1development/profiles");
  ASSERT_EQ(otlp.headers.size(), 2u);
  EXPECT_EQ(otlp.headers[0], std::pair(std::string("Authorization"), std::string("Bearer a:b c")));
  EXPECT_EQ(otlp.headers[1].second, "7");
  EXPECT_EQ((*read)[1].path, "/push.v1.PusherService/Push");
  EXPECT_EQ((*read)[1].shown(), "pyroscope at http://127.0.0.1:4040");
  EXPECT_EQ((*read)[2].path, "/hook?key=1");
  EXPECT_EQ((*read)[3].path, "/");
  EXPECT_EQ((*read)[3].line, 8u);
}

TEST(Targets, MistakesNameTheLine) {
  EXPECT_EQ(failure_of("\n# nothing\n"), "servers: no servers in this file\nhint: lines of KIND URL; kinds: otlp, pyroscope, parca, webhook");
  EXPECT_EQ(failure_of("otlp http://a\nloki http://b\n"), "servers:2: unknown kind of server `loki`\nhint: otlp, pyroscope, parca, webhook");
  EXPECT_EQ(failure_of("otlp\n"), "servers:1: the URL is missing\nhint: otlp https://HOST[:PORT]");
  EXPECT_TRUE(failure_of("otlp collector:4318\n").starts_with("servers:1: the URL is not one of a server"));
  EXPECT_TRUE(failure_of("otlp http://a/?x\n").starts_with("servers:1: the URL of `otlp` must not have a query"));
  EXPECT_TRUE(failure_of("otlp http://a ca=/x\n").starts_with("servers:1: ca=FILE is for https://"));
  EXPECT_TRUE(failure_of("otlp https://a ca=/does/not/exist\n").starts_with("servers:1: cannot"));
  EXPECT_TRUE(failure_of("otlp http://a Authorization:x\n").starts_with("servers:1: only ca=FILE may follow the URL"));
  EXPECT_TRUE(failure_of("  X: y\n").starts_with("servers:1: a header (a line that begins with white space) must follow a server"));
  const std::string secret = failure_of("otlp http://a\n  Authorization Bearer secret\n");
  EXPECT_EQ(secret, "servers:2: a header is `Name: value`");
}

TEST(Parts, HaveAllSamplesOfTheirServiceAndNoOthers) {
  profile::Profile all;
  auto frame = [&](const char* name) { return all.frame({.name = all.text(name), .module = all.text("m"), .kind = profile::FrameKind::user, .named = true}); };
  const uint32_t main_frame = frame("main"), f = frame("f"), g = frame("g");
  const uint32_t main_node = all.node(0, main_frame), f_node = all.node(main_node, f), g_node = all.node(main_node, g);
  const uint32_t a = all.thread({.pid = 1, .process = all.text("a"), .name = all.text("a1"), .service = all.text("a.service")}), b = all.thread({.pid = 2, .process = all.text("b"), .name = all.text("b1"), .service = all.text("b")});
  const uint32_t c = all.thread({.pid = 3, .process = all.text("c"), .name = all.text("c1")});
  all.add(a, f_node, 100, 10), all.add(a, main_node, 5, 1), all.add(b, g_node, 30, 3), all.add(c, 0, 7, 1);
  all.about.unit = "ns";
  const auto parts = parts_of(all, true);
  ASSERT_EQ(parts.size(), 3u);
  uint64_t sum = 0, stacks = 0;
  for (const Part& part : parts) {
    sum += part.profile.total();
    EXPECT_EQ(part.profile.about.unit, "ns");
    if (part.service == "a.service") {
      EXPECT_EQ(part.profile.total(), 105u);
      EXPECT_EQ(part.profile.about.samples, 11u);
      EXPECT_EQ(part.profile.threads().size(), 1u);
      for (const profile::Sample& s : part.profile.samples()) {
        if (s.weight != 100) continue;
        stacks++;
        const auto stack = part.profile.stack(s.node);
        ASSERT_EQ(stack.size(), 2u);
        EXPECT_EQ(part.profile.name(part.profile.frames()[stack[0]]), "main");
        EXPECT_EQ(part.profile.name(part.profile.frames()[stack[1]]), "f");
      }
    } else {
      EXPECT_EQ(part.profile.total(), part.service == "b" ? 30u : 7u);
    }
  }
  EXPECT_EQ(sum, all.total());
  EXPECT_EQ(stacks, 1u);
}

TEST(Parts, WithoutThreadsHaveProcessesOfANameOnce) {
  profile::Profile all;
  const uint32_t f = all.node(0, all.frame({.name = all.text("f"), .module = all.text("m"), .kind = profile::FrameKind::user, .named = true}));
  for (uint32_t n = 1; n <= 3; n++) all.add(all.thread({.pid = n, .process = all.text("java"), .name = all.text("worker-" + std::to_string(n)), .service = all.text("a")}), f, 10, 1);
  const auto parts = parts_of(all, false);
  ASSERT_EQ(parts.size(), 1u);
  ASSERT_EQ(parts[0].profile.samples().size(), 1u);
  EXPECT_EQ(parts[0].profile.samples()[0].weight, 30u);
  EXPECT_EQ(parts[0].profile.texts()[parts[0].profile.threads()[0].process], "java");
  EXPECT_EQ(parts_of(all, true)[0].profile.samples().size(), 3u);
}

TEST(Bodies, OfPyroscopeAreLimited) {
  std::vector<Part> parts;
  for (int n = 0; n < 12; n++) {
    Part& part = parts.emplace_back();
    part.service = "service-" + std::to_string(n);
    part.profile.about.unit = "ns";
    const uint32_t thread = part.profile.thread({.pid = 1, .process = part.profile.text("p")});
    // Names that hardly compress: about 60 KB of each service.
    uint64_t state = static_cast<uint64_t>(n) + 1;
    for (int i = 0; i < 2000; i++) {
      std::string name;
      for (int k = 0; k < 4; k++) state = state * 6364136223846793005 + 1442695040888963407, name += std::to_string(state >> 16);
      part.profile.add(thread, part.profile.node(0, part.profile.frame({.name = part.profile.text(name), .module = part.profile.text("m"), .kind = profile::FrameKind::user, .named = true})), 1, 1);
    }
  }
  const auto bodies = pyroscope_bodies("cpu", "host", parts);
  EXPECT_GT(bodies.size(), 2u);
  EXPECT_LE(bodies.size(), 12u);
  size_t series = 0;
  for (const std::string& body : bodies) {
    base::ProtoReader in(std::as_bytes(std::span(body)));
    while (in.next()) series += in.field() == 1;
    EXPECT_TRUE(in.ok());
  }
  EXPECT_EQ(series, 12u);
}

Judgement judged(TargetKind kind, int status, std::string body = "", std::vector<std::pair<std::string, std::string>> headers = {}) {
  return judge(kind, {.status = status, .headers = std::move(headers), .body = std::move(body)});
}

TEST(Answers, SayWhetherToTryAgain) {
  EXPECT_EQ(judged(TargetKind::pyroscope, 200).outcome, Outcome::taken);
  EXPECT_EQ(judged(TargetKind::webhook, 204).outcome, Outcome::taken);
  for (int status : {429, 502, 503, 504}) EXPECT_EQ(judged(TargetKind::otlp, status).outcome, Outcome::later) << status;
  for (int status : {408, 429, 500, 502, 503, 504}) EXPECT_EQ(judged(TargetKind::pyroscope, status).outcome, Outcome::later) << status;
  for (int status : {301, 400, 401, 404, 408, 413, 500, 501}) EXPECT_EQ(judged(TargetKind::otlp, status).outcome, Outcome::refused) << status;
  EXPECT_EQ(judged(TargetKind::webhook, 403, "no\x1b[31m").why, "status 403: no\\x1b[31m");
}

TEST(Answers, OfOtlpTellWhatWasRejected) {
  EXPECT_EQ(judged(TargetKind::otlp, 200).why, "");
  const Judgement partly = judged(TargetKind::otlp, 200, std::string("\x0a\x07\x08\x02\x12\x03" "bad", 9));
  EXPECT_EQ(partly.outcome, Outcome::taken);
  EXPECT_EQ(partly.why, "2 profiles of a request rejected: bad");
}

TEST(Answers, OfGrpcAreInTrailers) {
  auto frame = [](char flags, const std::string& text) { return std::string(1, flags) + std::string("\0\0\0", 3) + static_cast<char>(text.size()) + text; };
  EXPECT_EQ(judged(TargetKind::parca, 200, frame(0, "") + frame('\x80', "grpc-status:0\r\n")).outcome, Outcome::taken);
  EXPECT_EQ(judged(TargetKind::parca, 200, frame('\x80', "Grpc-Status: 14\r\ngrpc-message: away\r\n")).outcome, Outcome::later);
  const Judgement refused = judged(TargetKind::parca, 200, "", {{"Grpc-Status", "3"}, {"grpc-message", "bad label"}});
  EXPECT_EQ(refused.outcome, Outcome::refused);
  EXPECT_EQ(refused.why, "gRPC status 3: bad label");
  EXPECT_EQ(judged(TargetKind::parca, 200, "<html>").outcome, Outcome::refused);
  EXPECT_EQ(judged(TargetKind::parca, 200, std::string("\x80\xff\xff\xff\xff", 5)).outcome, Outcome::refused); // a length beyond the end
}

} // namespace
} // namespace push
