// What clients and readers learn about verbs: JSON Schema (2020-12) and Markdown, from the table.
#pragma once

#include "agent/verb.h"

#include <string>

namespace agent {

// A list of the tools of the Model Context Protocol: name, title, description, inputSchema, outputSchema, annotations.
std::string tool_list(const Settings& settings);
// The verbs as Markdown, for docs/mcp.md and `acu mcp --list`.
std::string verbs_markdown(const Settings& settings);

} // namespace agent
