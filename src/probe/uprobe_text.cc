#include "probe/uprobe_text.h"

#include "base/file_map.h"
#include "base/text.h"
#include "symbol/binaries.h"

#include <algorithm>

namespace probe {

static std::optional<uint32_t> parse_line(std::string_view text) {
  auto n = base::parse_integer(text);
  bool is_decimal = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  return n && is_decimal && *n > 0 && *n < UINT32_MAX ? std::optional(static_cast<uint32_t>(*n))
                                                      : std::nullopt;
}

// BINARY@FILE:LINE[:COLUMN]. The name of a file may have an `@`, too: then it is there.
static bool read_statement(Machine& machine, Parts parts, UserPlace& to) {
  // Names of containers may have one as well.
  const size_t path = parts[1].starts_with(symbol::container_sign) ? parts[1].find(':') : 0;
  size_t sign = parts[1].find('@', std::min(path, parts[1].size()));
  size_t first = 2; // part with the line
  if (parts.size() > 3 && parts[2].starts_with('@')) {
    to.binary = parts[1];
    to.file = parts[2].substr(1);
    first = 3;
  } else if (sign != parts[1].npos && sign > 0) {
    std::string whole(parts[1]);
    if (whole[0] == '/' && base::open_regular(whole, machine.binaries().root()).ok()) return false;
    to.binary = parts[1].substr(0, sign);
    to.file = parts[1].substr(sign + 1);
  }
  if (to.file.empty() || parts.size() <= first || parts.size() > first + 2) return false;
  auto line = parse_line(parts[first]);
  auto column = parts.size() > first + 1 ? parse_line(parts[first + 1]) : std::optional<uint32_t>(0);
  if (!line || !column) return false;
  to.line = *line;
  to.column = *column;
  return true;
}

// "f+0x10": what stands behind the last `+`, if it is a number.
static void take_offset(UserPlace& to) {
  size_t plus = to.function.rfind('+');
  if (plus == to.function.npos || plus == 0) return;
  auto offset = base::parse_integer(std::string_view(to.function).substr(plus + 1));
  if (!offset || to.function[plus + 1] < '0' || to.function[plus + 1] > '9') return;
  to.offset = *offset;
  to.has_offset = true;
  to.function.resize(plus);
}

std::optional<UserPlace> parse_user_place(Machine& machine, std::string_view kind, Parts parts,
                                          Mismatch& mismatch) {
  UserPlace out;
  auto refuse = [&](std::string what) {
    malformed(mismatch, kind, std::move(what));
    return std::nullopt;
  };
  if (parts.size() == 2 && parts[1] == "*" && machine.pid() > 0) { // all that the process has
    out.binary = out.function = "*";
    return out;
  }
  if (parts.size() >= 3 && read_statement(machine, parts, out)) return out;
  if (parts.size() < 3 || (parts[1].empty() && machine.pid() < 0))
    return refuse("`" + join(parts) + "` must name a program or library and a function");
  out.binary = parts[1];
  out.by_source = parts[2] == "cpp" && parts.size() > 3;
  out.function = join(parts.subspan(out.by_source ? 3 : 2));
  if (out.function.size() > 1 && out.function.front() == '"' && out.function.back() == '"')
    out.function = out.function.substr(1, out.function.size() - 2); // as names of events are printed
  if (out.function.empty()) return refuse("the function is missing in `" + join(parts) + "`");
  if (out.function[0] >= '0' && out.function[0] <= '9') {
    out.address = base::parse_integer(out.function);
    if (!out.address) return refuse(base::quoted(out.function) + " is neither a function nor an address");
    out.function.clear();
    return out;
  }
  take_offset(out);
  if (out.has_offset && base::has_glob(out.function) && !out.by_source)
    return refuse("an offset needs one function, not the pattern " + base::quoted(out.function));
  return out;
}

} // namespace probe
