// `acu convert`: a SystemTap script as a script of acu.
#include "base/output_file.h"
#include "session/arguments.h"
#include "session/script.h"
#include "stap/lower.h"
#include "tool/tool.h"

namespace tool {

using spec::OptionId;

namespace {

base::Result<session::Options> read(const session::Arguments& arguments) {
  session::Options out;
  if (arguments.words.empty()) return base::Error{base::Failure::usage, "no script: give a file, or `-` for standard input"};
  out.file = arguments.words[0];
  out.output_file = arguments.text(OptionId::output);
  return out;
}

base::Status convert_script(const session::Arguments& arguments) {
  ACU_TRY(session::Options options, read(arguments));
  ACU_TRY(base::Source source, session::read_script(options));
  base::Diagnostics diagnostics;
  const stap::Converted converted = stap::convert(source, diagnostics, {arguments.words.begin() + 1, arguments.words.end()});
  complain(diagnostics.render(source, true));
  if (diagnostics.has_errors()) return base::Error{base::Failure::unsupported, {}};
  if (converted.remarks && !arguments.has(OptionId::quiet))
    complain("note: " + std::to_string(converted.remarks) + (converted.remarks == 1 ? " comment in the script begins" : " comments in the script begin") + " with `convert:`: what to decide or to check\n");
  if (!options.output_file.empty()) return base::write_file(options.output_file, converted.text);
  say(converted.text);
  return {};
}

} // namespace

int convert(const session::Arguments& arguments) {
  const base::Status done = convert_script(arguments);
  if (done.ok()) return 0;
  if (done.error().message.empty()) return static_cast<int>(done.error().kind);
  return fail(done.error());
}

} // namespace tool
