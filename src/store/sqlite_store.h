// The embedded store, in parts: writing (write.cc), reading (read.cc), upkeep (upkeep.cc).
#pragma once

#include "store/connection.h"
#include "store/store.h"

#include <unordered_map>

namespace store {

class SqliteStore final : public Store {
public:
  explicit SqliteStore(Connection connection) : connection_(std::move(connection)) {}
  base::Status write(const std::vector<Batch>& batches, int64_t slot, const std::vector<Point>& points) override;
  base::Status write(const Finding& finding) override;
  base::Result<profile::Profile> profile(const ProfileQuery& query) override;
  base::Result<Series> series(const std::string& service, const std::vector<std::string>& metrics, Range range, uint64_t points) override;
  base::Result<std::vector<ServiceUse>> services(Range range) override;
  base::Result<std::vector<Finding>> findings(Range range, const std::string& service, size_t most) override;
  base::Result<Sizes> sizes() override;
  base::Status keep_within(const Limits& limits, int64_t now) override;
  base::Status compact(const Limits& limits, int64_t now) override;
  base::Result<std::vector<std::string>> check() override;

private:
  // Prepared once; it was reset.
  Statement& kept(std::string_view text);
  int64_t id_of(Statement& insert); // of the row that it returns
  int64_t name_id(std::string_view text);
  int64_t service_id(const Service& service);
  int64_t frame_id(const profile::Profile& profile, uint32_t frame);
  int64_t thread_id(const profile::Profile& profile, uint32_t thread);
  int64_t stack_id(const profile::Profile& profile, uint32_t node);
  void write_samples(const Batch& batch);
  void write_points(int64_t slot, const std::vector<Point>& points);
  void forget();
  base::Result<bool> merge_slots(int64_t now);
  base::Status delete_until(int64_t slot);
  base::Status delete_unused();
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

// Frames of a stack, the outermost first, as LEB128 numbers of the table `frames`.
std::string encode_frames(const std::vector<int64_t>& frames);
// Damaged bytes end it early.
std::vector<int64_t> decode_frames(std::string_view bytes);

} // namespace store
