// The messages of both protocols (JSON-RPC 2.0): what each method does, and how answers are written.
// Specifications: jsonrpc.org; modelcontextprotocol.io, revisions 2024-11-05 to 2025-11-25.
#pragma once

#include "agent/json.h"

#include <string>
#include <string_view>

namespace agent {

// Errors of JSON-RPC, and the one of cancelled calls that the Language Server Protocol uses.
enum class ErrorCode : int { parse = -32700, invalid_request = -32600, no_method = -32601, invalid_params = -32602, internal = -32603, cancelled = -32800 };

std::string result_message(std::string_view id, std::string_view result);
std::string error_message(std::string_view id, ErrorCode code, std::string_view text);
std::string progress_message(std::string_view token, double seconds, double total_seconds);

enum class Protocol : uint8_t { mcp, api };

// What a message asks for.
struct Request {
  enum class Kind : uint8_t { none, reply, call, cancel } kind = Kind::none;
  std::string id;       // JSON; empty: a notification
  std::string reply;    // Kind::reply: the whole message
  std::string target;   // Kind::cancel: the ID of the call
  std::string progress; // Kind::call: the token for progress notifications, or empty
  const Verb* verb = nullptr;
  Arguments arguments;
  std::string shown;    // the arguments for the audit
  std::string mistake;  // Kind::call: why it cannot be made
};

// What a client has agreed on.
struct Dialogue {
  Protocol protocol = Protocol::mcp;
  std::string client; // for the audit
  bool takes_batches = false;
};

Request read_request(const rapidjson::Value& message, Dialogue& dialogue, const Settings& settings, std::string_view version);

} // namespace agent
