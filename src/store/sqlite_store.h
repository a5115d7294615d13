// The embedded store, in parts: writing (write.cc), imports (import.cc), reading (read.cc), merging and deleting (upkeep.cc, unused.cc).
#pragma once

#include "store/connection.h"
#include "store/packed.h"
#include "store/store.h"

#include <functional>
#include <unordered_map>

namespace store {

// Slots are kept in two layers: the slots as they are written and merged later, and complete hours beside them, so that long ranges need few rows. A third one has
// the slots of an import that is not complete (import.h), which nobody reads.
enum Layer : int64_t { as_recorded = 0, hours = 1, arriving = 2 };
// Of what is arriving. SQLite keeps 0 and 1 without a byte: a row with layer 2 and length 1 is as long as with layer 0 and length 10, so that the change of one into
// the other writes one page of the row instead of all.
constexpr int64_t arriving_length = 1;
constexpr int64_t hour_seconds = 3600;
constexpr int64_t longest_slot = 600;             // of the first layer
constexpr std::string_view other_stacks = "[other stacks]"; // what becomes of stacks beyond the heaviest

// What a source recorded in a slot.
struct SlotRow {
  int64_t source = 0;
  Layer layer = as_recorded;
  int64_t slot = 0, length = slot_seconds;
  int64_t covered_ns = 0;
  std::vector<PointRow> points;
  std::vector<SampleRow> samples;
};
// Sums of samples, means of points over all that is covered; the rest is that of the first.
SlotRow merged(const std::vector<SlotRow>& rows);

class SqliteStore final : public Store {
public:
  static base::Result<std::unique_ptr<SqliteStore>> open(const std::string& path, Mode mode, uint64_t limit_ns = 0);
  base::Status write(const Slot& slot, const std::vector<Point>& points, const Batch* batch) override;
  base::Status write(const Finding& finding) override;
  // All or nothing, as the write() of a store. Nobody sees what is arriving.
  base::Status write(Layer layer, const Slot& slot, const std::vector<Point>& points, const Batch* batch);
  // What is arriving of that source becomes part of the store, in one transaction.
  base::Status take_in(const std::string& source);
  // Deletes what is arriving, of all sources: nobody imports now.
  base::Status drop_arriving();
  base::Result<profile::Profile> profile(const ProfileQuery& query) override;
  base::Result<Series> series(const std::string& service, const std::vector<std::string>& metrics, Range range, uint64_t points) override;
  base::Result<std::vector<ServiceUse>> services(Range range) override;
  base::Result<std::vector<Finding>> findings(Range range, const std::string& service, size_t most) override;
  base::Result<Sizes> sizes() override;
  base::Status keep_within(const Limits& limits, int64_t now) override;
  base::Status compact(const Limits& limits, int64_t now) override;
  base::Result<std::vector<std::string>> check() override;

private:
  explicit SqliteStore(Connection connection) : connection_(std::move(connection)) {}

  // ---- write.cc
  // Prepared once; it was reset.
  Statement& kept(std::string_view text);
  int64_t id_of(Statement& insert); // of the row that it returns
  int64_t name_id(std::string_view text);
  int64_t source_id(std::string_view name);
  int64_t service_id(const Service& service);
  int64_t frame_id(const profile::Profile& profile, uint32_t frame);
  int64_t thread_id(int64_t service, uint32_t pid, int64_t process, int64_t name);
  int64_t stack_id(const std::vector<int64_t>& frames);
  int64_t other_stack();
  std::vector<SampleRow> rows_of(const Batch& batch);
  void keep_heaviest(std::vector<SampleRow>& rows, size_t most);
  void forget();
  void forget_after_deletions();
  std::optional<SlotRow> find_slot(Layer layer, int64_t source, int64_t second);
  void put(const SlotRow& row);
  void add(SlotRow row);
  void delete_hours(int64_t source, Range range);

  // ---- read.cc
  std::vector<int64_t> sources();
  // Complete hours where there are any, and slots for the rest; those in which the range begins count whole.
  template<class Take> void read_slots(int64_t source, Range range, bool with_samples, Take take);

  // ---- upkeep.cc, unused.cc
  // Some of what is due, in one transaction that others need not wait long for; true: there was something.
  base::Result<bool> merge_slots(int64_t now);
  base::Result<bool> make_hours(const Limits& limits, int64_t now);
  base::Result<bool> delete_some(int64_t until);
  base::Status drop_interrupted_import();
  base::Status delete_until(int64_t second);
  std::vector<SlotRow> slots_of(int64_t source, Range range);
  base::Status keep_size(const Limits& limits);
  base::Status delete_unused();
  base::Status delete_rows(std::string_view table, const std::vector<int64_t>& ids, const std::function<void()>& look_again, const std::function<bool(int64_t)>& is_used);
  base::Result<std::vector<std::string>> check_references();
  base::Status give_space_back();
  uint64_t used_bytes() const;

  Connection connection_;
  std::map<std::string_view, Statement> statements_; // by their texts, which are literals
  // Numbers of what was written lately, so that the tables need not be asked; emptied when they grow large, or after a failure.
  std::unordered_map<std::string, int64_t> names_;
  std::map<Service, int64_t> services_;
  std::map<std::vector<int64_t>, int64_t> frames_, threads_;
  std::unordered_map<uint64_t, int64_t> stacks_; // by hash
  int64_t deletions_ = 0; // of rows that are referred to, by anybody, when these were remembered
};

// Samples in a slot of this length: the heaviest are kept.
size_t most_rows(int64_t length);
SlotRow slot_row(const Statement& row); // of the columns id, source, layer, slot, length, covered, points, samples

// Frames of a stack, the outermost first, as LEB128 numbers of the table `frames`.
std::string encode_frames(const std::vector<int64_t>& frames);
// Damaged bytes end it early.
std::vector<int64_t> decode_frames(std::string_view bytes);

// Between two transactions, so that others get their turn.
void give_way(uint64_t ns = 2'000'000);

} // namespace store
