// Any bytes as debug information of a program: everything that can be asked of each of its functions, where
// it begins, inside of it, and after it returned. The input: sizes of .debug_abbrev, of the lists of
// locations and of those of ranges (2 bytes each), these three, then .debug_info, which is also where texts
// are.
#include "probe/probe.h"
#include "probe/user_values.h"

#include "dwarf/ranges.h"

static void ask_all(probe::UserValues& values, const probe::Event& event) {
  size_t count = values.parameter_count(event);
  for (size_t i = 0; i < count && i < 20; i++) values.parameter(event, i);
  if (count < 100) values.parameters(event);
  if (count < 20) values.describe(event, true);
  values.result(event);
  size_t asked = 0;
  for (std::string_view name : values.locals(event))
    if (asked++ < 20) values.local(event, name);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const format::ElfFile self = std::move(*format::ElfFile::open("/proc/self/exe"));
  if (size < 6) return 0;
  const uint8_t* at = data + 6;
  std::vector<std::byte> copies[4]; // each with an end of its own
  auto take = [&](std::vector<std::byte>& to, size_t bytes) {
    bytes = std::min(bytes, static_cast<size_t>(data + size - at));
    std::span<const std::byte> from = std::as_bytes(std::span(at, bytes));
    to.assign(from.begin(), from.end());
    to.shrink_to_fit();
    at += bytes;
    return base::ByteSpan(to);
  };
  auto length = [&](int i) { return static_cast<size_t>(data[i * 2] | data[i * 2 + 1] << 8); };
  dwarf::Sections sections;
  sections.abbrev = take(copies[0], length(0));
  sections.loc = sections.loclists = take(copies[1], length(1));
  sections.ranges = sections.rnglists = take(copies[2], length(2));
  sections.info = sections.str = sections.line_str = take(copies[3], size);
  dwarf::DebugInfo info(sections);
  type::Table table;
  dwarf::Types types(table);
  probe::UserSources sources;
  sources.file = &self;
  sources.info = &info;
  sources.types = &types;
  sources.table = &table;
  probe::UserValues values(sources);
  size_t functions = 0;
  for (size_t i = 0; i < info.units().size() && i < 4; i++) {
    const dwarf::Unit* unit = info.unit(i);
    if (!unit) continue;
    for (dwarf::DieCursor cursor(*unit); cursor.next() && functions < 16;) {
      if (cursor.die().tag() != dwarf::DW_TAG_subprogram) continue;
      std::vector<dwarf::AddressRange> ranges = dwarf::ranges_of(cursor.die());
      if (ranges.empty()) continue;
      functions++;
      probe::Event event{.kind = probe::Kind::uprobe, .function = "f"};
      event.address = event.function_address = ranges[0].begin;
      event.at_entry = true;
      ask_all(values, event);
      event.kind = probe::Kind::uretprobe;
      ask_all(values, event);
      event.kind = probe::Kind::uprobe;
      event.at_entry = false;
      event.address += (ranges[0].end - ranges[0].begin) / 2;
      ask_all(values, event);
    }
  }
  return 0;
}
