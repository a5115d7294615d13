// Targets (RFC 3986, sections 2.1 and 3.4) and cookies (RFC 6265, section 4.2).
#include "web/http.h"

#include "base/text.h"
#include "report/json_object.h"

namespace web {

namespace {

std::string_view find(const std::vector<std::pair<std::string, std::string>>& in, std::string_view name) {
  for (const auto& [known, value] : in)
    if (known == name) return value;
  return {};
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool decode(std::string_view text, bool plus_is_blank, std::string& to) {
  for (size_t i = 0; i < text.size(); i++) {
    char c = text[i];
    if (c == '+' && plus_is_blank) c = ' ';
    if (c == '%') {
      if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return false;
      c = static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    }
    if (c == '\0') return false;
    to += c;
  }
  return true;
}

} // namespace

bool Request::has_body() const {
  const std::string_view length = header("content-length");
  return !body.empty() || !header("transfer-encoding").empty() || (!length.empty() && length != "0");
}

std::string_view Request::header(std::string_view name) const { return find(headers, name); }
std::string_view Request::parameter(std::string_view name) const { return find(parameters, name); }
bool Request::has(std::string_view name) const {
  for (const auto& [known, value] : parameters)
    if (known == name) return true;
  return false;
}

Response failure(int status, std::string_view message) {
  constexpr std::string_view mark = "\nhint: ";
  report::JsonObject out;
  const size_t at = message.find(mark);
  out.add("error", base::trim(message.substr(0, at)));
  if (at != message.npos) out.add("hint", base::trim(message.substr(at + mark.size())));
  return {.status = status, .body = out.end()};
}

bool read_target(std::string_view target, Request& to) {
  const size_t mark = target.find('?');
  if (!target.starts_with('/') || !decode(target.substr(0, mark), false, to.path)) return false;
  for (std::string_view part : base::split(to.path, '/'))
    if (part == ".." || part == ".") return false;
  if (mark == target.npos) return true;
  for (std::string_view pair : base::split(target.substr(mark + 1), '&')) {
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    std::string name, value;
    if (!decode(pair.substr(0, equals), true, name)) return false;
    if (equals != pair.npos && !decode(pair.substr(equals + 1), true, value)) return false;
    to.parameters.emplace_back(std::move(name), std::move(value));
  }
  return true;
}

std::string_view cookie(std::string_view header, std::string_view name) {
  for (std::string_view part : base::split(header, ';')) {
    part = base::trim(part);
    const size_t equals = part.find('=');
    if (equals != part.npos && part.substr(0, equals) == name) return part.substr(equals + 1);
  }
  return {};
}

} // namespace web
