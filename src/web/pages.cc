// Content Security Policy Level 3 (https://www.w3.org/TR/CSP3/), section 2.3.1: hashes of inline blocks.
#include "web/pages.h"

#include "base/base64.h"

#include <sys/types.h>

#include <sha2.h>

namespace web {

namespace {

std::string hash_of(std::string_view text) {
  SHA2_CTX context;
  uint8_t digest[SHA256_DIGEST_LENGTH];
  ::SHA256Init(&context);
  ::SHA256Update(&context, reinterpret_cast<const uint8_t*>(text.data()), text.size());
  ::SHA256Final(digest, &context);
  return "'sha256-" + base::base64({reinterpret_cast<const char*>(digest), sizeof digest}) + "'";
}

// Of all elements of a name whose content is run or applied.
std::string hashes(std::string_view html, std::string_view element) {
  std::string out;
  const std::string open = "<" + std::string(element), close = "</" + std::string(element) + ">";
  for (size_t at = 0; (at = html.find(open, at)) != html.npos;) {
    const size_t begin = html.find('>', at), end = html.find(close, at);
    if (begin == html.npos || end == html.npos) break;
    const std::string_view tag = html.substr(at, begin - at);
    at = end + close.size();
    if (tag.find("application/json") != tag.npos || tag.find(" src=") != tag.npos || begin > end) continue; // data
    out += (out.empty() ? "" : " ") + hash_of(html.substr(begin + 1, end - begin - 1));
  }
  return out.empty() ? "'none'" : out;
}

} // namespace

std::string hashes_of(std::string_view html) { return "script-src " + hashes(html, "script") + "; style-src " + hashes(html, "style"); }

Response page(std::string html, std::string_view sources) {
  const std::string policy = "default-src 'none'; base-uri 'none'; form-action 'none'; " + hashes_of(html) + "; " + std::string(sources);
  return {.type = "text/html; charset=utf-8", .body = std::move(html), .headers = {{"Content-Security-Policy", policy}}};
}

} // namespace web
