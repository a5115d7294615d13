#include "report/page.h"

#include "base/markup.h"

namespace report {

namespace {

constexpr std::string_view style = R"(:root { color-scheme: light dark; --ink: #1c2126; --soft: #5c6670; --line: #d8dde2; --paper: #fff; --box: #f5f7f9; --sure: #b3261e; --likely: #a05a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7eb; --soft: #9aa5b0; --line: #39424b; --paper: #14181c; --box: #1d2329; --sure: #ff8a80; --likely: #ffb74d; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 22px; margin: 0; } h2 { font-size: 17px; margin: 32px 0 8px; }
.soft { color: var(--soft); } .confirmed { color: var(--sure); } .likely { color: var(--likely); }
article { border: 1px solid var(--line); border-radius: 8px; background: var(--box); padding: 12px 16px; margin: 16px 0; }
article h2 { margin: 0 0 8px; }
dl { display: grid; grid-template-columns: 5em 1fr; gap: 4px 12px; margin: 0; } dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.bar { height: 10px; max-width: 400px; background: var(--line); border-radius: 5px; position: relative; overflow: hidden; }
.bar i { position: absolute; top: 0; bottom: 0; left: 0; background: currentColor; } .bar b { position: absolute; top: 0; bottom: 0; background: currentColor; opacity: .35; }
details { margin-top: 10px; } summary { cursor: pointer; } ul { margin: 4px 0; padding-left: 20px; }
code, pre { font: 12.5px/1.45 ui-monospace, monospace; } pre { overflow-x: auto; background: var(--box); border: 1px solid var(--line); border-radius: 8px; padding: 12px; }
table { border-collapse: collapse; } td, th { text-align: left; padding: 3px 14px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; } th { color: var(--soft); font-weight: normal; }
.picture { overflow-x: auto; } .picture svg { font: 12px system-ui, sans-serif; fill: var(--ink); } .picture object { width: 1200px; max-width: none; border: 0; }
)";

// Bytes of a URL that stand for themselves there and in an attribute.
bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || std::string_view(" -_.,:;/=()'!*+?@$~").find(c) != std::string_view::npos; }

} // namespace

std::string page(std::string_view title, std::string_view body) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
  base::append_markup(out, title);
  out.append("</title>\n<style>\n").append(style).append("</style>\n</head>\n<body>\n<main>\n").append(body);
  return out + "</main>\n</body>\n</html>\n";
}

std::string picture_element(std::string_view svg, std::string_view title) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out = "<div class=\"picture\"><object type=\"image/svg+xml\" aria-label=\"" + base::markup(title) + "\" data=\"data:image/svg+xml;charset=utf-8,";
  for (char c : svg) {
    if (is_plain(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%', out += digits[byte >> 4], out += digits[byte & 15];
  }
  return out + "\"></object></div>\n";
}

bool is_page(std::string_view file) { return file.ends_with(".html") || file.ends_with(".htm"); }

} // namespace report
