// Names of language frames: what walkers have read of code objects, by process, address and check (language.h), and the source of frames that
// asks here. Functions of several processes that have the same name and file are one.
#pragma once

#include "runtime/runtimes.h"
#include "runtime/splice.h"
#include "symbol/frame_source.h"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace runtime {

class CodeNames {
public:
  // Decodes what was read; `read` as in Runtime::decode. What is no code object has no name.
  void add(uint32_t pid, const language_object& object, const language_table& table, const ReadMemory& read);
  // What was read in part is given to `take` again, now and then and a few times; `now`: CLOCK_MONOTONIC, ns.
  void retry(uint64_t now, const std::function<void(uint32_t pid, const language_object& object)>& take);
  // nullptr: it was not read, or its address belongs to another object now.
  const Code* find(uint32_t pid, uint64_t address, uint32_t check) const;
  size_t size() const { return objects_.size(); }
  // A hash of all that is shown of a stack: function and line of language frames, addresses of others.
  uint64_t meaning(uint32_t pid, std::span<const uint64_t> stack) const;

  // What stacks show of language frames; before anything is walked.
  void set_show(Show show) { show_ = show; }
  Show show() const { return show_; }

private:
  struct Key {
    uint64_t process_and_check, address;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const { return (k.address ^ k.process_and_check * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >> 7; }
  };
  struct Partial {
    uint32_t pid, tries;
    uint64_t next; // ns
    language_object object;
  };
  Show show_ = Show::folded;
  std::vector<Partial> partial_;
  uint32_t tries_ = 0; // of what is added now
  std::unordered_map<Key, const Code*, Hash> objects_;
  std::unordered_map<std::string, std::unique_ptr<Code>> codes_; // by all that they are
};

// Of an entry of a language.
symbol::Frame frame_of(const CodeNames& names, const symbol::RawFrame& raw);

// Language frames of all kinds are named by `names`, which outlives `sources`.
void add_language_frames(symbol::FrameSources& sources, const CodeNames& names);

} // namespace runtime
