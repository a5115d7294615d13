// `acu dscript`: dtrace's command line into session::Options.
#include "base/text.h"
#include "dlang/lower.h"
#include "session/run.h"
#include "session/script.h"
#include "tool/preprocess.h"
#include "tool/tool.h"

#include <algorithm>

namespace tool {

using session::Arguments;
using session::Given;
using spec::OptionId;

namespace {

// -P, -m and -f name parts of a description from the left; what is missing in front and behind matches everything.
std::string description(OptionId id, const std::string& value) {
  const size_t parts = id == OptionId::provider ? 1 : id == OptionId::module ? 2 : 3;
  std::string out = value.substr(0, value.find_first_of(" \t/{"));
  const std::string rest = value.substr(out.size());
  const auto colons = static_cast<size_t>(std::count(out.begin(), out.end(), ':'));
  out.insert(0, parts > colons + 1 ? parts - colons - 1 : 0, ':');
  return out + std::string(4 - parts, ':') + rest;
}

base::Result<std::string> text_of_file(const std::string& file) {
  session::Options from;
  from.file = file;
  ACU_TRY(base::Source source, session::read_script(from));
  return std::string(source.text());
}

// The text of -n, -s, -P, -m and -f, one behind the other, or the file that the first word names.
base::Status take_script(session::Options& to, const Arguments& arguments) {
  std::vector<dlang::ScriptPart>& parts = to.d_script->parts;
  uint32_t next_line = 1;
  for (const Given& g : arguments.options) {
    std::string text;
    dlang::ScriptPart part{.is_file = g.id == OptionId::script_file, .name = g.value.substr(0, g.value.find_first_of("{/;"))};
    if (part.is_file) part.name = g.value;
    if (g.id == OptionId::clause) {
      text = g.value;
    } else if (g.id == OptionId::script_file) {
      const size_t files = arguments.count(OptionId::script_file);
      const bool is_alone = files == 1 && !arguments.has(OptionId::clause) && !arguments.has(OptionId::provider) && !arguments.has(OptionId::module) &&
                            !arguments.has(OptionId::function);
      if (is_alone) {
        to.file = g.value;
        to.d_script->values.script_name = g.value;
        continue;
      }
      ACU_TRY(text, text_of_file(g.value));
    } else if (g.id == OptionId::provider || g.id == OptionId::module || g.id == OptionId::function) {
      text = description(g.id, g.value);
    } else {
      continue;
    }
    to.script += (to.has_script ? "\n" : "") + text;
    to.has_script = true;
    part.line = next_line;
    next_line += static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n')) + 1;
    parts.push_back(std::move(part));
  }
  std::vector<std::string> words = arguments.words;
  if (!to.has_script && to.file.empty() && !words.empty()) {
    to.file = words.front();
    to.d_script->values.script_name = words.front();
    words.erase(words.begin());
  }
  to.d_script->values.words = std::move(words);
  if (to.has_script || !to.file.empty()) return {};
  if (to.list) {
    to.script = dlang::all_descriptions();
    to.has_script = true;
    to.d_script->settings.emplace_back("zdefs", "");
    return {};
  }
  return base::Error{base::Failure::usage, "no script: give a file, `-` for standard input, or `-n 'CLAUSE'`"};
}

base::Status take(session::Options& to, const Given& g) {
  dlang::TranslateOptions& d = *to.d_script;
  auto set = [&](std::string_view name, std::string_view value = {}) { d.settings.emplace_back(name, value); };
  switch (g.id) {
  case OptionId::command:
    if (base::trim(g.value).empty()) return base::Error{base::Failure::usage, "`-c` needs a command"};
    to.command = d.command = g.value;
    d.values.has_command = true;
    break;
  case OptionId::pid: {
    ACU_TRY(to.pid, session::read_pid("-p", g.value));
    d.values.target = to.pid;
    break;
  }
  case OptionId::output: to.output_file = g.value; break;
  case OptionId::quiet:
    to.quiet = true;
    set("quiet");
    break;
  case OptionId::destructive: set("destructive"); break;
  case OptionId::zero_probes: set("zdefs"); break;
  case OptionId::flow: set("flowindent"); break;
  case OptionId::set_option: {
    const size_t sign = g.value.find('=');
    set(std::string_view(g.value).substr(0, sign), sign == g.value.npos ? std::string_view() : std::string_view(g.value).substr(sign + 1));
    break;
  }
  case OptionId::list: to.list = true; break;
  case OptionId::compile_only: to.dump.any = true; break;
  case OptionId::faults: to.report_faults = true; break;
  case OptionId::verbose: to.verbose = true; break;
  case OptionId::notify_attached: to.notify_attached = g.value, to.notifies = true; break;
  case OptionId::engine: to.engine = g.value == "eval" ? session::EngineKind::eval : session::EngineKind::kernel; break;
  case OptionId::no_warnings: to.warnings = false; break;
  case OptionId::debuginfo: to.debug_folders.push_back(g.value); break;
  case OptionId::no_feature:
    for (std::string_view word : base::split(g.value, ',')) to.without.emplace_back(word);
    break;
  case OptionId::dump:
    to.dump.any = true;
    for (std::string_view stage : base::split(g.value, ',')) (stage == "ast" ? to.dump.ast : stage == "ir" ? to.dump.ir : to.dump.bpf) = true;
    break;
  case OptionId::foreign:
    return base::Error{base::Failure::usage,
                       std::string("-") + g.option.letter + " is not supported: " + std::string(g.option.doc.substr(g.option.doc.find(' ') + 1))};
  default: break;
  }
  return {};
}

// -C, and the options that are for it.
base::Status preprocess(session::Options& to, const Arguments& arguments) {
  std::vector<std::string> options;
  for (const Given& g : arguments.options) {
    const std::string_view letter = g.id == OptionId::parameter ? "-D" : g.id == OptionId::undefine ? "-U" : g.id == OptionId::include_dir ? "-I" : "";
    if (!letter.empty()) options.push_back(std::string(letter) + g.value);
  }
  if (!arguments.has(OptionId::preprocess)) {
    if (options.empty()) return {};
    return base::Error{base::Failure::usage, "`-D`, `-U` and `-I` are for the C preprocessor: add -C"};
  }
  if (!to.has_script) {
    ACU_TRY(to.script, text_of_file(to.file));
    to.has_script = true;
    to.script_name = to.file;
  }
  const size_t slash = to.file.rfind('/');
  ACU_TRY(to.script, preprocess_d(to.script, slash == to.file.npos ? "." : to.file.substr(0, slash + 1), options));
  return {};
}

base::Result<session::Options> read(const Arguments& arguments) {
  session::Options out;
  out.d_script.emplace();
  for (const Given& g : arguments.options) ACU_CHECK(take(out, g));
  ACU_CHECK(take_script(out, arguments));
  ACU_CHECK(preprocess(out, arguments));
  if (!out.command.empty() && out.pid >= 0) return base::Error{base::Failure::usage, "`-c` and `-p` cannot be combined"};
  return out;
}

} // namespace

int dscript(const session::Arguments& arguments) {
  if (arguments.has(OptionId::version)) return version();
  if (arguments.has(OptionId::tables)) return say(dlang::list_providers()), 0;
  auto options = read(arguments);
  if (!options.ok()) return fail(options.error());
  return session::run(*options);
}

} // namespace tool
