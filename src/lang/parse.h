// Text to tree. A recursive-descent parser; the grammar stands above each function of parse*.cc.
#pragma once

#include "base/diagnostics.h"
#include "host/environment.h"
#include "lang/ast.h"

#include <memory>

namespace lang {

// A piece of a script that comes from elsewhere, with a text of its own: mistakes in it are told with its own name and place.
struct Insert {
  std::string name;  // what it stands for
  std::string text;
  std::string shown; // what messages call it: "--filter"
  // A user's script, or a part of one, that runs beside acu's own: it has C macros and maps of its own (Parts::own_maps), and acu's imports are not for it.
  bool is_users = false;
};

// What is put into a script.
struct Parts {
  // Values of `#param`, -D NAME=VALUE. A name that the script does not declare is a mistake.
  std::vector<std::pair<std::string, std::string>> parameters;
  // For scripts of acu's own. The body of the macro of that name becomes this expression, which may use maps; …
  std::vector<Insert> expressions;
  // … the probe that is called so (`name = …`) is put at these places instead of its own, of which the text is a list, with a predicate if it is a
  // user's; an empty one leaves the probe out; …
  std::vector<Insert> places;
  // … and `import` finds these before it looks for files.
  std::vector<Insert> imports;
  // Where a user's script runs beside acu's own: names of acu's maps begin with this, which no script can write: "flight.".
  std::string own_maps;
};

struct ParseOptions {
  std::vector<std::string> positional; // $1 … in probe names
  std::vector<std::string> include_dirs, include_files; // -I, --include
  Parts parts;
  host::Environment* host = nullptr; // whose kernel may have types; nullptr: this host
};

// Parses a whole script; files that it includes and imports are added to `source`. All mistakes go to
// `diagnostics`; the tree is returned also then, as far as it goes.
// Nesting deeper than 200 levels is a mistake, not a crash. Identifiers stay names: the checker resolves them.
std::unique_ptr<Program> parse(base::Source& source, const ParseOptions& options,
                               base::Diagnostics& diagnostics);

// --dump ast: one node a line, indented, with types where the checker has set them.
std::string to_string(const Program& program);

// "+", "<<", "&&" …
std::string_view to_string(BinaryOp op);
std::string_view to_string(UnaryOp op);

} // namespace lang
