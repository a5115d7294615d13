// Bodies of requests, and what their answers mean.
#pragma once

#include "net/http_client.h"
#include "profile/profile.h"
#include "push/targets.h"
#include "store/store.h"

#include <string>
#include <string_view>
#include <vector>

namespace push {

// The samples of one service.
struct Part {
  std::string service;
  profile::Profile profile;
};
// Samples of threads without a service are in a part whose service is `[unknown]`. `has_threads`: threads are kept; otherwise those of a process's name are one, without numbers.
std::vector<Part> parts_of(const profile::Profile& profile, bool has_threads);

// What names a profile in Pyroscope and Parca: `__name__` is process_cpu or the kind, `service_name` the service, `hostname` the host.
// One pprof file each.
// PushRequests of push.v1 (Grafana Pyroscope's public API, Connect protocol, unary): several, as Pyroscope limits one to 2 MiB of uncompressed profiles (ingestion_burst_size_mb),
// and refuses all series of a request for one that it does not take.
std::vector<std::string> pyroscope_bodies(std::string_view kind, const std::string& host, const std::vector<Part>& parts);
// WriteRawRequest of parca.profilestore.v1alpha1 in a frame of gRPC-Web.
std::string parca_body(std::string_view kind, const std::string& host, const std::vector<Part>& parts);
// {"event": "finding", "time": 1764358836, "host": …, "service": …, "verdict": …, "cause": …, "summary": …, "detail": {…}, "version": …}
std::string webhook_body(const store::Finding& finding, const std::string& host, const std::string& version);

enum class Outcome : uint8_t {
  taken,
  away,    // no answer
  later,   // the server is busy, or fails
  refused, // it will refuse the same body again
};
struct Judgement {
  Outcome outcome;
  std::string why; // of others than `taken`; of `taken`: what the server took less of
};
Judgement judge(TargetKind kind, const net::HttpAnswer& answer);

} // namespace push
