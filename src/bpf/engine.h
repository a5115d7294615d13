// The kernel as engine: a loaded Object with its maps, ring and attachments.
//
// Life: load (maps and programs exist, nothing runs), attach probe by probe, drain and read maps while
// it runs, detach, read what is left, destroy. Everything is held by descriptors: when the process ends,
// however it ends, the kernel takes all of it back.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "bpf/flight_ring.h"
#include "bpf/hot_keys.h"
#include "bpf/loader.h"
#include "bpf/map_io.h"
#include "bpf/object.h"
#include "bpf/packets.h"
#include "bpf/ring.h"
#include "bpf/task_storage.h"
#include "bpf/walker.h"
#include "ir/engine.h"
#include "probe/attach.h"

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace bpf {

class Engine : public ir::Engine {
public:
  struct Options {
    std::string license = "GPL";
    uint32_t log_size = 1000000;
    bool verbose = false;
    int target_pid = -1;
    int command_pid = -1; // the process of -c
    const base::Source* source = nullptr;
    std::string* log = nullptr; // see LoadOptions
    std::shared_ptr<SharedWalker> walker = {}; // of an engine that is there; none: a walker of its own, if it needs one
    EmitOptions emit = {};                     // those of the object: with others of its languages, see Walker::need_language
  };
  // Creates maps and loads all programs; nothing is attached yet. `program` must outlive the engine; `object`
  // not.
  static base::Result<std::unique_ptr<Engine>> load(const ir::Program& program, const Object& object,
                                                    const Options& options);
  ~Engine() override;

  // Attaches a probe to all its events. `refused` says of an event that cannot be attached whether to go on without
  // it; without that, and where it does not, this fails. What is attached stays.
  base::Status attach(uint32_t probe, const std::function<base::Status(base::Error)>& refused = {});
  // Attaches it to other places as well: events of user probes that its program fits. `cookies`: see ir::Probe.
  base::Status attach_user(uint32_t probe, std::span<const probe::Event* const> events,
                           std::span<const uint64_t> cookies,
                           const std::function<base::Status(base::Error)>& refused);
  // Iterators: runs the program for the next objects of its kind. false: there are no more.
  base::Result<bool> step(uint32_t probe);
  // Takes all user probes off a file.
  void detach_file(std::string_view file);
  // Detaches probes from all their events; they can be attached again once is_detaching() is false.
  void detach_probes(std::span<const uint32_t> probes);
  bool is_detaching();
  // Only the run counts and times of counters(); faster.
  ir::Counters run_counters() const;
  size_t attached_events() const { return attached_; }
  // Stops everything at once. What takes long to close is left to a process of its own (leave_closing.h).
  void detach();
  // Readable when a ring has much to read; without one, when packets came; -1 without both.
  int wait_fd() const;
  // nullptr: the program takes no user stacks by tables.
  Walker* walker() { return walker_ ? walker_->walker.get() : nullptr; }
  const std::shared_ptr<SharedWalker>& shared_walker() const { return walker_; }
  // nullptr: no record of the program is overwritten.
  const FlightRing* flight() const { return flight_.get(); }
  struct ProgramInfo {
    std::string name;
    size_t instructions;
  };
  std::vector<ProgramInfo> programs() const { return infos_; }

  base::Result<int64_t> run(uint32_t probe) override;
  size_t drain(const std::function<void(std::span<const std::byte>)>& take) override;
  void take_committed(std::span<const std::byte> record, const std::function<void(std::span<const std::byte>)>& take);
  size_t drain_lost_exit(const std::function<void(std::span<const std::byte>)>& take);
  base::Result<std::vector<ir::Entry>> read_map(uint32_t map) override;
  base::Status clear_map(uint32_t map) override;
  base::Status zero_map(uint32_t map) override;
  base::Status put(uint32_t map, std::span<const std::byte> key, std::span<const std::byte> value) override;
  void unwatch(uint64_t address) override;
  std::vector<uint64_t> stack(uint64_t id) override;
  // Reads a hash map and empties it at once. Nothing: this kernel cannot.
  base::Result<std::optional<std::vector<ir::Entry>>> take_map(uint32_t map);
  // Makes room for other stacks: the kernel forgets these, which are known here, and all that were sent.
  void forget_stacks(std::span<const uint64_t> kernel_stacks);
  // The kernel keeps, or sends, stacks anew that it has; one that is not seen again until the next call but one is forgotten. For whoever needs only those of
  // the last time, and goes on for ever.
  base::Status begin_stacks();
  ir::Counters counters() override;

private:
  explicit Engine(const ir::Program& program) : program_(program) {}
  void watch_modules(const ir::Probe& probe);
  base::Status attach_kernel(uint32_t probe, const std::function<base::Status(base::Error)>& refused);
  std::vector<base::Fd> detach_those(const std::function<bool(const probe::Attachment&)>& which);
  base::Status open_state(const MapSpec& spec, int fd);
  MapShape shape(uint32_t map) const;
  HotMaps hot_maps(uint32_t map) const;
  bool has_hot(uint32_t map) const { return hot_fds_[map] >= 0; }
  base::Status open_walker(const Object& object);
  base::Status add_languages(Languages languages);
  base::Status wait_for_walker();
  void join_same_stacks(uint32_t map, std::vector<ir::Entry>& entries);
  base::Status prepare(uint32_t map); // what its kind needs to be read

  const ir::Program& program_;
  int target_pid_ = -1, command_pid_ = -1;
  EmitOptions emit_;
  std::string license_;
  uint32_t log_size_ = 0;
  Loaded loaded_;
  std::vector<ProgramInfo> infos_;
  std::vector<uint32_t> key_sizes_; // of the script's maps, as the kernel has them
  std::vector<int> hot_fds_;        // of the script's maps: of the map of hot keys (hot_keys.h), or -1
  std::unique_ptr<Ring> ring_;
  size_t ring_bytes_ = 0;
  std::unique_ptr<FlightRing> flight_;
  std::unique_ptr<Packets> packets_;
  std::shared_ptr<SharedWalker> walker_;
  base::Fd wait_both_;                 // of the ring and the walker's
  std::span<const uint64_t> state_; // mapped
  size_t state_bytes_ = 0;
  bool told_lost_exit_ = false;
  uint64_t incomplete_ = 0; // records that were sent before they were complete
  int stacks_fd_ = -1, known_fd_ = -1, places_fd_ = -1;
  std::unordered_map<uint64_t, std::vector<uint64_t>> older_stacks_; // of the kernel, until begin_stacks()
  uint32_t stack_bytes_ = 0;             // of an entry of the stacks
  std::vector<probe::Attachment> quick_; // closed without waiting
  std::vector<probe::Attachment> slow_;  // perf tracepoints
  base::Fd detaching_;                   // see begin_closing_together
  struct Iterator {
    uint32_t probe;
    base::Fd file; // nothing: it is through
  };
  std::vector<Iterator> iterators_;
  size_t attached_ = 0;
  uint64_t missed_hits_ = 0; // of what was detached
  // Modules with functions that are probed: what their folder in /sys is numbered, which tells whether they went.
  std::vector<std::pair<std::string, uint64_t>> modules_;
  std::vector<std::string> gone_modules_;
  bool are_held_ = false; // see ir::Counters
  std::unique_ptr<TaskStorage> tasks_; // made at first use
};

} // namespace bpf
