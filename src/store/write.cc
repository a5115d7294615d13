// A write is one transaction: after a crash or a full disk a slot is there, or it is not.
#include "store/sqlite_store.h"

#include "base/leb128.h"
#include "base/rounded.h"
#include "store/schema.h"

#include <algorithm>
#include <cmath>

namespace store {

namespace {

constexpr size_t most_remembered = 100'000; // stacks, frames, names and threads

// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), 64 bits.
uint64_t hash_of(std::string_view bytes) {
  uint64_t out = 0xcbf29ce484222325;
  for (unsigned char c : bytes) out = (out ^ c) * 0x100000001b3;
  return out;
}

} // namespace

std::string_view name_of(ServiceType type) {
  constexpr std::string_view names[] = {"process", "unit", "container", "kernel"};
  return names[static_cast<size_t>(type) % std::size(names)];
}

double ServiceUse::metric(std::string_view name) const {
  for (const auto& [known, value] : metrics)
    if (known == name) return value;
  return 0;
}

std::string encode_frames(const std::vector<int64_t>& frames) {
  std::string out;
  for (int64_t frame : frames) base::put(out, static_cast<uint64_t>(frame));
  return out;
}

std::vector<int64_t> decode_frames(std::string_view bytes) {
  std::vector<int64_t> out;
  uint64_t number = 0;
  int shift = 0;
  for (unsigned char c : bytes) {
    number |= static_cast<uint64_t>(c & 0x7f) << shift;
    shift += 7;
    if (c & 0x80 && shift < 63) continue;
    out.push_back(static_cast<int64_t>(number));
    number = 0, shift = 0;
  }
  return out;
}

base::Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, Mode mode, uint64_t limit_ns) {
  const Access access = mode == Mode::write ? Access::write : Access::read;
  ACU_TRY(Connection connection, Connection::open(path, access));
  ACU_CHECK(prepare_schema(connection, access));
  // A write-ahead log: readers see whole transactions while one is written. The system may lose the last ones if it crashes, never the file.
  if (access == Access::write) ACU_CHECK(connection.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304"));
  ACU_CHECK(connection.run("PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY"));
  if (limit_ns) connection.limit_time(limit_ns);
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(connection)));
}

base::Result<std::unique_ptr<Store>> open_sqlite(const std::string& path, Mode mode, uint64_t limit_ns) {
  ACU_TRY(std::unique_ptr<Store> store, SqliteStore::open(path, mode, limit_ns));
  return store;
}

size_t most_rows(int64_t length) {
  struct Row {
    int64_t length;
    size_t most;
  };
  constexpr Row table[] = {{slot_seconds, 2000}, {60, 700}, {longest_slot, 2000}};
  for (const Row& row : table)
    if (length <= row.length) return row.most;
  return 4000; // of an hour
}

SlotRow merged(const std::vector<SlotRow>& rows) {
  SlotRow out = {.source = rows.front().source, .layer = rows.front().layer, .slot = rows.front().slot, .length = rows.front().length, .points = {}, .samples = {}};
  for (const SlotRow& row : rows) {
    out.covered_ns += row.covered_ns;
    out.samples.insert(out.samples.end(), row.samples.begin(), row.samples.end());
  }
  add_up(out.samples);
  std::map<std::pair<int64_t, int64_t>, double> means; // by service and metric; what a row has not was 0 there
  for (const SlotRow& row : rows) {
    const double share = out.covered_ns ? static_cast<double>(row.covered_ns) / static_cast<double>(out.covered_ns) : 1 / static_cast<double>(rows.size());
    for (const PointRow& p : row.points) means[{p.service, p.metric}] += p.value * share;
  }
  for (const auto& [key, value] : means) out.points.push_back({key.first, key.second, value});
  return out;
}

SlotRow slot_row(const Statement& row) {
  return {.source = row.integer(1), .layer = static_cast<Layer>(row.integer(2)), .slot = row.integer(3), .length = row.integer(4), .covered_ns = row.integer(5),
          .points = unpack_points(row.text(6)), .samples = unpack_samples(row.text(7))};
}

void SqliteStore::forget() { names_.clear(), services_.clear(), frames_.clear(), threads_.clear(), stacks_.clear(); }

Statement& SqliteStore::kept(std::string_view text) {
  const auto [at, is_new] = statements_.try_emplace(text);
  if (is_new) at->second = connection_.prepare(text);
  return at->second;
}

int64_t SqliteStore::id_of(Statement& insert) {
  const int64_t out = insert.step() ? insert.integer(0) : 0;
  insert.reset();
  return out;
}

// All of these give the number of a row that is there, or of a new one.
int64_t SqliteStore::name_id(std::string_view text) {
  const auto [at, is_new] = names_.try_emplace(std::string(text));
  if (!is_new) return at->second;
  Statement& insert = kept("INSERT INTO names(text) VALUES(?1) ON CONFLICT DO UPDATE SET text = text RETURNING id");
  return at->second = id_of(insert.bind(1, text));
}

int64_t SqliteStore::service_id(const Service& service) {
  const auto [at, is_new] = services_.try_emplace(service);
  if (!is_new) return at->second;
  Statement& insert = kept("INSERT INTO services(name, type) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET type = type RETURNING id");
  return at->second = id_of(insert.bind(1, service.name).bind(2, static_cast<int64_t>(service.type)));
}

int64_t SqliteStore::frame_id(const profile::Profile& profile, uint32_t frame) {
  const profile::Frame& f = profile.frames()[frame];
  const int64_t name = name_id(profile.name(f)), module = name_id(profile.module(f));
  const auto [at, is_new] = frames_.try_emplace({name, module, static_cast<int64_t>(f.kind), f.named});
  if (!is_new) return at->second;
  Statement& insert = kept("INSERT INTO frames(name, module, kind, named) VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET kind = kind RETURNING id");
  insert.bind(1, name).bind(2, module).bind(3, static_cast<int64_t>(f.kind)).bind(4, int64_t{f.named});
  return at->second = id_of(insert);
}

int64_t SqliteStore::source_id(std::string_view name) {
  Statement& insert = kept("INSERT INTO sources(name) VALUES(?1) ON CONFLICT DO UPDATE SET name = name RETURNING id");
  return id_of(insert.bind(1, name));
}

int64_t SqliteStore::thread_id(int64_t service, uint32_t pid, int64_t process, int64_t name) {
  const auto [at, is_new] = threads_.try_emplace({service, pid, process, name});
  if (!is_new) return at->second;
  Statement& insert = kept("INSERT INTO threads(service, pid, process, name) VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET pid = pid RETURNING id");
  return at->second = id_of(insert.bind(1, service).bind(2, int64_t{pid}).bind(3, process).bind(4, name));
}

int64_t SqliteStore::stack_id(const std::vector<int64_t>& frames) {
  const std::string bytes = encode_frames(frames);
  const uint64_t hash = hash_of(bytes);
  const auto [at, is_new] = stacks_.try_emplace(hash);
  if (!is_new) return at->second;
  Statement& insert = kept("INSERT INTO stacks(hash, frames) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET hash = hash RETURNING id");
  return at->second = id_of(insert.bind(1, static_cast<int64_t>(hash)).bind_bytes(2, bytes));
}

int64_t SqliteStore::other_stack() {
  profile::Profile note;
  const uint32_t frame = note.frame({.name = note.text(other_stacks), .kind = profile::FrameKind::note});
  return stack_id({frame_id(note, frame)});
}

std::vector<SampleRow> SqliteStore::rows_of(const Batch& batch) {
  const profile::Profile& p = *batch.profile;
  std::vector<profile::Gain> gains;
  for (const profile::Gain& g : batch.gains)
    if (g.sample < p.samples().size()) gains.push_back(g);
  std::ranges::sort(gains, [](const profile::Gain& a, const profile::Gain& b) { return a.weight > b.weight; });
  // By numbers of the profile; 0: not asked for yet. Most stacks share frames and threads.
  std::vector<int64_t> frame_ids(p.frames().size()), thread_ids(p.threads().size()), without_pid(p.threads().size());
  auto frame_at = [&](uint32_t frame) { return frame_ids[frame] ? frame_ids[frame] : frame_ids[frame] = frame_id(p, frame); };
  auto thread_at = [&](std::vector<int64_t>& ids, uint32_t thread, bool with_pid) {
    const profile::Thread& t = p.threads()[thread];
    return ids[thread] ? ids[thread] : ids[thread] = thread_id(service_id(batch.services[thread]), with_pid ? t.pid : 0, name_id(p.texts()[t.process]), name_id(p.texts()[t.name]));
  };
  std::vector<SampleRow> out;
  std::vector<int64_t> frames;
  for (const profile::Gain& gain : gains) {
    const profile::Sample& sample = p.samples()[gain.sample];
    const bool is_kept = out.size() < most_rows(slot_seconds);
    SampleRow row = {.weight = static_cast<uint64_t>(base::rounded(static_cast<double>(gain.weight) * batch.scale)), .count = gain.count};
    row.thread = is_kept ? thread_at(thread_ids, sample.thread, true) : thread_at(without_pid, sample.thread, false);
    if (is_kept) {
      frames.clear();
      for (uint32_t node = sample.node; node; node = p.nodes()[node].parent) frames.push_back(frame_at(p.nodes()[node].frame));
      std::reverse(frames.begin(), frames.end());
      row.stack = stack_id(frames);
    } else {
      row.stack = other_stack();
    }
    out.push_back(row);
  }
  add_up(out);
  return out;
}

// The others become one stack for all threads of a name in all processes of a name: neither CPU time nor waiting time gets lost.
void SqliteStore::keep_heaviest(std::vector<SampleRow>& rows, size_t most) {
  if (rows.size() <= most) return;
  std::ranges::nth_element(rows, rows.begin() + static_cast<std::ptrdiff_t>(most), [](const SampleRow& a, const SampleRow& b) { return a.weight > b.weight; });
  const int64_t stack = other_stack();
  std::unordered_map<int64_t, int64_t> without_pid;
  Statement& thread = kept("SELECT service, process, name FROM threads WHERE id = ?1");
  for (size_t i = most; i < rows.size(); i++) {
    const auto [at, is_new] = without_pid.try_emplace(rows[i].thread, rows[i].thread);
    if (is_new) {
      const bool is_there = thread.bind(1, rows[i].thread).step();
      const int64_t service = thread.integer(0), process = thread.integer(1), name = thread.integer(2);
      thread.reset();
      if (is_there) at->second = thread_id(service, 0, process, name);
    }
    rows[i].thread = at->second, rows[i].stack = stack;
  }
  add_up(rows);
}

void SqliteStore::forget_after_deletions() {
  const int64_t deletions = connection_.integer("SELECT deletions FROM upkeep");
  if (deletions == deletions_) return;
  forget(); // whoever deleted rows may be another process
  deletions_ = deletions;
}

std::optional<SlotRow> SqliteStore::find_slot(Layer layer, int64_t source, int64_t second) {
  Statement& find = kept("SELECT id, source, layer, slot, length, covered, points, samples FROM slots WHERE source = ?1 AND layer = ?4 AND slot <= ?2 AND slot > ?3 ORDER BY slot DESC LIMIT 1");
  const bool is_there = find.bind(1, source).bind(2, second).bind(3, second - longest_slot).bind(4, static_cast<int64_t>(layer)).step() && find.integer(3) + find.integer(4) > second;
  std::optional<SlotRow> out;
  if (is_there) out = slot_row(find);
  find.reset();
  return out;
}

void SqliteStore::put(const SlotRow& row) {
  Statement& insert = kept("INSERT OR REPLACE INTO slots(source, layer, slot, length, covered, point_rows, sample_rows, points, samples) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
  insert.bind(1, row.source).bind(2, static_cast<int64_t>(row.layer)).bind(3, row.slot).bind(4, row.length).bind(5, row.covered_ns);
  insert.bind(6, static_cast<int64_t>(row.points.size())).bind(7, static_cast<int64_t>(row.samples.size())).bind_bytes(8, pack(row.points)).bind_bytes(9, pack(row.samples));
  insert.run();
}

// To what the layer has of its time.
void SqliteStore::add(SlotRow row) {
  if (auto earlier = find_slot(row.layer, row.source, row.slot)) { // merged already, perhaps: the clock was set
    row = merged({*earlier, row});
    keep_heaviest(row.samples, most_rows(row.length));
  }
  put(row);
}

// They lack what was added; upkeep.cc makes them again.
void SqliteStore::delete_hours(int64_t source, Range range) {
  Statement& incomplete = kept("DELETE FROM slots WHERE source = ?1 AND layer = 1 AND slot > ?2 AND slot < ?3");
  incomplete.bind(1, source).bind(2, range.from - hour_seconds).bind(3, range.to).run();
}

base::Status SqliteStore::write(const Slot& slot, const std::vector<Point>& points, const Batch* batch) { return write(as_recorded, slot, points, batch); }

base::Status SqliteStore::write(Layer layer, const Slot& slot, const std::vector<Point>& points, const Batch* batch) {
  if (stacks_.size() + frames_.size() + names_.size() + threads_.size() > most_remembered) forget();
  Transaction transaction(connection_);
  ACU_CHECK(transaction.begin());
  forget_after_deletions();
  SlotRow row = {.source = source_id(slot.source), .layer = layer, .slot = slot.begin, .length = layer == arriving ? arriving_length : slot_seconds, .covered_ns = static_cast<int64_t>(slot.covered_ns)};
  for (const Point& point : points) // what is not there is 0, where the slot is there
    if (point.value != 0 && std::isfinite(point.value)) row.points.push_back({service_id(point.service), name_id(point.metric), point.value});
  if (batch) row.samples = rows_of(*batch);
  if (layer == as_recorded) delete_hours(row.source, {slot.begin, slot.begin + slot_seconds});
  add(std::move(row));
  auto written = connection_.status();
  if (written.ok()) written = transaction.commit();
  if (!written.ok()) forget(); // its rows are not there
  return written;
}

base::Status SqliteStore::write(const Finding& finding) {
  Statement insert = connection_.prepare("INSERT INTO findings(time, service, verdict, cause, summary, detail) VALUES(?1, ?2, ?3, ?4, ?5, ?6)");
  insert.bind(1, finding.time).bind(2, finding.service).bind(3, finding.verdict).bind(4, finding.cause).bind(5, finding.summary).bind(6, finding.detail);
  insert.run();
  return connection_.status();
}

} // namespace store
