// Batches on disk that are not yet stored elsewhere: a folder with a file for each, named by its number. Several samplers write to it while
// the agent sends and deletes. The file `state` counts; it is changed under a lock.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "store/store.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

struct SpoolState {
  uint64_t id = 0;   // of this spool, random: numbers of another folder are other batches
  uint64_t last = 0; // number of the newest batch; the first is 1
  uint64_t stored = 0;                       // batches that were confirmed
  uint64_t dropped = 0, dropped_samples = 0; // batches that had no room or were damaged, and the samples in them
};

struct SpoolEntry {
  uint64_t number = 0, bytes = 0;
};

class Spool {
public:
  // Makes the folder (permissions 0700) if it is not there.
  static base::Result<Spool> open(const std::string& folder);

  base::Status put(std::string_view batch);
  std::vector<SpoolEntry> list() const; // the oldest first
  base::Result<std::string> read(uint64_t number) const;
  base::Status remove_stored(std::span<const SpoolEntry> entries);
  base::Status drop(const SpoolEntry& entry); // counts it
  // Deletes what writers that are gone have not finished, then drops the oldest batches until the rest fits.
  base::Status keep_within(uint64_t max_bytes);
  base::Result<SpoolState> state() const;
  const std::string& folder() const { return folder_; }

private:
  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  std::string path_of(uint64_t number) const;
  uint64_t remove_unfinished() const;
  template<class Change> base::Status change(Change change) const;
  std::string folder_;
};

// A store's name that means a spool.
constexpr std::string_view spool_scheme = "spool:";
// What samplers write to: puts a batch into the spool for each write. It reads nothing.
base::Result<std::unique_ptr<store::Store>> open_spool(const std::string& folder);

} // namespace fleet
