#include "format/go_lines.h"

#include <algorithm>

namespace format {

using base::Reader;

// A record after the place of the name, in 32 bits each: {size of arguments, a place for deferred calls,
// stack, file, line, how many more lists, list of files (since 1.16)}.
enum : unsigned { file_list = 4, line_list = 5, list_count = 6, files_of_unit = 7 };
static constexpr uint32_t inline_number = 2; // of the further lists
static constexpr uint32_t no_data = UINT32_MAX;
static constexpr int most_depth = 64;
static constexpr size_t most_samples = 64;
static constexpr uint64_t word = 8;
static constexpr int most_numbers = 1 << 16, most_numbers_of_sample = 1 << 12; // of a list

// Of a list of inlined calls.
struct GoLines::InlineForm {
  uint8_t data;        // which of the function's data it is
  uint8_t size;        // bytes of an entry
  uint8_t name, place; // places in an entry
};

// Of Go 1.20, 1.17, 1.13.
static constexpr GoLines::InlineForm inline_forms[] = {
    {.data = 3, .size = 16, .name = 4, .place = 8},
    {.data = 3, .size = 20, .name = 12, .place = 16},
    {.data = 4, .size = 20, .name = 12, .place = 16},
};

GoLines::GoLines(const GoTable& table) : table_(table) { choose_form(); }

// ---- numbers by address

uint32_t GoLines::field(const Function& f, unsigned after_name) const {
  const uint64_t name = table_.form().has_offsets ? 4 : 8;
  return Reader(table_.functions(), f.record + name + after_name * 4).number<uint32_t>();
}

// Pairs of how much the number differs, and how many instructions it holds for. `take`: the number and where
// it ends; false ends it.
template<class Take> void GoLines::each_number(const Function& f, uint32_t list, int most, Take take) const {
  if (!list) return; // there is none
  Reader r(table_.numbers(), list);
  uint64_t address = f.begin;
  uint32_t value = UINT32_MAX; // -1
  for (int i = 0; i < most && address < f.end; i++) {
    auto change = static_cast<uint32_t>(r.uleb128());
    if (!r.ok() || (change == 0 && i > 0)) return;
    value += change & 1 ? ~(change >> 1) : change >> 1;
    address += r.uleb128() * table_.instruction_size();
    if (!r.ok() || !take(static_cast<int32_t>(value), address)) return;
  }
}

int32_t GoLines::number(const Function& f, uint32_t list, uint64_t address) const {
  int32_t out = -1;
  each_number(f, list, most_numbers, [&](int32_t value, uint64_t end) {
    if (address < end) out = value;
    return address >= end;
  });
  return out;
}

int32_t GoLines::highest(const Function& f, uint32_t list) const {
  int32_t out = -1;
  each_number(f, list, most_numbers_of_sample,
              [&](int32_t value, uint64_t) { return out = std::max(out, value), true; });
  return out;
}

GoFrame GoLines::position(const Function& f, uint64_t address) const {
  GoFrame out = {.function = f.name, .file = {}};
  const int32_t file = number(f, field(f, file_list), address),
                line = number(f, field(f, line_list), address);
  if (file < 0 || line <= 0) return out;
  const uint64_t unit = table_.form().has_parts ? field(f, files_of_unit) : 0;
  Reader place(table_.file_lists(), (unit + static_cast<uint64_t>(file)) * 4);
  auto text = place.number<uint32_t>();
  if (!place.ok() || text == no_data) return out;
  out.file = base::text_at(table_.files(), text);
  if (!out.file.empty()) out.line = static_cast<uint32_t>(line);
  return out;
}

// ---- inlined calls

// The list that tells which call an address is in; 0: none was inlined.
uint32_t GoLines::inline_list(const Function& f) const {
  if (field(f, list_count) <= inline_number) return 0;
  Reader lists(table_.functions(), f.record + table_.form().functions_data + 1);
  lists.skip(inline_number * 4);
  return lists.number<uint32_t>();
}

// The address of the list of calls of a function: up to Go 1.17 it is written down, since then counted from
// `base`.
std::optional<uint64_t> GoLines::calls_of(const Function& f, const InlineForm& form, uint64_t base) const {
  const uint64_t count_at = f.record + table_.form().functions_data;
  if (form.data >= Reader(table_.functions(), count_at).number<uint8_t>()) return std::nullopt;
  const uint64_t data = count_at + 1 + uint64_t{field(f, list_count)} * 4;
  if (!table_.form().has_offsets) {
    const uint64_t begin = table_.functions_address() + data;
    auto address = table_.words().at((begin + word - 1) / word * word + form.data * word);
    return address && *address ? address : std::nullopt;
  }
  Reader r(table_.functions(), data + form.data * uint64_t{4});
  auto offset = r.number<uint32_t>();
  return r.ok() && offset != no_data ? std::optional(base + offset) : std::nullopt;
}

std::optional<GoLines::Call> GoLines::call(const Function& f, const InlineForm& form, uint64_t calls,
                                           int32_t index) const {
  Reader entry(table_.words().bytes(calls + static_cast<uint64_t>(index) * form.size));
  Reader name_reader = entry, place_reader = entry;
  name_reader.skip(form.name);
  place_reader.skip(form.place);
  const uint64_t name = name_reader.number<uint32_t>(), place = place_reader.number<uint32_t>();
  if (!place_reader.ok() || place >= f.end - f.begin || name >= table_.names().size()) return std::nullopt;
  const bool is_begin = name ? table_.names()[name - 1] == std::byte{0} : place != 0; // zeroes are no call
  if (!is_begin) return std::nullopt;
  std::string_view text = base::text_at(table_.names(), name);
  if (text.empty()) return std::nullopt;
  return Call{text, place};
}

bool GoLines::fits(const std::vector<Function>& samples, const InlineForm& form, uint64_t base) const {
  return std::ranges::all_of(samples, [&](const Function& f) {
    auto calls = calls_of(f, form, base);
    const int32_t last = highest(f, inline_list(f));
    for (int32_t i = 0; calls && i <= last; i++)
      if (!call(f, form, *calls, i)) return false;
    return calls.has_value();
  });
}

// Since 1.18 what lists count from is in the runtime's description of the program, a little behind the
// middle.
void GoLines::choose_form() {
  constexpr uint64_t first_candidate = 36, last_candidate = 48;
  std::vector<Function> samples;
  const uint64_t step = std::max<uint64_t>(1, table_.size() / 4096); // not only of the first package
  for (uint64_t i = 0; i < table_.size() && samples.size() < most_samples; i += step)
    if (auto f = table_.at(i); f && highest(*f, inline_list(*f)) >= 0) samples.push_back(*f);
  if (samples.empty()) return;
  std::vector<uint64_t> bases;
  if (!table_.form().has_offsets) bases.push_back(0);
  for (uint64_t i = first_candidate; table_.module_data() && table_.form().has_offsets && i <= last_candidate;
       i++)
    if (auto base = table_.words().at(table_.module_data() + i * word); base && *base) bases.push_back(*base);
  for (const InlineForm& form : inline_forms)
    for (uint64_t base : bases)
      if (!form_ && fits(samples, form, base)) form_ = &form, base_ = base;
}

std::vector<GoFrame> GoLines::find(uint64_t address) const {
  std::vector<GoFrame> out;
  auto f = table_.holding(address);
  if (!f) return out;
  const uint32_t list = form_ ? inline_list(*f) : 0;
  auto calls = list ? calls_of(*f, *form_, base_) : std::nullopt;
  for (int depth = 0; calls && depth < most_depth; depth++) {
    const int32_t index = number(*f, list, address);
    auto inlined = index < 0 ? std::nullopt : call(*f, *form_, *calls, index);
    if (!inlined) break;
    out.push_back(position(*f, address));
    out.back().function = inlined->function;
    address = f->begin + inlined->place;
  }
  out.push_back(position(*f, address));
  return out;
}

} // namespace format
