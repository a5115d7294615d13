// Tracefs: the kernel's list of trace events and, for each, a text that tells how its record looks. Only what
// is asked for is read; a wildcard costs one read of the list, never a look at single events. Formats:
// Documentation/trace/events.rst of the kernel.
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace format {

// One field of a record, as declared: "field:const char * filename; offset:24; size:8; signed:0;".
struct TraceField {
  std::string_view
      type; // "const char *", "unsigned long", "struct page *", "char" (of an array: of its elements)
  std::string_view name;
  uint32_t offset = 0;
  uint32_t size = 0;
  uint32_t count = 0;    // array: elements; 0 where the text tells none
  bool is_array = false; // "u8 x[16]"
  bool is_signed = false;
  bool is_located =
      false; // "__data_loc T[] x": a u32, the low half of which is the offset of the data in the record
  bool is_common = false; // one of those every record begins with: common_type, …
};

struct TraceFormat {
  std::string_view name;
  uint32_t id = 0;
  std::vector<TraceField> fields;
};

// Reads a format text; the result points into it.
base::Result<TraceFormat> parse_trace_format(std::string_view text);

struct TraceEvent {
  std::string_view category, event;
};

class Tracefs {
public:
  // Where the system has it; mounts it at /sys/kernel/tracing where it is not there yet (root only).
  static base::Result<Tracefs> open();
  // A directory that looks like one (tests).
  explicit Tracefs(std::string root);
  // Texts of its files by their place in it, "available_events": those of another host.
  using ReadText = std::function<base::Result<std::string>(const std::string& place)>;
  explicit Tracefs(ReadText read) : read_(std::move(read)) {}

  // A whole file, by its place in it.
  base::Result<std::string> read(const std::string& place) const;
  // All events that can be attached, sorted as "category:event". Read once; the views live as long as this.
  base::Result<std::vector<TraceEvent>> events();
  // Opens the format of an event that is there: it is normally read next.
  bool has(std::string_view category, std::string_view event);
  // Up to the format of its print.
  base::Result<std::string> format(std::string_view category, std::string_view event);
  base::Result<uint32_t> id(std::string_view category, std::string_view event) const;
  // Categories of events that were made at run time (kprobe, uprobe, synthetic, … events): they have records,
  // but no tracepoint behind them.
  const std::vector<std::string>& made_categories();

private:
  base::Result<base::Fd> open_file(const std::string& place) const;

  std::string root_;
  ReadText read_; // in place of files
  base::Fd folder_; // of the events
  std::vector<std::pair<std::string, base::Fd>> opened_; // formats, by their place in the folder
  std::string list_; // the text of available_events
  std::vector<TraceEvent> events_;
  std::vector<std::string> made_;
  bool made_known_ = false;
};

} // namespace format
