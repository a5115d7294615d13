// The walker of user stacks in the kernel (lib/unwind.bpf.c) as the rest of acu sees it: its tables, the stacks that
// it sent, and those that it copied out because it did not know enough, which somebody here walks.
//
// A stack has an id, a hash of its frames. One that was copied out got an id that is no hash; when it has been walked
// it turns out to be a stack that may have been seen before, so ids are made one before they are compared (`same`).
//
// All are kept, unless somebody who needs only those of the last time begins generations.
#pragma once

#include "bpf/language_walkers.h"
#include "bpf/ring.h"
#include "bpf/walk_tables.h"
#include "runtime/splice.h"

#include <array>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace bpf {

class Walker {
public:
  // `languages`: of the program that it is opened for.
  static base::Result<std::unique_ptr<Walker>> open(const WalkTables::MapFd& fd, uint32_t ring_bytes, Languages languages);

  struct Frames {
    std::vector<uint64_t> addresses; // the innermost first
    uint32_t end = UNWIND_COMPLETE;  // enum unwind_end or WALK_…
  };
  // A stack that is new: of which process, its id, its frames, when it was seen (CLOCK_MONOTONIC, ns).
  using Seen = std::function<void(uint32_t pid, uint64_t id, std::span<const uint64_t> frames, uint64_t time)>;
  // Walks what was copied.
  using Walk = std::function<Frames(const walk_copy& copy)>;
  // Makes one stack of native and language frames; `language`: number of the table by which those were walked.
  struct Spliced {
    std::vector<uint64_t> words;
    uint64_t meaning = 0; // a hash of what is shown: equal for stacks that are shown alike
  };
  using Splice = std::function<Spliced(uint32_t pid, uint32_t language, const runtime::Lists& lists)>;
  // What names a language frame of a process.
  using Object = std::function<void(uint32_t pid, const language_object& object)>;
  struct Hooks {
    Seen seen;
    std::function<void(uint64_t id)> gone; // a stack that was seen is forgotten
    Walk walk;
    Splice splice;
    Object object;
  };
  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }

  // Takes what was sent. Returns the number of records.
  size_t drain();
  // Nothing: it is none of the walker's, or was lost.
  std::span<const uint64_t> find(uint64_t id);
  // The id under which this stack was seen first.
  uint64_t same(uint64_t id) const;

  // The kernel sends stacks anew that it has sent: there is room for others.
  void forget_sent();
  // The same, and a stack that is not sent again until the next call but one is forgotten.
  base::Status begin_generation();

  // Programs that are loaded without walkers of languages (language_walkers.h), each under its owner, and how these are brought in.
  using AddLanguages = std::function<base::Status(Languages languages)>;
  void add_user(const void* owner, AddLanguages add) { users_[owner] = std::move(add); }
  void remove_user(const void* owner) { users_.erase(owner); }
  // From then on all programs walk this runtime's frames. The first time takes as long as loading them. Failure: some do not; it is not tried again.
  base::Status need_language(uint32_t kind);
  // Those that were needed, for programs that are loaded later.
  Languages languages() const { return languages_; }

  WalkTables& tables() { return *tables_; }
  int wait_fd() const { return ring_->wait_fd(); }

  struct Counts {
    std::array<uint64_t, WALK_ENDS> ends = {}; // of all walks, in the kernel and outside
    uint64_t copied = 0;                       // of those, walked outside
    uint64_t not_copied = 0;                   // there was no room to copy them: ended where they got to
    uint64_t ring_full = 0, no_room = 0;       // lost
    std::array<uint64_t, LANGUAGE_ENDS> languages = {}; // walks of language frames, by end
    uint64_t objects_lost = 0;                 // names of language frames that there was no room to send
    uint64_t all() const;
    uint64_t complete() const { return ends[UNWIND_COMPLETE]; }
  };
  Counts counts() const;

private:
  Walker() = default;
  void take(std::span<const std::byte> record);
  void take_copy(std::span<const std::byte> record);
  void take_object(std::span<const std::byte> record);
  void add_alias(uint64_t id, uint64_t first);
  bool knows(uint64_t id);

  // Of one generation. An alias is an id of a stack that turned out to be another one.
  struct Stacks {
    std::unordered_map<uint64_t, std::vector<uint64_t>> words;
    std::unordered_map<uint64_t, uint64_t> aliases;
    std::deque<uint64_t> alias_order;
  };

  std::unique_ptr<WalkTables> tables_;
  std::unique_ptr<Ring> ring_;
  int counts_fd_ = -1, ids_fd_ = -1, known_fd_ = -1;
  Hooks hooks_;
  std::map<const void*, AddLanguages> users_;
  std::map<uint32_t, base::Status> refused_; // by kind of runtime
  Languages languages_ = all_languages;
  Stacks stacks_, older_;                           // what was seen in this generation is not in the older one
  std::unordered_map<uint64_t, uint64_t> meanings_; // of stacks with language frames, the first id
  std::array<uint64_t, WALK_ENDS> ends_outside_ = {};
};

// A walker together with the maps that its programs use, by name. Engines may share one: the tables are loaded once, and a stack that
// one of them has sent is known to all.
struct SharedWalker {
  std::map<std::string, base::Fd, std::less<>> maps;
  std::unique_ptr<Walker> walker; // refers to them
  std::vector<base::Fd> watchers; // links of what follows processes in the kernel
};

} // namespace bpf
