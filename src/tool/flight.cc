// `acu flight`, which is `acu record --flight`.
#include "base/privilege.h"
#include "base/text.h"
#include "recorder/recorder.h"
#include "session/arguments.h"
#include "session/script.h"
#include "tool/sizes.h"
#include "tool/tool.h"
#include "tool/whose.h"

#include <optional>
#include <unistd.h>

namespace tool {

using spec::OptionId;

namespace {

// Nothing: there is none.
base::Result<std::optional<base::Source>> read_users_script(const session::Arguments& arguments) {
  session::Options how;
  for (const session::Given& given : arguments.options) {
    if (given.id != OptionId::execute) continue;
    how.script += (how.has_script ? "\n" : "") + given.value;
    how.has_script = true;
  }
  if (how.has_script) {
    if (arguments.words_before) return base::usage_error("`" + arguments.words[0] + "`: there is a script already (-e); a command goes after `--`");
  } else if (!arguments.words_before) {
    return std::optional<base::Source>();
  } else {
    how.file = arguments.words[0];
    if (arguments.words_before > 1) return base::usage_error("`" + arguments.words[1] + "`: only one script can run; a command goes after `--`");
    if (how.file != "-" && !base::is_accessible(how.file.c_str(), F_OK))
      return base::usage_error("`" + how.file + "`: there is no such script; `--streams` selects what is recorded, and a command goes after `--`");
  }
  ACU_TRY(base::Source script, session::read_script(how));
  return std::optional<base::Source>(std::move(script));
}

base::Result<recorder::Options> read_request(const session::Arguments& arguments) {
  recorder::Options out;
  ACU_TRY(out.script, read_users_script(arguments));
  ACU_TRY(out.filter, read_target_filter(arguments));
  out.command = arguments.behind;
  const std::string* streams = arguments.value(OptionId::streams);
  ACU_TRY(out.streams, recorder::read_streams(streams ? std::string_view(*streams) : recorder::usual_streams));
  for (const session::Given& given : arguments.options)
    if (given.id == OptionId::when) out.triggers.push_back(given.value);
  for (const session::Given& given : arguments.options) {
    if (given.id != OptionId::when_pressure) continue;
    ACU_TRY(recorder::PressureLimit limit, recorder::read_pressure(given.value));
    out.pressures.push_back(std::move(limit));
  }
  for (const std::string& trigger : out.triggers)
    if (base::trim(trigger).empty()) return base::usage_error("`--when` takes a probe or a condition, such as 'p99(@us) > 50000', not an empty text");
  const std::pair<OptionId, uint64_t*> times[] = {{OptionId::before, &out.before_ns}, {OptionId::after, &out.after_ns},
                                                  {OptionId::cool_down, &out.cool_down_ns}, {OptionId::duration, &out.duration_ns}};
  for (const auto& [id, to] : times)
    for (const session::Given& given : arguments.options)
      if (given.id == id) {
        ACU_TRY(*to, session::read_time("--" + std::string(given.option.name), given.value));
      }
  if (const std::string* text = arguments.value(OptionId::memory)) {
    ACU_TRY(out.memory, read_bytes("--memory", *text));
  }
  if (const std::string* text = arguments.value(OptionId::when_memory)) {
    ACU_TRY(out.memory_limit, read_bytes("--when-memory", *text));
    if (out.filter.pids.empty() && out.command.empty()) return base::usage_error("`--when-memory` is about processes: name them with -p, or give a command after `--`");
  }
  if (const std::string* text = arguments.value(OptionId::files)) {
    constexpr uint64_t most = 10'000;
    ACU_TRY(const uint64_t files, session::read_count("--files", *text, most));
    out.files = static_cast<uint32_t>(files);
  }
  if (const std::string* text = arguments.value(OptionId::files_size)) {
    ACU_TRY(out.files_bytes, read_bytes("--files-size", *text));
  }
  if (const std::string* file = arguments.value(OptionId::output)) out.output = *file;
  out.quiet = arguments.has(OptionId::quiet);
  return out;
}

} // namespace

int flight(const session::Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  auto status = recorder::record_flight(*request);
  return status.ok() ? *status : fail(status.error());
}

} // namespace tool
