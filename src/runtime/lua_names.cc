#include "runtime/lua_names.h"

namespace runtime {

// As luaO_chunkid() does; of a file's path the last part.
void name_lua_function(Code& code, std::string_view chunk) {
  std::string_view shown;
  std::string text;
  if (chunk.starts_with('@') || chunk.starts_with('=')) {
    code.file = chunk.substr(1);
    shown = std::string_view(code.file).substr(code.file.rfind('/') + 1);
  } else {
    constexpr size_t longest = 40;
    const std::string_view line = chunk.substr(0, chunk.find('\n'));
    text = "[string \"" + std::string(line.substr(0, longest)) + (line.size() < chunk.size() || line.size() > longest ? "..." : "") + "\"]";
    code.file = shown = text;
  }
  code.name = code.first_line ? std::string(shown) + ":" + std::to_string(code.first_line) : "main chunk " + std::string(shown);
}

} // namespace runtime
