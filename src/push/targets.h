// Servers that take stacks or findings, from a file: one a line, `KIND URL [ca=FILE]`; lines below it that begin with white space are headers of its requests. `#` begins a comment.
#pragma once

#include "base/result.h"
#include "net/http_client.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace push {

enum class TargetKind : uint8_t { otlp, pyroscope, parca, webhook };

struct KindRow {
  TargetKind kind;
  std::string_view name;
  std::string_view path; // appended to the path of the URL
  std::string_view content; // type of the body
};
inline constexpr KindRow kind_rows[] = {
    {TargetKind::otlp, "otlp", "/v1development/profiles", "application/x-protobuf"},
    {TargetKind::pyroscope, "pyroscope", "/push.v1.PusherService/Push", "application/proto"},
    {TargetKind::parca, "parca", "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw", "application/grpc-web+proto"},
    {TargetKind::webhook, "webhook", "", "application/json"},
};

struct Target {
  const KindRow* row = nullptr;
  net::Endpoint to;
  std::string path;
  std::vector<std::pair<std::string, std::string>> headers;
  size_t line = 0; // in the file

  std::string shown() const; // "pyroscope at http://127.0.0.1:4040": without the path, which may be a secret
};

// `file`: its name, for messages. Failure (usage): the line, what is wrong with it, and what it may be.
base::Result<std::vector<Target>> read_targets(std::string_view text, const std::string& file);

} // namespace push
