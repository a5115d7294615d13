#include "session/probe_options.h"

#include "base/text.h"

#include <memory>
#include <regex.h>

namespace session {

base::Result<std::function<bool(const probe::Event&)>> probe_filter(const std::string& expression) {
  auto compiled = std::make_unique<regex_t>();
  if (::regcomp(compiled.get(), expression.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    return base::Error{base::Failure::usage, "`--probe-filter` takes a regular expression, not `" + expression + "`"};
  const std::shared_ptr<regex_t> shared(compiled.release(), [](regex_t* r) {
    ::regfree(r);
    delete r;
  });
  return std::function<bool(const probe::Event&)>([shared](const probe::Event& e) {
    return e.kind == probe::Kind::begin || e.kind == probe::Kind::end || ::regexec(shared.get(), e.name.c_str(), 0, nullptr, 0) == 0;
  });
}

base::Result<std::string> traceable_functions(const std::string& path) {
  auto text = base::read_file(path);
  if (!text.ok()) return base::Error{text.error().kind, "cannot read the functions of --traceable-functions: " + text.error().message};
  if (text->find_first_not_of(" \t\n") == text->npos)
    return base::Error{base::Failure::usage, "the file of --traceable-functions names no function: " + path};
  return text;
}

} // namespace session
