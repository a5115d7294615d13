// `acu serve`, and the samplers that it starts.
#include "base/text.h"
#include "monitor/sampler.h"
#include "session/arguments.h"
#include "session/signals.h"
#include "tool/scripts.h"
#include "tool/store_options.h"
#include "tool/tool.h"
#include "web/serve.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tool {

using spec::OptionId;

namespace {

base::Error usage(std::string message) { return {base::Failure::usage, std::move(message)}; }

base::Status read_address(const std::string& text, web::ServeOptions& to) {
  const size_t colon = text.rfind(':');
  const auto port = colon == text.npos ? std::nullopt : base::parse_integer(std::string_view(text).substr(colon + 1));
  std::string address = text.substr(0, colon == text.npos ? 0 : colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  if (!port || *port > 65535 || address.empty()) return usage("`--listen` takes an address and a port (127.0.0.1:7070, [::1]:7070), not `" + text + "`");
  if (!address.starts_with("127.") && address != "::1")
    return usage("`--listen " + text + "`: only addresses of loopback (127.0.0.1, ::1) are taken, as the connection is not encrypted\nhint: ssh -L 7070:127.0.0.1:7070 HOST");
  to.address = address, to.port = static_cast<uint16_t>(*port);
  return {};
}

// In a folder of its own, which only its owner may enter.
base::Result<std::string> default_store() {
  std::string folder = "/var/lib/acu";
  if (::geteuid() != 0) {
    const char* state = std::getenv("XDG_STATE_HOME");
    const char* home = std::getenv("HOME");
    if (state && state[0] == '/')
      folder = std::string(state) + "/acu";
    else if (home && home[0] == '/')
      folder = std::string(home) + "/.local/state/acu";
    else
      return usage("neither XDG_STATE_HOME nor HOME is set: name the store with --store FILE");
  }
  std::error_code failed;
  const bool is_new = std::filesystem::create_directories(folder, failed);
  if (failed) return base::errno_error("cannot make the folder `" + folder + "`", failed.value());
  if (is_new) ::chmod(folder.c_str(), 0700);
  return folder + "/store.db";
}

base::Result<web::ServeOptions> read_serve(const session::Arguments& arguments) {
  web::ServeOptions out;
  out.version = version_number();
  if (const std::string* text = arguments.value(OptionId::listen)) ACU_CHECK(read_address(*text, out));
  if (const std::string* text = arguments.value(OptionId::store)) {
    out.store = *text;
  } else {
    ACU_TRY(out.store, default_store());
  }
  ACU_TRY(out.limits, read_limits(arguments));
  out.is_read_only = arguments.has(OptionId::read_only);
  out.token_file = arguments.text(OptionId::token_file);
  out.audit = arguments.text(OptionId::audit);
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(const uint64_t ns, session::read_time("--max-duration", *text, 100'000'000));
    out.settings.max_seconds = static_cast<double>(ns) / 1e9;
  }
  if (const std::string* text = arguments.value(OptionId::max_cost)) {
    ACU_TRY(out.settings.max_cost, session::read_percent("--max-cost", *text));
  }
  out.settings.find_tool = [](const std::string& name) -> std::optional<bool> {
    const Script* script = find_script(name);
    return script ? std::optional(script->is_stopped) : std::nullopt;
  };
  for (const ListedTool& tool : listed_tools()) out.tools.push_back({std::string(tool.name), std::string(tool.group), tool.title});
  return out;
}

base::Status sample(const std::string& what, const session::Arguments& arguments, const std::string& store) {
  monitor::SamplerOptions options = {.store = store};
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(options.duration_ns, session::read_time("--max-duration", *text));
  }
  if (what == monitor::host_sampler) return monitor::sample_host(options);
  for (const monitor::StoredKind& kind : monitor::stored_kinds)
    if (kind.name == what) return monitor::sample_stacks(kind, options);
  return usage("`--sample " + what + "` is not recorded all the time");
}

} // namespace

int serve(Words words) {
  const spec::Subcommand& self = *spec::find_subcommand("serve");
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(OptionId::help)) return say(session::help_text(self)), 0;
  if (!arguments->words.empty()) return refuse("`" + arguments->words[0] + "`: usage: acu serve " + std::string(self.usage));
  auto options = read_serve(*arguments);
  if (!options.ok()) return fail(options.error());
  const std::string* what = arguments->value(OptionId::sample);
  auto ended = what ? sample(*what, *arguments, options->store) : web::serve(*options);
  return ended.ok() ? 0 : fail(ended.error());
}

} // namespace tool
