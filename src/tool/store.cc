// `acu store FILE sizes|check|compact|export|import`.
#include "base/counted.h"
#include "base/output_file.h"
#include "base/print.h"
#include "base/text.h"
#include "monitor/sampler.h"
#include "profile/formats.h"
#include "report/json_object.h"
#include "tool/sizes.h"
#include "tool/store_import.h"
#include "tool/store_options.h"
#include "tool/tool.h"

#include <ctime>
#include <unistd.h>

namespace tool {

using spec::OptionId;

namespace {

std::string utc(int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  tm parts = {};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

base::Status print_sizes(store::Store& store, bool as_json) {
  ACU_TRY(const store::Sizes sizes, store.sizes());
  if (as_json) {
    report::JsonObject rows, out;
    for (const auto& [table, n] : sizes.rows) rows.add(table, n);
    say(out.add("bytes", sizes.bytes).add("free_bytes", sizes.free_bytes).raw("from", std::to_string(sizes.from)).raw("to", std::to_string(sizes.to)).raw("rows", rows.end()).end() + "\n");
    return {};
  }
  std::string out = base::print("size %.1f MiB, of that free %.1f MiB\n", static_cast<double>(sizes.bytes) / (1 << 20), static_cast<double>(sizes.free_bytes) / (1 << 20));
  if (sizes.to) out += "recorded from " + utc(sizes.from) + " to " + utc(sizes.to) + "\n";
  for (const auto& [table, n] : sizes.rows) out += base::print("%-10s %12llu rows\n", table.c_str(), static_cast<unsigned long long>(n));
  say(out);
  return {};
}

base::Result<bool> check(store::Store& store) {
  ACU_TRY(const std::vector<std::string> faults, store.check());
  for (const std::string& fault : faults) complain(fault + "\n");
  if (faults.empty()) say("no damage found\n");
  return faults.empty();
}

base::Result<int64_t> read_moment(const session::Arguments& arguments, OptionId id, std::string_view name, int64_t otherwise) {
  const int64_t now = std::time(nullptr);
  const std::string* text = arguments.value(id);
  if (!text) return now + otherwise;
  const bool is_negative = text->starts_with('-');
  const auto number = base::parse_integer(std::string_view(*text).substr(is_negative));
  if (!number || *number > 4'000'000'000) return base::usage_error("`--" + std::string(name) + "` takes seconds since 1970, or 0 and below from now, not `" + *text + "`");
  return is_negative || !*number ? now - static_cast<int64_t>(*number) : static_cast<int64_t>(*number);
}

base::Status export_range(store::Store& store, const session::Arguments& arguments) {
  const std::string* output = arguments.value(OptionId::output);
  if (!output) return base::usage_error("`export` needs a file: acu store FILE export -o profile.html");
  ACU_TRY(const profile::Format* format, profile::format_of_output(*output));
  store::ProfileQuery query;
  if (const std::string* kind = arguments.value(OptionId::kind)) query.kind = *kind;
  query.service = arguments.text(OptionId::names);
  ACU_TRY(const int64_t from, read_moment(arguments, OptionId::from, "from", -3600));
  ACU_TRY(const int64_t to, read_moment(arguments, OptionId::until, "until", 0));
  if (from >= to) return base::usage_error("`--from` is not before `--until`");
  query.range = {store::slot_of(from), to};
  ACU_TRY(profile::Profile profile, store.profile(query));
  if (profile.samples().empty()) return base::Error{base::Failure::nothing_matched, "no samples in that range\nhint: acu store FILE sizes shows what is recorded"};
  monitor::describe_stored(profile, query.kind, query.service.empty() ? "all processes" : query.service, version_number());
  ACU_CHECK(base::write_file(*output, format->write(profile)));
  say(*output + ": " + base::counted(profile.about.samples, "sample") + "\n");
  return {};
}

base::Result<int> run_store(const session::Arguments& arguments) {
  const bool imports = arguments.words.size() > 1 && arguments.words[1] == "import";
  if (arguments.words.size() != (imports ? 3 : 2)) return base::usage_error(imports ? "`import` takes one recording: acu store FILE import RECORDING" : "usage: acu store FILE sizes|check|compact|export|import");
  const std::string &path = arguments.words[0], &verb = arguments.words[1];
  if (imports) {
    ACU_CHECK(import_recording(path, arguments.words[2], arguments));
    return 0;
  }
  const bool writes = verb == "compact";
  if (!writes && verb != "sizes" && verb != "check" && verb != "export") return base::usage_error("`" + verb + "`: acu store FILE sizes, check, compact, export or import");
  if (::access(path.c_str(), F_OK) != 0) return base::errno_error("cannot open the store `" + path + "`", errno);
  ACU_TRY(auto store, store::open_sqlite(path, writes ? store::Mode::write : store::Mode::read));
  if (verb == "check") {
    ACU_TRY(const bool is_whole, check(*store));
    return is_whole ? 0 : 1;
  }
  if (verb == "sizes") ACU_CHECK(print_sizes(*store, arguments.has(OptionId::json)));
  if (verb == "export") ACU_CHECK(export_range(*store, arguments));
  if (!writes) return 0;
  ACU_TRY(const store::Limits limits, read_limits(arguments));
  ACU_CHECK(store->compact(limits, std::time(nullptr)));
  ACU_CHECK(print_sizes(*store, arguments.has(OptionId::json)));
  return 0;
}

} // namespace

base::Result<store::Limits> read_limits(const session::Arguments& arguments) {
  store::Limits out;
  if (const std::string* text = arguments.value(OptionId::keep)) {
    ACU_TRY(const uint64_t ns, session::read_time("--keep", *text, 600'000'000'000));
    out.keep_seconds = static_cast<int64_t>(ns / 1'000'000'000);
  }
  if (const std::string* text = arguments.value(OptionId::max_size)) {
    ACU_TRY(out.max_bytes, read_bytes("--max-size", *text));
  }
  return out;
}

int store(const session::Arguments& arguments) {
  auto status = run_store(arguments);
  return status.ok() ? *status : fail(status.error());
}

} // namespace tool
