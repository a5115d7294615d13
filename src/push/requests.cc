#include "push/requests.h"

#include "base/counted.h"
#include "base/protobuf.h"
#include "base/text.h"
#include "profile/formats.h"
#include "report/json_object.h"

#include <map>
#include <unordered_map>

namespace push {

namespace {

using base::ProtoWriter;

// Fields of the messages.
namespace in_label { // LabelPair of types.v1, Label of parca.profilestore.v1alpha1
enum : uint32_t { name = 1, value = 2 };
}
namespace in_series { // RawProfileSeries of both
enum : uint32_t { labels = 1, samples = 2 };
}
namespace in_raw_sample {
enum : uint32_t { profile = 1 };
}
namespace in_push {
enum : uint32_t { series = 1 };
}
namespace in_write_raw {
enum : uint32_t { series = 2 };
}
namespace in_label_set {
enum : uint32_t { labels = 1 };
}
namespace in_export_answer { // ExportProfilesServiceResponse
enum : uint32_t { partial = 1 };
}
namespace in_partial {
enum : uint32_t { rejected = 1, message = 2 };
}

std::vector<std::string> labels_of(std::string_view kind, const std::string& host, const std::string& service) {
  auto label = [](std::string_view name, std::string_view value) {
    ProtoWriter m;
    m.bytes(in_label::name, name), m.bytes(in_label::value, value);
    return m.text();
  };
  return {label("__name__", kind == "cpu" ? "process_cpu" : kind), label("hostname", host), label("service_name", service)};
}

std::string raw_sample(const profile::Profile& profile) {
  ProtoWriter m;
  m.bytes(in_raw_sample::profile, profile::write_pprof(profile));
  return m.text();
}

// gRPC over HTTP/2 (PROTOCOL-HTTP2.md): a byte of flags, the length in four bytes, the highest first, and the message.
constexpr size_t frame_head = 5;
std::string in_frame(const std::string& message) {
  std::string out(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(message.size() >> shift));
  return out + message;
}

// gRPC-Web (PROTOCOL-WEB.md): the last frame has the trailers, as lines of HTTP/1.1.
std::string trailers_of(std::string_view body) {
  while (body.size() >= frame_head) {
    uint64_t size = 0;
    for (size_t i = 1; i < frame_head; i++) size = size << 8 | static_cast<unsigned char>(body[i]);
    if (size > body.size() - frame_head) break;
    if (body[0] & 0x80) return std::string(body.substr(frame_head, size));
    body.remove_prefix(frame_head + size);
  }
  return {};
}

std::string trailer(const std::string& trailers, std::string_view name) {
  for (std::string_view line : base::split(trailers, '\n'))
    if (const size_t colon = line.find(':'); colon != line.npos && base::lower(line.substr(0, colon)) == name) return std::string(base::trim(line.substr(colon + 1)));
  return {};
}

std::string shortened(std::string_view text) {
  constexpr size_t most = 300;
  return base::printable(base::trim(text.substr(0, most)));
}

Judgement judge_grpc(const net::HttpAnswer& answer) {
  const std::string trailers = trailers_of(answer.body);
  std::string status = std::string(answer.header("grpc-status")), message = std::string(answer.header("grpc-message")); // of an answer without a body
  if (status.empty()) status = trailer(trailers, "grpc-status"), message = trailer(trailers, "grpc-message");
  if (status == "0") return {Outcome::taken, ""};
  if (status.empty()) return {Outcome::refused, "not a gRPC-Web server: " + shortened(answer.body)};
  // Deadline, resources, aborted, unavailable (google.rpc.Code): the same request may succeed later.
  const bool is_later = status == "4" || status == "8" || status == "10" || status == "14";
  return {is_later ? Outcome::later : Outcome::refused, "gRPC status " + status + ": " + shortened(message)};
}

Judgement judge_otlp(const net::HttpAnswer& answer) {
  base::ProtoReader in(std::as_bytes(std::span(answer.body)));
  while (in.next()) {
    if (in.field() != in_export_answer::partial) continue;
    base::ProtoReader partial(in.bytes());
    uint64_t rejected = 0;
    std::string message;
    while (partial.next()) {
      if (partial.field() == in_partial::rejected) rejected = partial.number();
      if (partial.field() == in_partial::message) message = shortened(partial.text());
    }
    if (rejected) return {Outcome::taken, base::counted(rejected, "profile") + " of a request rejected: " + message};
    if (!message.empty()) return {Outcome::taken, message};
  }
  return {Outcome::taken, ""};
}

} // namespace

std::vector<Part> parts_of(const profile::Profile& all, bool has_threads) {
  struct Building {
    Part part;
    std::unordered_map<uint32_t, uint32_t> nodes, frames; // by those of `all`
  };
  std::map<std::string, Building, std::less<>> buildings;
  for (const profile::Sample& sample : all.samples()) {
    const std::string_view known = all.texts()[all.threads()[sample.thread].service];
    const std::string service(known.empty() ? "[unknown]" : known);
    const auto [building, is_new_service] = buildings.try_emplace(service);
    Building& b = building->second;
    profile::Profile& p = b.part.profile;
    if (is_new_service) {
      b.part.service = service;
      p.about = all.about, p.about.what = service, p.about.samples = 0;
    }
    std::vector<uint32_t> path; // up to a node that is there
    uint32_t node = sample.node;
    for (; node && !b.nodes.contains(node); node = all.nodes()[node].parent) path.push_back(node);
    uint32_t to = node ? b.nodes[node] : 0;
    for (; !path.empty(); path.pop_back()) {
      const uint32_t number = all.nodes()[path.back()].frame;
      const auto [frame, is_new] = b.frames.try_emplace(number);
      if (is_new) {
        profile::Frame copy = all.frames()[number];
        copy.name = p.text(all.texts()[copy.name]), copy.module = p.text(all.texts()[copy.module]);
        frame->second = p.frame(copy);
      }
      to = b.nodes[path.back()] = p.node(to, frame->second);
    }
    profile::Thread thread = all.threads()[sample.thread];
    thread.process = p.text(all.texts()[thread.process]), thread.service = p.text(service);
    thread.name = has_threads ? p.text(all.texts()[thread.name]) : 0;
    if (!has_threads) thread.pid = thread.tid = 0;
    p.add(p.thread(thread), to, sample.weight, sample.count);
    p.about.samples += sample.count;
  }
  std::vector<Part> out;
  for (auto& [service, building] : buildings) out.push_back(std::move(building.part));
  return out;
}

std::vector<std::string> pyroscope_bodies(std::string_view kind, const std::string& host, const std::vector<Part>& parts) {
  constexpr size_t most_bytes = 192 << 10; // compressed: a tenth of what they are without
  std::vector<std::string> out;
  for (const Part& part : parts) {
    ProtoWriter series, request;
    for (const std::string& label : labels_of(kind, host, part.service)) series.bytes(in_series::labels, label);
    series.bytes(in_series::samples, raw_sample(part.profile));
    request.bytes(in_push::series, series.text());
    if (out.empty() || out.back().size() + request.text().size() > most_bytes) out.emplace_back();
    out.back() += request.text(); // fields of a message may be put one behind the other
  }
  return out;
}

std::string parca_body(std::string_view kind, const std::string& host, const std::vector<Part>& parts) {
  ProtoWriter out;
  for (const Part& part : parts) {
    ProtoWriter series, set;
    for (const std::string& label : labels_of(kind, host, part.service)) set.bytes(in_label_set::labels, label);
    series.bytes(in_series::labels, set.text());
    series.bytes(in_series::samples, raw_sample(part.profile));
    out.bytes(in_write_raw::series, series.text());
  }
  return in_frame(out.text());
}

std::string webhook_body(const store::Finding& finding, const std::string& host, const std::string& version) {
  report::JsonObject out;
  out.add("event", "finding").raw("time", std::to_string(finding.time)).add("host", host).add("service", finding.service).add("verdict", finding.verdict).add("cause", finding.cause).add("summary", finding.summary);
  return out.raw("detail", finding.detail.empty() ? "{}" : finding.detail).add("version", version).end();
}

Judgement judge(TargetKind kind, const net::HttpAnswer& answer) {
  if (answer.status >= 200 && answer.status < 300) {
    if (kind == TargetKind::parca) return judge_grpc(answer);
    if (kind == TargetKind::otlp) return judge_otlp(answer);
    return {Outcome::taken, ""};
  }
  const std::string why = "status " + std::to_string(answer.status) + ": " + shortened(answer.body);
  // OTLP/HTTP allows these four only (opentelemetry-proto, docs/specification.md, "Retryable Response Codes").
  const bool is_busy = answer.status == 429 || answer.status == 502 || answer.status == 503 || answer.status == 504;
  const bool is_later = is_busy || (kind != TargetKind::otlp && (answer.status == 408 || answer.status == 500));
  return {is_later ? Outcome::later : Outcome::refused, why};
}

} // namespace push
