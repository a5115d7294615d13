// What agents and collectors agree on. Requests and answers carry it in a header, so that neither takes another server, or another version of
// acu, for its own. The version counts changes of the request, its headers, or the bytes of a batch (docs/fleet.md).
#pragma once

#include <string>
#include <string_view>

namespace fleet {

constexpr std::string_view batches_path = "/fleet/v1/batches";
constexpr std::string_view protocol_header = "acu-protocol";
constexpr std::string_view protocol = "fleet/1"; // name and version
constexpr std::string_view protocol_name = protocol.substr(0, protocol.find('/') + 1);

// Both ends report a difference in these words. `agent`, `collector`: the protocols that they use.
inline std::string other_version(std::string_view agent, std::string_view collector) {
  return "the agent uses protocol " + std::string(agent) + ", the collector " + std::string(collector) + "\nhint: install the same version of acu on both hosts";
}

} // namespace fleet
