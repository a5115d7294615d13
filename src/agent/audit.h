// A line for each call: when, who, what, with which arguments, and how it ended. JSON, so that no argument can forge a line.
#pragma once

#include "agent/call.h"
#include "base/fd.h"

#include <string>
#include <string_view>

namespace agent {

struct AuditLine {
  std::string client, verb, arguments; // `arguments`: JSON
  std::string address = {};            // from where; empty: this host
  std::string outcome;
  int exit_status = 0;
  uint64_t wall_ns = 0, cpu_ns = 0, bytes = 0;
};

class Audit {
public:
  // Appends to a file, readable for its owner only; empty: standard error.
  static base::Result<Audit> open(const std::string& path);
  base::Status write(const AuditLine& line);
  // The same, and prints the first of several failures in a row: "acu serve: cannot write the audit file …".
  void write_or_report(const AuditLine& line, std::string_view command);

private:
  std::string path_;
  base::Fd file_;
  bool has_failed_ = false;
};

} // namespace agent
