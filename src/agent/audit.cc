// Lines are written at once, each by one write, so that several servers can share a file.
#include "agent/audit.h"

#include "base/output_file.h"
#include "base/print.h"
#include "report/json_object.h"

#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace agent {

static std::string now() {
  const std::time_t seconds = std::time(nullptr);
  tm parts = {};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

base::Result<Audit> Audit::open(const std::string& path) {
  Audit out;
  out.path_ = path;
  if (path.empty()) return out;
  const base::AsResultOwner as_owner;
  out.file_ = base::Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!out.file_.valid()) return base::errno_error("cannot write the audit file `" + path + "`", errno);
  return out;
}

base::Status Audit::write(const AuditLine& line) {
  report::JsonObject out;
  out.add("time", now()).add("client", line.client);
  if (!line.address.empty()) out.add("address", line.address);
  out.add("verb", line.verb).raw("arguments", line.arguments.empty() ? "{}" : line.arguments);
  out.add("outcome", line.outcome).raw("exit_status", std::to_string(line.exit_status)).raw("wall_ms", base::print("%.0f", static_cast<double>(line.wall_ns) / 1e6));
  out.raw("cpu_ms", base::print("%.0f", static_cast<double>(line.cpu_ns) / 1e6)).add("bytes", line.bytes);
  const int error = base::write_all(file_.valid() ? file_.get() : STDERR_FILENO, out.end() + "\n");
  return error && file_.valid() ? base::Status(base::errno_error("cannot write the audit file `" + path_ + "`", error)) : base::Status();
}

void Audit::write_or_report(const AuditLine& line, std::string_view command) {
  const base::Status written = write(line);
  if (!written.ok() && !has_failed_) base::write_all(STDERR_FILENO, "acu " + std::string(command) + ": " + written.error().message + "\n");
  has_failed_ = !written.ok();
}

} // namespace agent
