// The kernel's types as C declares them, for people: `acu list -v 'struct list_head'`.
#pragma once

#include "format/btf.h"

#include <string>

namespace format {

// "struct list_head {\n        struct list_head *next;\n        …};" of a structure, union or enumeration; without a
// newline at the end. `margin` indents each level.
std::string definition(Btf& btf, uint32_t id, std::string_view margin = "        ");
// "struct sock *", "const char *", "unsigned int".
std::string type_name(Btf& btf, uint32_t id);

} // namespace format
