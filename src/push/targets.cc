#include "push/targets.h"

#include "base/output_file.h"
#include "base/text.h"

#include <algorithm>

namespace push {

namespace {

std::string kind_names() {
  std::string out;
  for (const KindRow& row : kind_rows) out.append(out.empty() ? "" : ", ").append(row.name);
  return out;
}

// RFC 9110, section 5.6.2
bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos; });
}

base::Result<Target> read_target(std::string_view line) {
  auto wrong = [](const std::string& what) { return base::Error{base::Failure::usage, what}; };
  std::vector<std::string> words;
  std::string blanks(line);
  std::ranges::replace(blanks, '\t', ' ');
  for (std::string_view word : base::split(blanks, ' '))
    if (const std::string_view trimmed = base::trim(word); !trimmed.empty()) words.emplace_back(trimmed);
  const auto* row = std::ranges::find(kind_rows, std::string_view(words[0]), &KindRow::name);
  if (row == std::end(kind_rows)) return wrong("unknown kind of server `" + base::printable(words[0]) + "`\nhint: " + kind_names());
  if (words.size() < 2) return wrong("the URL is missing\nhint: " + words[0] + " https://HOST[:PORT]");
  auto url = net::read_url(words[1]);
  if (!url) return wrong("the URL is not one of a server\nhint: http://127.0.0.1:4040 or https://collector.example/base, without a user");
  Target out = {.row = row, .to = std::move(url->to), .path = std::move(url->target), .headers = {}};
  if (row->path.empty()) {
    if (out.path.empty()) out.path = "/";
  } else {
    if (out.path.find('?') != out.path.npos) return wrong("the URL of `" + words[0] + "` must not have a query; the path of the protocol is added to it");
    while (out.path.ends_with('/')) out.path.pop_back();
    out.path += row->path;
  }
  for (size_t i = 2; i < words.size(); i++) {
    constexpr std::string_view ca = "ca=";
    if (!words[i].starts_with(ca)) return wrong("only ca=FILE may follow the URL, not `" + base::printable(words[i]) + "`\nhint: headers are lines of their own below it, which begin with a blank");
    if (!out.to.is_encrypted) return wrong("ca=FILE is for https://");
    out.to.authorities = words[i].substr(ca.size());
    ACU_CHECK(base::read_file(out.to.authorities));
  }
  return out;
}

base::Result<std::pair<std::string, std::string>> read_header(std::string_view line) {
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon), value = colon == line.npos ? std::string_view() : base::trim(line.substr(colon + 1));
  if (!is_token(name) || value.empty() || std::ranges::any_of(value, [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    return base::Error{base::Failure::usage, "a header is `Name: value`"}; // it may be a secret: not shown
  return std::pair(std::string(name), std::string(value));
}

} // namespace

std::string Target::shown() const { return std::string(row->name) + " at " + to.shown(); }

base::Result<std::vector<Target>> read_targets(std::string_view text, const std::string& file) {
  std::vector<Target> out;
  size_t number = 0;
  for (std::string_view line : base::split(text, '\n')) {
    number++;
    auto at = [&](base::Error error) { return base::Error{error.kind, file + ":" + std::to_string(number) + ": " + error.message}; };
    const std::string_view words = base::trim(line);
    if (words.empty() || words[0] == '#') continue;
    if (line[0] == ' ' || line[0] == '\t') {
      auto header = read_header(words);
      if (!header.ok()) return at(header.error());
      if (out.empty()) return at({base::Failure::usage, "a header (a line that begins with white space) must follow a server"});
      out.back().headers.push_back(std::move(*header));
      continue;
    }
    auto target = read_target(words);
    if (!target.ok()) return at(target.error());
    target->line = number;
    out.push_back(std::move(*target));
  }
  if (out.empty()) return base::Error{base::Failure::usage, file + ": no servers in this file\nhint: lines of KIND URL; kinds: " + kind_names()};
  return out;
}

} // namespace push
