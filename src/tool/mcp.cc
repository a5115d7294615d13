// `acu mcp` and `acu api`: the verbs of src/agent for assistants and programs.
#include "agent/schema.h"
#include "agent/server.h"
#include "base/text.h"
#include "session/arguments.h"
#include "tool/scripts.h"
#include "tool/tool.h"

#include <cstdlib>
#include <unistd.h>

namespace tool {

namespace {

using spec::OptionId;

base::Status read_verbs(const std::string& list, agent::Settings& to) {
  std::vector<std::string_view> names;
  for (const agent::Verb& verb : agent::verbs()) names.push_back(verb.name);
  for (std::string_view word : base::split(list, ',')) {
    if (!base::is_one_of(names, word)) {
      const std::string_view near = base::nearest(word, names);
      return base::usage_error("there is no verb `" + std::string(word) + "`" + (near.empty() ? " (--list prints them)" : "; did you mean `" + std::string(near) + "`?"));
    }
    to.verbs.emplace_back(word);
  }
  return {};
}

base::Result<agent::ServerOptions> read_server(const session::Arguments& arguments) {
  agent::ServerOptions out;
  out.version = version_number();
  out.settings.find_tool = [](const std::string& name) -> std::optional<bool> {
    const Script* script = find_script(name);
    return script ? std::optional(script->is_stopped) : std::nullopt;
  };
  for (const session::Given& g : arguments.options)
    if (g.id == OptionId::verbs) ACU_CHECK(read_verbs(g.value, out.settings));
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(const uint64_t ns, session::read_time("--max-duration", *text, 100'000'000));
    out.settings.max_seconds = static_cast<double>(ns) / 1e9;
  }
  if (const std::string* text = arguments.value(OptionId::max_cost)) {
    ACU_TRY(out.settings.max_cost, session::read_percent("--max-cost", *text));
  }
  out.audit = arguments.text(OptionId::audit);
  return out;
}

base::Result<std::string> default_socket() {
  if (::geteuid() == 0) return std::string("/run/acu.sock");
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  if (!folder || folder[0] != '/') return base::usage_error("XDG_RUNTIME_DIR is not set: name the socket: acu api PATH");
  return std::string(folder) + "/acu.sock";
}

// Both: `serve` gets the words that are no options.
template<class Serve> int serve(std::string_view name, const session::Arguments& arguments, size_t most_words, Serve serve) {
  auto options = read_server(arguments);
  if (!options.ok()) return fail(options.error());
  if (arguments.words.size() > most_words) return refuse_word(name, arguments.words[most_words]);
  if (arguments.has(OptionId::list)) return say(agent::verbs_markdown(options->settings)), 0;
  options->command = name;
  auto served = serve(*options, arguments.words);
  return served.ok() ? 0 : fail(served.error());
}

} // namespace

int mcp(const session::Arguments& arguments) {
  return serve("mcp", arguments, 0, [](const agent::ServerOptions& options, const std::vector<std::string>&) {
    if (::isatty(STDIN_FILENO)) complain("acu mcp speaks the Model Context Protocol on standard input and output: an assistant starts it (docs/mcp.md)\n");
    return agent::serve_standard_input(options);
  });
}

int api(const session::Arguments& arguments) {
  return serve("api", arguments, 1, [](const agent::ServerOptions& options, const std::vector<std::string>& names) -> base::Status {
    std::string path;
    if (names.empty()) {
      ACU_TRY(path, default_socket());
    } else {
      path = names[0];
    }
    return agent::serve_socket(options, path, [&] { complain("serving on " + path + "; Ctrl-C ends\n"); });
  });
}

} // namespace tool
