#include "dlang/options.h"

#include "base/text.h"
#include "dlang/rate.h"

namespace dlang {

std::optional<ScriptOption> option_named(std::string_view name) {
  for (const ScriptOption& o : script_options)
    if (o.name == name) return o;
  return {};
}

std::optional<uint64_t> size_of_option(std::string_view text) {
  uint64_t unit = 1;
  if (!text.empty())
    if (const size_t power = std::string_view("kmgt").find(static_cast<char>(text.back() | 0x20)); power != std::string_view::npos)
      unit = uint64_t{1} << (10 * (power + 1)), text.remove_suffix(1);
  const auto n = base::parse_integer(text);
  return n && *n <= (uint64_t{1} << 40) / unit ? std::optional(*n * unit) : std::nullopt;
}

bool is_value_of(OptionValue kind, std::string_view text) {
  switch (kind) {
  case OptionValue::any: return true;
  case OptionValue::size: return size_of_option(text).has_value();
  case OptionValue::rate: return text == "0" || rate_of(text).has_value();
  case OptionValue::policy: return text == "switch" || text == "fill" || text == "ring";
  case OptionValue::resize: return text == "auto" || text == "manual";
  }
  return true;
}

bool is_of_display(OptionEffect effect) {
  using enum OptionEffect;
  constexpr OptionEffect all[] = {quiet, flow, sort_by_key, sort_reversed, sort_position, sort_key_position, zoom, bars, packed, encoding, stack_indent};
  for (OptionEffect e : all)
    if (e == effect) return true;
  return false;
}

bool set_option(Display& display, OptionEffect effect, std::string_view value) {
  const bool is_on = value != "unset";
  auto number = [&](size_t& into) {
    const auto n = base::parse_integer(value);
    if (n && *n <= 4096) into = static_cast<size_t>(*n);
    return n && *n <= 4096;
  };
  switch (effect) {
  case OptionEffect::quiet: return display.quiet = true, is_on; // what a quiet script does not send cannot be shown later
  case OptionEffect::flow: return display.flow = is_on, true;
  case OptionEffect::sort_by_key: return display.sort_by_key = is_on, true;
  case OptionEffect::sort_reversed: return display.sort_reversed = is_on, true;
  case OptionEffect::zoom: return display.zoom = is_on, true;
  case OptionEffect::bars: return display.bars = is_on, true;
  case OptionEffect::packed: return display.packed = is_on, true;
  case OptionEffect::encoding:
    display.encoding = value == "ascii" ? Encoding::ascii : value == "utf8" ? Encoding::utf8 : Encoding::by_terminal;
    return !is_on || display.encoding != Encoding::by_terminal;
  case OptionEffect::sort_position: return number(display.sort_position);
  case OptionEffect::sort_key_position: return number(display.sort_key_position);
  case OptionEffect::stack_indent: return number(display.stack_indent);
  default: return false;
  }
}

} // namespace dlang
