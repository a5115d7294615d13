// Serves clients: reads their messages, runs the calls, sends the answers. One loop, no threads; every call is a process.
#pragma once

#include "agent/verb.h"
#include "base/fd.h"
#include "base/result.h"

#include <string>

namespace agent {

struct ServerOptions {
  Settings settings;
  std::string audit;   // file; empty: standard error
  std::string version; // of acu
  std::string command = "mcp"; // of acu, for messages
};

// The Model Context Protocol on standard input and output, until the input ends and its calls have been answered.
base::Status serve_standard_input(const ServerOptions& options);

// JSON-RPC 2.0, a message a line, on a UNIX socket that only its owner can open (0600), until SIGINT or SIGTERM. The path of a socket
// that nobody serves any more is taken over. `ready` is called when clients can connect.
base::Status serve_socket(const ServerOptions& options, const std::string& path, const std::function<void()>& ready);

} // namespace agent
