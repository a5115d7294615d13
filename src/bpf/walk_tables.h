// The tables that the walker in the kernel goes by (lib/walk.h), from this side: rows of files and mappings of
// processes are written into the memory of the maps, which both sides have mapped. What an entry led to is used for
// something else a second later at the earliest, when no walk can still be in it.
#pragma once

#include "base/fd.h"
#include "base/result.h"
#include "bpf/lib/walk.h"
#include "unwind/tables.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace bpf {

// Gives out ranges of a number of places, the first that is large enough.
class Room {
public:
  explicit Room(uint32_t size) { free_[0] = size; }
  std::optional<uint32_t> take(uint32_t count);
  void give_back(uint32_t first, uint32_t count);
  // Those that wait are free now, whatever the time.
  void settle();
  uint32_t used() const { return used_; }

private:
  struct Waiting {
    uint32_t first, count;
    uint64_t since;
  };
  void release_old(uint64_t now);
  void release(uint32_t first, uint32_t count);

  std::map<uint32_t, uint32_t> free_; // first, count
  std::deque<Waiting> waiting_;
  uint32_t used_ = 0;
};

class WalkTables {
public:
  using MapFd = std::function<int(std::string_view name)>; // -1: there is none
  static base::Result<std::unique_ptr<WalkTables>> open(const MapFd& fd);
  ~WalkTables();

  static constexpr uint32_t no_file = ~uint32_t{0};
  // Nothing: there is no room.
  std::optional<uint32_t> add_file(const unwind::Tables& tables);
  void remove_file(uint32_t file);

  // Executable memory of a process.
  struct Range {
    uint64_t begin = 0, end = 0;
    uint64_t bias = 0;       // to be added for the address in the file
    uint32_t file = no_file; // code without tables
  };
  // Sorted ranges that do not overlap; several processes may have one list. Nothing: there is no room.
  std::optional<uint32_t> add_list(std::span<const Range> ranges, uint32_t language = no_language);
  void remove_list(uint32_t list);

  // Of the language runtime that processes with a list run. Nothing: there is no room.
  static constexpr uint32_t no_language = 0;
  std::optional<uint32_t> add_language(const language_table& table);
  void remove_language(uint32_t number);

  // False: there is no room for so many processes.
  bool set_process(uint32_t pid, uint32_t list);
  void remove_process(uint32_t pid);
  bool has_process(uint32_t pid) const;
  void set(uint32_t which, uint64_t value); // WALK_SET_…

  uint32_t rows() const { return rows_room_.used(); }
  size_t rules() const { return rule_numbers_.size(); }

private:
  WalkTables();
  template<class T> struct Memory {
    T* at = nullptr;
    size_t bytes = 0;
    void* mapped = nullptr; // pages that hold it
    ~Memory();
  };
  template<class T>
  base::Status map(Memory<T>& memory, int fd, std::string_view name, size_t first, size_t count);
  uint16_t rule_number(const unwind_rule& rule);
  void note_change(); // of an entry of acu_processes

  struct File {
    uint32_t first_row = 0, rows = 0, first_page = 0, pages = 0;
    uint64_t page = 0;
  };
  struct List {
    uint32_t first = 0, count = 0;
    uint64_t made = 0; // walk_process::list
    uint32_t language = no_language;
  };

  int rows_ = -1; // mapped where they are written alone: what is mapped counts as acu's memory
  Memory<walk_page> starts_;
  Memory<unwind_rule> rules_;
  Memory<walk_mapping> mappings_;
  Memory<uint64_t> settings_;
  Memory<language_table> languages_;
  int processes_ = -1;
  Room rows_room_, starts_room_, mappings_room_, languages_room_;
  std::unordered_map<uint64_t, uint16_t> rule_numbers_;
  std::vector<File> files_;
  std::vector<List> lists_;
  uint64_t lists_made_ = 0;
  std::vector<uint32_t> free_files_, free_lists_;
};

} // namespace bpf
