// Text to tree. A recursive-descent parser; the grammar stands above each function of parse*.cc.
#pragma once

#include "base/diagnostics.h"
#include "lang/ast.h"

#include <memory>

namespace lang {

struct ParseOptions {
  std::vector<std::string> positional; // $1 … in probe names
  std::vector<std::string> include_dirs, include_files; // -I, --include
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
