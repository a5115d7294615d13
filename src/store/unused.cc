// Rows that nothing refers to. Packed rows are not seen by SQL: what they refer to is marked here.
//
// Marking reads the whole store, without keeping others from writing. A transaction then deletes some rows, and marks first what was written since: whatever
// is written is a row with a higher number than all before it (AUTOINCREMENT).
#include "store/sqlite_store.h"

#include <algorithm>

namespace store {

namespace {

class Marks {
public:
  void set(int64_t id) {
    if (id < 0 || id > largest) return; // damaged
    if (static_cast<size_t>(id) >= bits_.size()) bits_.resize(static_cast<size_t>(id) + 1 + bits_.size() / 2);
    bits_[static_cast<size_t>(id)] = true;
  }
  bool has(int64_t id) const { return id >= 0 && static_cast<size_t>(id) < bits_.size() && bits_[static_cast<size_t>(id)]; }
  void clear(int64_t id) {
    if (has(id)) bits_[static_cast<size_t>(id)] = false;
  }
  size_t count() const { return static_cast<size_t>(std::count(bits_.begin(), bits_.end(), true)); }

private:
  static constexpr int64_t largest = int64_t{1} << 32;
  std::vector<bool> bits_;
};

// What rows refer to, table by table; each look() begins where the last one ended.
class References {
public:
  explicit References(const Connection& connection) : connection_(connection) {}
  Marks stacks, threads, services, names, frames;

  void look_at_slots() {
    look("SELECT id, points, samples FROM slots WHERE id > ?1 ORDER BY id", last_slot_, [&](const Statement& row) {
      for (const PointRow& p : unpack_points(row.text(1))) services.set(p.service), names.set(p.metric);
      for (const SampleRow& s : unpack_samples(row.text(2))) stacks.set(s.stack), threads.set(s.thread);
    });
  }
  void look_at_threads() {
    look("SELECT id, service, process, name FROM threads WHERE id > ?1 ORDER BY id", last_thread_,
         [&](const Statement& row) { services.set(row.integer(1)), names.set(row.integer(2)), names.set(row.integer(3)); });
  }
  void look_at_stacks() {
    look("SELECT id, frames FROM stacks WHERE id > ?1 ORDER BY id", last_stack_, [&](const Statement& row) {
      for (int64_t frame : decode_frames(row.text(1))) frames.set(frame);
    });
  }
  void look_at_frames() {
    look("SELECT id, name, module FROM frames WHERE id > ?1 ORDER BY id", last_frame_, [&](const Statement& row) { names.set(row.integer(1)), names.set(row.integer(2)); });
  }

private:
  template<class Take> void look(std::string_view query, int64_t& last, Take take) {
    Statement rows = connection_.prepare(query);
    rows.bind(1, last);
    while (rows.step()) {
      last = rows.integer(0);
      take(rows);
    }
  }

  const Connection& connection_;
  int64_t last_slot_ = 0, last_thread_ = 0, last_stack_ = 0, last_frame_ = 0;
};

std::vector<int64_t> ids_without(const Connection& connection, std::string_view table, const Marks& used) {
  std::vector<int64_t> out;
  Statement rows = connection.prepare("SELECT id FROM " + std::string(table));
  while (rows.step())
    if (!used.has(rows.integer(0))) out.push_back(rows.integer(0));
  return out;
}

} // namespace

base::Status SqliteStore::delete_rows(std::string_view table, const std::vector<int64_t>& ids, const std::function<void()>& look_again, const std::function<bool(int64_t)>& is_used) {
  constexpr size_t at_once = 1000;
  Statement remove = connection_.prepare("DELETE FROM " + std::string(table) + " WHERE id = ?1");
  for (size_t begin = 0; begin < ids.size(); begin += at_once) {
    Transaction transaction(connection_);
    ACU_CHECK(transaction.begin());
    look_again();
    for (size_t i = begin; i < std::min(ids.size(), begin + at_once); i++)
      if (!is_used(ids[i])) remove.bind(1, ids[i]).run();
    ACU_CHECK(connection_.run("UPDATE upkeep SET deletions = deletions + 1"));
    ACU_CHECK(connection_.status());
    ACU_CHECK(transaction.commit());
  }
  return {};
}

base::Status SqliteStore::delete_unused() {
  References used(connection_);
  const auto look_at_slots = [&] { used.look_at_slots(); };
  used.look_at_slots();
  ACU_CHECK(delete_rows("stacks", ids_without(connection_, "stacks", used.stacks), look_at_slots, [&](int64_t id) { return used.stacks.has(id); }));
  ACU_CHECK(delete_rows("threads", ids_without(connection_, "threads", used.threads), look_at_slots, [&](int64_t id) { return used.threads.has(id); }));
  const auto look_at_stacks = [&] { used.look_at_stacks(); };
  used.look_at_stacks();
  ACU_CHECK(delete_rows("frames", ids_without(connection_, "frames", used.frames), look_at_stacks, [&](int64_t id) { return used.frames.has(id); }));
  const auto look_at_all = [&] { used.look_at_slots(), used.look_at_threads(), used.look_at_frames(); };
  look_at_all();
  ACU_CHECK(delete_rows("services", ids_without(connection_, "services", used.services), look_at_all, [&](int64_t id) { return used.services.has(id); }));
  ACU_CHECK(delete_rows("names", ids_without(connection_, "names", used.names), look_at_all, [&](int64_t id) { return used.names.has(id); }));
  return connection_.status();
}

// Sentences about what packed rows refer to and is missing.
base::Result<std::vector<std::string>> SqliteStore::check_references() {
  References used(connection_);
  used.look_at_slots(), used.look_at_stacks();
  std::vector<std::string> out;
  for (auto [table, marks] : {std::pair<std::string_view, Marks*>{"stacks", &used.stacks}, {"threads", &used.threads}, {"services", &used.services}, {"names", &used.names}, {"frames", &used.frames}}) {
    Statement rows = connection_.prepare("SELECT id FROM " + std::string(table));
    while (rows.step()) marks->clear(rows.integer(0));
    if (const size_t n = marks->count()) out.push_back(std::to_string(n) + " rows of " + std::string(table) + " are missing to which slots refer");
  }
  ACU_CHECK(connection_.status());
  return out;
}

} // namespace store
