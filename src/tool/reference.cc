// `acu help reference`: the reference manual as Markdown, made from the tables and from nothing else.
// docs/reference.md is its output; test/docs.py compares the two and runs every example.
#include "spec/builtins.h"
#include "spec/config.h"
#include "spec/probes.h"
#include "spec/subcommands.h"
#include "sql/tables.h"
#include "tool/tool.h"

#include <string>

namespace tool {

namespace {

struct GroupTitle {
  spec::Group group;
  std::string_view title;
  std::string_view about;
};
constexpr GroupTitle groups[] = {
    {spec::Group::context, "The event and who caused it", ""},
    {spec::Group::time, "Time", ""},
    {spec::Group::memory, "Memory", "Pointers know whether they point into the kernel or into the process."},
    {spec::Group::text, "Text and numbers", ""},
    {spec::Group::map, "Maps", ""},
    {spec::Group::aggregation, "Aggregations",
     "Assign them to a map: `@m[key] = count();`."},
    {spec::Group::output, "Output", "Asynchronous: done outside the probe, in the order of the events."},
    {spec::Group::symbol, "Stacks, symbols and other names", ""},
    {spec::Group::network, "Network", ""},
    {spec::Group::control, "Control", ""},
    {spec::Group::compile, "Evaluated at compile time", ""},
};

std::string code(std::string_view text) { return "`" + std::string(text) + "`"; }

// Text in a cell of a table: its bars would end the cell.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

void add_example(std::string& out, std::string_view script) {
  if (!script.empty()) out += "\n```bt\n" + std::string(script) + "\n```\n";
}

void add_builtin(std::string& out, const spec::Builtin& b) {
  const spec::BuiltinTexts texts = b.texts();
  out += "\n### " + std::string(b.name) + "\n\n" + code(texts.signature) + "\n\n" + std::string(texts.doc) + "\n";
  std::string notes;
  auto note = [&](std::string_view text) { notes += (notes.empty() ? "" : " · ") + std::string(text); };
  if (b.async) note("asynchronous");
  if (b.unsafe) note("needs `--unsafe`");
  if (!texts.needs.empty()) note("kernel: " + std::string(texts.needs));
  if (!notes.empty()) out += "\n*" + notes + "*\n";
  add_example(out, texts.example);
}

std::string builtins_chapter() {
  std::string out = "\n# Builtins\n\nA builtin without parameters can be written as a value or as a call: `pid` and "
                    "`pid()` are the same.\n";
  for (const GroupTitle& g : groups) {
    out += "\n## " + std::string(g.title) + "\n";
    if (!g.about.empty()) out += "\n" + std::string(g.about) + "\n";
    for (const spec::Builtin& b : spec::builtins)
      if (b.group == g.group) add_builtin(out, b);
  }
  return out;
}

std::string probes_chapter() {
  std::string out = "\n# Probes\n\nNames may contain the wildcards `*` and `?`. Separate several probes by commas.\n";
  for (const spec::ProbeKind& p : spec::probe_kinds) {
    out += "\n## " + std::string(p.name) + "\n\n" + code(p.form);
    for (std::string_view alias : p.aliases)
      if (!alias.empty()) out += ", also " + code(alias);
    out += "\n\n" + std::string(p.doc) + "\n";
  }
  return out;
}

std::string config_chapter() {
  std::string out = "\n# Configuration\n\nSet a key with `config = { key = value; … }` at the start of a script, or with an environment "
                    "variable: its name in capitals after `ACU_` or `BPFTRACE_`. The environment takes precedence.\n\n"
                    "| key | default | values | meaning |\n|---|---|---|---|\n";
  constexpr std::string_view kinds[] = {"a number", "true, false", "", "text"};
  for (const spec::ConfigKey& key : spec::config_keys) {
    std::string_view values = key.allowed.empty() ? kinds[static_cast<size_t>(key.kind)] : key.allowed;
    out += "| " + code(key.name) + " | " + (key.value.empty() ? "" : code(key.value)) + " | " + cell(values) + " | " +
           cell(key.doc) + " |\n";
  }
  out += "\nEnvironment only: `ACU_COLOR` (or `BPFTRACE_COLOR`) is `always`, `never` or `auto`, for the colors of "
         "messages; `BPFTRACE_BTF` is a file with the kernel's types; `ACU_CACHE` is the directory for cached tables of names "
         "(empty: no cache; default: `/var/cache/acu` for root, `$XDG_CACHE_HOME/acu` or `~/.cache/acu` for others).\n";
  out += "\nThe variables of bpftrace before 0.20 work, too:";
  for (const spec::OldVariable& old : spec::old_variables) {
    out += (&old == spec::old_variables ? " " : ", ") + code(old.name) + " sets " + code(old.key);
    if (!old.values.empty()) out += " (" + code(old.values) + ")";
  }
  return out + ".\n";
}

std::string option_spelling(const spec::Option& o) {
  std::string out = o.letter ? "-" + std::string(1, o.letter) : "";
  if (!o.name.empty()) out += (out.empty() ? "--" : ", --") + std::string(o.name);
  if (!o.argument.empty()) out += " " + std::string(o.argument);
  return out;
}

std::string commands_chapter() {
  std::string out = "\n# Commands\n";
  for (const spec::Subcommand& s : spec::subcommands) {
    out += "\n## acu " + std::string(s.name) + "\n\n`acu " + std::string(s.name) + " " + std::string(s.usage) +
           "`\n\n" + std::string(s.doc) + "\n\n| option | meaning |\n|---|---|\n";
    for (const spec::Option& o : s.options)
      out += "| " + code(cell(option_spelling(o))) + " | " + cell(o.doc) + " |\n";
    out += "\nFor example: " + code(s.example.substr(0, s.example.find('\n'))) + "\n";
  }
  return out;
}

std::string tables_chapter() { return "\n# Tables\n\nFor `acu sql`; see [sql.md](sql.md).\n\n" + sql::tables_markdown(); }

} // namespace

std::string reference() {
  return "<!-- Made by `acu help reference` from the tables in src/spec. Change those, then run `make docs`. -->\n"
         "# The reference manual of acu\n\nAll names that scripts can use, with examples that run as they "
         "are: `acu run -e 'EXAMPLE'`. To learn the language, start with the [tutorial](tutorial.md).\n" +
         builtins_chapter() + probes_chapter() + config_chapter() + commands_chapter() + tables_chapter();
}

} // namespace tool
