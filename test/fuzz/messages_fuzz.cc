// Any bytes as a message of a client (acu mcp, acu api), as folded stacks, and as messages with losses.
#include "agent/protocol.h"
#include "agent/result.h"
#include "agent/tree.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)agent::tree_text(text, "samples", 20, 1);
  (void)agent::lost_in(text);
  rapidjson::Document message;
  if (agent::parse_json(text, message).ok() != agent::is_json(text)) __builtin_trap();
  if (message.HasParseError()) return 0;
  const agent::Settings settings;
  for (agent::Protocol protocol : {agent::Protocol::mcp, agent::Protocol::api}) {
    agent::Dialogue dialogue = {.protocol = protocol};
    const agent::Request request = agent::read_request(message, dialogue, settings, "1");
    if (!request.reply.empty() && !agent::is_json(request.reply)) __builtin_trap();
    if (request.kind == agent::Request::Kind::call && request.mistake.empty()) (void)agent::plan(*request.verb, request.arguments, settings);
  }
  return 0;
}
