// What `acu serve`, `acu export`, `acu store`, `acu agent` and `acu collect` have in common.
#pragma once

#include "session/arguments.h"
#include "store/store.h"
#include "web/tls.h"

namespace tool {

// --keep and --max-size.
base::Result<store::Limits> read_limits(const session::Arguments& arguments);

// Where files go that were not named: /var/lib/acu for root, $XDG_STATE_HOME/acu for others. It is made for its owner alone.
base::Result<std::string> state_folder();
// --listen ADDRESS:PORT. Failure (usage): it is none.
base::Status read_listen(const std::string& text, std::string& address, uint16_t& port);
// The only word of a private file (--token-file).
base::Result<std::string> read_token(const std::string& path);
// --tls-cert and --tls-key. Failure (usage): one without the other.
base::Result<web::TlsFiles> read_tls(const session::Arguments& arguments);

} // namespace tool
