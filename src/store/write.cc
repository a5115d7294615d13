// A write is one transaction: after a crash or a full disk a slot is there, or it is not.
#include "store/sqlite_store.h"

#include "base/leb128.h"
#include "store/schema.h"

#include <algorithm>
#include <cmath>

namespace store {

namespace {

constexpr size_t most_rows = 2000;      // of a kind in a slot: the heaviest; the others become one stack for each thread
constexpr size_t most_remembered = 200'000; // stacks, and as many frames
constexpr std::string_view other_stacks = "[other stacks]";

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

base::Result<std::unique_ptr<Store>> open_sqlite(const std::string& path, Mode mode) {
  const Access access = mode == Mode::write ? Access::write : Access::read;
  ACU_TRY(Connection connection, Connection::open(path, access));
  ACU_CHECK(prepare_schema(connection, access));
  // A write-ahead log: readers see whole transactions while one is written. The system may lose the last ones if it crashes, never the file.
  if (access == Access::write) ACU_CHECK(connection.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304"));
  ACU_CHECK(connection.run("PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY"));
  return std::unique_ptr<Store>(new SqliteStore(std::move(connection)));
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

int64_t SqliteStore::thread_id(const profile::Profile& profile, uint32_t thread) {
  const profile::Thread& t = profile.threads()[thread];
  const int64_t process = name_id(profile.texts()[t.process]), name = name_id(profile.texts()[t.name]);
  const auto [at, is_new] = threads_.try_emplace({t.pid, process, name});
  if (!is_new) return at->second;
  Statement& insert = kept("INSERT INTO threads(pid, process, name) VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE SET pid = pid RETURNING id");
  return at->second = id_of(insert.bind(1, int64_t{t.pid}).bind(2, process).bind(3, name));
}

int64_t SqliteStore::stack_id(const profile::Profile& profile, uint32_t node) {
  std::vector<int64_t> frames;
  for (; node; node = profile.nodes()[node].parent) frames.push_back(frame_id(profile, profile.nodes()[node].frame));
  std::reverse(frames.begin(), frames.end());
  const std::string bytes = encode_frames(frames);
  const uint64_t hash = hash_of(bytes);
  const auto [at, is_new] = stacks_.try_emplace(hash);
  if (!is_new) return at->second;
  Statement& insert = kept("INSERT INTO stacks(hash, frames) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET hash = hash RETURNING id");
  return at->second = id_of(insert.bind(1, static_cast<int64_t>(hash)).bind_bytes(2, bytes));
}

void SqliteStore::write_samples(const Batch& batch) {
  const profile::Profile& p = *batch.profile;
  std::vector<profile::Gain> gains;
  for (const profile::Gain& g : batch.gains)
    if (g.sample < p.samples().size()) gains.push_back(g);
  std::ranges::sort(gains, [](const profile::Gain& a, const profile::Gain& b) { return a.weight > b.weight; });
  Statement kind = connection_.prepare("INSERT INTO kinds(name) VALUES(?1) ON CONFLICT DO UPDATE SET name = name RETURNING id");
  if (!kind.bind(1, batch.kind).step()) return;
  const int64_t kind_id = kind.integer(0);
  kind.reset();
  Statement insert = connection_.prepare("INSERT INTO samples VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) "
                                         "ON CONFLICT DO UPDATE SET weight = weight + excluded.weight, count = count + excluded.count");
  profile::Profile others;
  const uint32_t other_node = others.node(0, others.frame({.name = others.text(other_stacks), .kind = profile::FrameKind::note}));
  for (size_t i = 0; i < gains.size(); i++) {
    const profile::Sample& sample = p.samples()[gains[i].sample];
    const int64_t stack = i < most_rows ? stack_id(p, sample.node) : stack_id(others, other_node);
    insert.bind(1, kind_id).bind(2, batch.slot).bind(3, service_id(batch.services[sample.thread])).bind(4, thread_id(p, sample.thread)).bind(5, stack);
    insert.bind(6, static_cast<int64_t>(std::llround(static_cast<double>(gains[i].weight) * batch.scale))).bind(7, static_cast<int64_t>(gains[i].count));
    insert.run();
  }
}

void SqliteStore::write_points(int64_t slot, const std::vector<Point>& points) {
  Statement set = connection_.prepare("INSERT INTO series VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET value = excluded.value");
  Statement add = connection_.prepare("INSERT INTO series VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET value = value + excluded.value");
  for (const Point& point : points) {
    if (point.value == 0 || !std::isfinite(point.value)) continue; // what is not there is 0, where the slot is there
    Statement& statement = point.is_part ? add : set;
    statement.bind(1, service_id(point.service)).bind(2, name_id(point.metric)).bind(3, slot).bind(4, point.value);
    statement.run();
  }
}

base::Status SqliteStore::write(const std::vector<Batch>& batches, int64_t slot, const std::vector<Point>& points) {
  if (stacks_.size() + frames_.size() + names_.size() + threads_.size() > most_remembered) forget();
  Transaction transaction(connection_);
  ACU_CHECK(transaction.begin());
  if (const int64_t deletions = connection_.integer("SELECT n FROM deletions"); deletions != deletions_) {
    forget(); // whoever deleted rows may be another process; their numbers may be those of new rows by now
    deletions_ = deletions;
  }
  Statement add_slot = connection_.prepare("INSERT OR IGNORE INTO slots VALUES(?1, ?2)");
  add_slot.bind(1, slot).bind(2, slot_seconds).run();
  for (const Batch& batch : batches) write_samples(batch);
  write_points(slot, points);
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
