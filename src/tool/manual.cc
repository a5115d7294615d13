// `acu help man [SUBCOMMAND]`: manual pages, made from the table of subcommands; see man(7).
#include "base/text.h"
#include "spec/subcommands.h"
#include "tool/scripts.h"
#include "tool/tool.h"

namespace tool {

namespace {

// Escapes a text for roff: no line may begin with a control character, and backslashes and hyphens must be printed as
// they are. The only letter beyond ASCII in the texts is the ellipsis.
std::string plain(std::string_view text) {
  constexpr std::string_view ellipsis = "…";
  std::string out;
  bool is_first = true;
  for (size_t at = 0; at < text.size(); at++) {
    const char c = text[at];
    if (is_first && (c == '.' || c == '\'')) out += "\\&";
    is_first = c == '\n';
    if (text.substr(at).starts_with(ellipsis)) {
      out += "\\[u2026]";
      at += ellipsis.size() - 1;
    } else if (c == '\\') {
      out += "\\e";
    } else {
      if (c == '-') out += '\\';
      out += c;
    }
  }
  return out;
}
std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

std::string head(std::string_view name, std::string_view what) {
  std::string title(name);
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return ".TH " + plain(title) + " 1 \"\" \"acu\" \"User Commands\"\n.SH NAME\n" + plain(name) + " \\- " + plain(what) + "\n";
}

std::string options(const spec::OptionTable& rows) {
  std::string out = ".SH OPTIONS\n";
  for (const spec::Option& o : rows) {
    out += ".TP\n";
    if (o.letter) out += bold(std::string("-") + o.letter) + (o.name.empty() ? "" : ", ");
    if (!o.name.empty()) out += bold("--" + std::string(o.name));
    if (!o.argument.empty()) out += (o.optional ? "[=" : " ") + italic(o.argument) + (o.optional ? "]" : "");
    out += "\n" + plain(o.doc) + "\n";
  }
  return out;
}

std::string examples(std::span<const std::string_view> lines) {
  std::string out = ".SH EXAMPLES\n";
  for (std::string_view line : lines) out += ".EX\n" + plain(line) + "\n.EE\n";
  return out;
}

std::string page_of_all() {
  std::string out = head("acu", "trace and profile a running Linux system with scripts in the language of bpftrace");
  out += ".SH SYNOPSIS\n" + bold("acu") + " " + italic("SUBCOMMAND") + " \\[u2026]\n.br\n" + bold("acu") + " [" + italic("options") + "] " +
         italic("FILE") + "\n.br\n" + bold("acu") + " [" + italic("options") + "] " + bold("-e") + " " + italic("SCRIPT") +
         "\n.br\n" + bold("acu") + " " + italic("TOOL") + " \\[u2026]\n.SH SUBCOMMANDS\n";
  std::vector<std::string_view> lines;
  for (const spec::Subcommand& s : spec::subcommands) {
    out += ".TP\n" + bold("acu-" + std::string(s.name)) + "(1)\n" + plain(s.doc) + "\n";
    lines.push_back(s.example.substr(0, s.example.find('\n')));
  }
  out += ".SH TOOLS\nBuilt-in scripts; " + bold("acu tools") + " describes each in one line:\n";
  for (const Script& s : all_scripts()) out += plain(s.name) + "\n";
  return out + examples(lines);
}

} // namespace

std::string manual(const spec::Subcommand* subcommand) {
  if (!subcommand) return page_of_all();
  const spec::Subcommand& s = *subcommand;
  const std::string_view what = s.doc.substr(0, s.doc.find_first_of(":.\n"));
  std::string out = head("acu-" + std::string(s.name), what);
  out += ".SH SYNOPSIS\n" + bold("acu " + std::string(s.name)) + " " + plain(s.usage) + "\n.SH DESCRIPTION\n" + plain(s.doc) + "\n";
  const std::vector<std::string_view> lines = base::split(s.example, '\n');
  return out + options(s.options) + examples(lines) + ".SH SEE ALSO\n" + bold("acu") + "(1)\n";
}

} // namespace tool
