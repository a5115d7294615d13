// The measurement `files`: what a process reads, writes and makes durable, by file, from its system calls (scripts/why_files.bt). Files that it has mapped
// are counted only as far as they grow the page cache.
#include "base/text.h"
#include "proc/process_files.h"
#include "proc/text.h"
#include "why/calls_instrument.h"
#include "why/instruments.h"
#include "why/program_location.h"

#include <algorithm>
#include <map>
#include <unistd.h>

namespace why {

namespace {

constexpr std::string_view measurement = "files";
constexpr size_t most_facts = 8; // of each kind
constexpr double least_share = 0.001;
enum Use : uint8_t { reads = 1, writes, syncs }; // as the script has it

// How a file is used in one of these ways.
struct Usage {
  Sliced time;
  uint64_t calls = 0, bytes = 0, stack_samples = 0;
  waits::StackId stack; // the most frequent one
};

struct File {
  std::map<uint64_t, std::string> names; // by level, its own first
  uint64_t size = 0, first_pages = 0, last_pages = 0, disk = 0, added = 0, again = 0;
  bool appends = false;
  std::vector<std::string> lines;
  std::map<uint64_t, Usage> uses;
};

// Calls without a descriptor have their number in its place.
std::string path_of(uint64_t id, const File& file) {
  constexpr uint64_t number_of_msync = 26, number_of_sync = 162;
  if (id == number_of_msync) return "mapped files";
  if (id == number_of_sync) return "all file systems";
  std::string out;
  for (const auto& [level, name] : file.names) out = "/" + name + out;
  return out;
}

std::string first_line(std::string_view text) { return std::string(base::trim(text.substr(0, text.find('\n')))); }

bool is_text(std::string_view line) {
  return !line.empty() && std::ranges::all_of(line, [](unsigned char c) { return c >= ' ' || c == '\t' || c == '\x1b'; });
}

bool is_name_of_log(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".log") || name.find(".log.") != name.npos || name.ends_with(".out") || name.ends_with(".err") || path.find("/log/") != path.npos ||
         path.find("/logs/") != path.npos;
}

std::string without_numbers(std::string_view line) {
  std::string out;
  for (const char c : line)
    if (c < '0' || c > '9') out += c;
    else if (!out.ends_with('#')) out += '#';
  return out;
}

// Part of the lines that equal another one but for numbers.
double repeated_part(const std::vector<std::string>& lines) {
  std::map<std::string, size_t> number;
  for (const std::string& line : lines) number[without_numbers(line)]++;
  size_t repeated = 0;
  for (const auto& [line, n] : number)
    if (n > 1) repeated += n;
  return lines.empty() ? 0 : static_cast<double>(repeated) / static_cast<double>(lines.size());
}

// Of the host, so far.
struct CacheCounters {
  uint64_t bytes = 0;               // in the page cache
  uint64_t refaulted = 0, read = 0; // bytes of files: read again soon after they were dropped; read from disk
};
CacheCounters cache_counters() {
  const proc::NamedNumbers counters = proc::read_named_numbers(proc::text_of("/proc/vmstat"));
  return {.bytes = proc::read_named_numbers(proc::text_of("/proc/meminfo")).get("Cached"),
          .refaulted = counters.get("workingset_refault_file") * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)),
          .read = counters.get("pgpgin") * 1024};
}

class FilesInstrument final : public CallsInstrument {
public:
  explicit FilesInstrument(const Subject& subject) : CallsInstrument("why_files", subject) {}

  void begin() override;
  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;

private:
  void arrange(session::Measurement& measurement) override;
  base::Status read();
  base::Status read_uses();
  const Usage* use(const File& file, Use what) const;
  void add(std::string_view kind, Slots slots) { out_.push_back(fact_about(subject_.pid, kind, measurement, std::move(slots))); }
  void add_sync(uint64_t id, const File& file, const Usage& use);
  void add_write(uint64_t id, const File& file, const Usage& use);
  void add_read(uint64_t id, const File& file, const Usage& use);
  void add_growth(uint64_t id, const File& file, double of_host);
  double again(const File& file) const;
  ShareInterval time_share(const Usage& use) const { return share_of(use.time, busy_); }

  CacheCounters cache_before_, cache_after_;
  bool knows_refaults_ = true;
  Sliced busy_;
  std::map<uint64_t, File> files_; // by the script's number
  std::vector<Fact> out_;
};

void FilesInstrument::arrange(session::Measurement& measurement) {
  CallsInstrument::arrange(measurement);
  measurement.refused = [this](base::Error why) {
    knows_refaults_ = false;
    return why.message.find("workingset_refault") == std::string::npos ? base::Status(std::move(why)) : base::Status();
  };
}

void FilesInstrument::begin() {
  CallsInstrument::begin();
  cache_before_ = cache_counters();
}

base::Status FilesInstrument::read_uses() {
  ACU_TRY(const std::vector<ScriptRow> times, rows("time"));
  ACU_TRY(const std::vector<ScriptRow> calls, rows("calls"));
  ACU_TRY(const std::vector<ScriptRow> stacks, rows("stacks"));
  for (const ScriptRow& r : times) files_[r.number("0")].uses[r.number("1")].time.add_to(r.number("2"), static_cast<double>(r.sum()));
  for (const ScriptRow& r : calls) {
    Usage& u = files_[r.number("0")].uses[r.number("1")];
    u.calls = r.count();
    u.bytes = r.sum();
  }
  for (const ScriptRow& r : stacks) {
    Usage& u = files_[r.number("0")].uses[r.number("1")];
    if (r.count() > u.stack_samples) u.stack_samples = r.count(), u.stack = r.stack("2", static_cast<uint32_t>(subject_.pid));
  }
  return {};
}

base::Status FilesInstrument::read() {
  ACU_CHECK(read_uses());
  ACU_TRY(const std::vector<ScriptRow> files, rows("file"));
  ACU_TRY(const std::vector<ScriptRow> names, rows("name"));
  ACU_TRY(const std::vector<ScriptRow> pages, rows("pages"));
  ACU_TRY(const std::vector<ScriptRow> lines, rows("lines"));
  for (const ScriptRow& r : files) {
    File& f = files_[r.number("key")];
    f.size = r.number("size");
    f.first_pages = f.last_pages = r.number("pages");
    f.appends = r.number("appends");
  }
  for (const ScriptRow& r : names) files_[r.number("0")].names[r.number("1")] = r.text("name");
  for (const ScriptRow& r : pages) files_[r.number("key")].last_pages = r.number("last");
  for (const ScriptRow& r : lines)
    if (std::string line = first_line(r.text("text")); is_text(line)) files_[r.number("0")].lines.push_back(std::move(line));
  for (const auto& [map, member] : {std::pair("disk", &File::disk), std::pair("added", &File::added), std::pair("again", &File::again)}) {
    ACU_TRY(const std::vector<ScriptRow> found, rows(map));
    for (const ScriptRow& r : found)
      if (const auto at = files_.find(r.number("key")); at != files_.end()) at->second.*member = member == &File::disk ? r.sum() : r.count();
  }
  return {};
}

const Usage* FilesInstrument::use(const File& file, Use what) const {
  const auto at = file.uses.find(what);
  return at == file.uses.end() ? nullptr : &at->second;
}

// What it makes durable is what was written since the last time, or what a synchronous write has itself.
void FilesInstrument::add_sync(uint64_t id, const File& file, const Usage& of) {
  const Usage* written = use(file, writes);
  const auto calls = static_cast<double>(of.calls);
  Slots slots = {{"path", path_of(id, file)},
                 {"rate", rate(of.calls)},
                 {"latency", of.time.sum() / calls},
                 {"bytes", static_cast<double>(of.bytes + (written ? written->bytes : 0)) / calls}};
  put_location(slots, location_of(stacks(), of.stack));
  put_share(slots, time_share(of));
  add("file-sync", std::move(slots));
}

void FilesInstrument::add_write(uint64_t id, const File& file, const Usage& of) {
  const std::string path = path_of(id, file);
  const bool is_log = is_name_of_log(path) || (file.appends && !file.lines.empty());
  Slots slots = {{"path", path}, {"rate", rate(of.bytes)}, {"writes", rate(of.calls)}, {"is_log", int64_t{is_log}}, {"repeated", repeated_part(file.lines)}};
  if (!file.lines.empty()) slots.emplace_back("sample", file.lines.front());
  put_location(slots, location_of(stacks(), of.stack));
  put_share(slots, time_share(of));
  if (time_share(of).share >= least_share) add("file-write", std::move(slots));
}

// A kernel that does not say so of each file counts it for the host.
double FilesInstrument::again(const File& file) const {
  const double part = knows_refaults_ ? static_cast<double>(file.again) : static_cast<double>(proc::growth(cache_before_.refaulted, cache_after_.refaulted));
  const double whole = knows_refaults_ ? static_cast<double>(file.added) : static_cast<double>(proc::growth(cache_before_.read, cache_after_.read));
  return whole > 0 ? std::min(1.0, part / whole) : 0;
}

void FilesInstrument::add_read(uint64_t id, const File& file, const Usage& of) {
  Slots slots = {{"path", path_of(id, file)},
                 {"rate", rate(file.disk)},
                 {"again", again(file)},
                 {"size", static_cast<int64_t>(file.size)}};
  put_share(slots, time_share(of));
  if (time_share(of).share >= least_share || file.disk) add("file-read", std::move(slots));
}

// Counted, not sampled: the interval has no width.
void FilesInstrument::add_growth(uint64_t id, const File& file, double of_host) {
  if (file.last_pages <= file.first_pages) return;
  const uint64_t bytes = (file.last_pages - file.first_pages) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const double part = of_host > 0 ? std::min(1.0, static_cast<double>(bytes) / of_host) : 0;
  if (rate(bytes) < 1e5) return; // a twentieth of what a rule takes for growth
  add("cache-growth", {{"what", std::string("page cache")}, {"name", proc::name_of_process(subject_.pid)}, {"path", path_of(id, file)},
                       {"rate", rate(bytes)}, {"share", part}, {"low", part}, {"high", part}});
}

base::Result<std::vector<Fact>> FilesInstrument::end(uint64_t) {
  cache_after_ = cache_counters();
  ACU_CHECK(read());
  ACU_TRY(busy_, busy());
  for (const auto& [what, make] : {std::pair(syncs, &FilesInstrument::add_sync), std::pair(writes, &FilesInstrument::add_write), std::pair(reads, &FilesInstrument::add_read)}) {
    std::vector<std::pair<double, uint64_t>> largest;
    for (const auto& [id, file] : files_)
      if (const Usage* u = use(file, what); u && u->calls) largest.emplace_back(u->time.sum(), id);
    std::ranges::sort(largest, std::greater());
    if (largest.size() > most_facts) largest.resize(most_facts);
    for (const auto& [ns, id] : largest) (this->*make)(id, files_[id], *use(files_[id], what));
  }
  for (const auto& [id, file] : files_) add_growth(id, file, static_cast<double>(proc::growth(cache_before_.bytes, cache_after_.bytes)));
  return std::move(out_);
}

} // namespace

std::unique_ptr<Instrument> make_files_instrument(const Subject& subject) { return std::make_unique<FilesInstrument>(subject); }

} // namespace why
