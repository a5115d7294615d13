// TLS 1.2 and 1.3 by OpenSSL: the certificate and key of a server, checked before they are used.
#pragma once

#include "base/result.h"

#include <memory>
#include <string>
#include <vector>

struct ssl_ctx_st;
struct x509_st;

namespace web {

struct TlsFiles {
  std::string certificate, key; // empty: no TLS
  bool are_named() const { return !certificate.empty(); }
};

class Tls {
public:
  // Failure: a file cannot be read, others can read the key, it is not the certificate's, or the certificate is not valid now.
  static base::Result<std::shared_ptr<const Tls>> open(const TlsFiles& files);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  ssl_ctx_st* context() const { return context_; }
  // Whether the certificate is for this name or address, as the header Host has it ("web1:7070", "[::1]:7070").
  bool is_for(std::string_view host) const;
  const std::vector<std::string>& names() const { return names_; } // of hosts, as the certificate lists them
  const std::string& valid_until() const { return valid_until_; }  // "2027-05-01 12:00 UTC"
  int64_t seconds_left() const { return seconds_left_; }           // when it was read

private:
  Tls() = default;
  base::Status read(const TlsFiles& files);

  ssl_ctx_st* context_ = nullptr;
  x509_st* certificate_ = nullptr; // the context's
  std::vector<std::string> names_;
  std::string valid_until_;
  int64_t seconds_left_ = 0;
};

} // namespace web
