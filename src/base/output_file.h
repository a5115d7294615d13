// Files that results are written to (-o): whether a name can be written is known before a measurement begins, and
// results are not lost when a disk is full. Documents appear whole under their name or not at all; lines are written
// as they come, so that others can read along. What finds no room goes to another place, which a message names:
// $TMPDIR, /var/tmp, /tmp, /dev/shm or /run.
//
// Results tell much of a host: new files are for their owner alone, and links are not followed, but to pipes and devices (/dev/stdout).
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

// Writes all of it, through interruptions. 0, or an errno.
int write_all(int fd, std::string_view text);

// Whether write_file() could write there. Nothing is left behind, and an existing file stays as it is. A full disk is no
// failure: what comes later may find room, or has another place.
Status check_output(const std::string& path);

// The file appears whole, or what was there stays as it was; the failure then names the file that holds the bytes.
Status write_file(const std::string& path, std::string_view bytes);

inline constexpr unsigned private_mode = 0600;

// From now on results are written with the rights of this user and group, whatever those of the process are: who may not write to a file
// does not get there by way of acu. The functions here do so themselves.
void write_results_as(uint32_t user, uint32_t group);

// What opens results by itself does it while one of these exists: setfsuid(2), for this thread.
class AsResultOwner {
public:
  AsResultOwner();
  ~AsResultOwner();
  AsResultOwner(const AsResultOwner&) = delete;
  AsResultOwner& operator=(const AsResultOwner&) = delete;

private:
  int user_ = -1, group_ = -1; // before; -1: unchanged
};

// A new file for this user alone, which gets its real name when it is whole. What has the name is removed, not followed, unless another process writes to it: while it
// is open it is locked (flock(2)).
Result<Fd> create_private(const std::string& path);
// Whether such a file is open in another process, or elsewhere in this one.
bool is_being_written(const std::string& path);
// What a whole file does with one that has its name already.
enum class Existing : uint8_t { replace, keep };
// Such a file is whole: it is closed and gets its name. 0, or an errno (EEXIST: another file is to be kept): it is gone.
int publish(Fd file, const std::string& path, const std::string& name, Existing existing = Existing::replace);

// A new empty file in the next of the other places that has some room, with an ending like that of `path`; empty: there are no more. `next`: where to look, 0 at first.
std::string make_elsewhere(size_t& next, const std::string& path);

// Lines of a session. An existing file is kept until the first of them.
class OutputFile {
public:
  static Result<OutputFile> open(const std::string& path);
  OutputFile(OutputFile&&) = default;
  ~OutputFile();

  // 0, or an errno: there was no room in any place.
  int write(std::string_view text);
  // All results are written, and there may be none.
  void finish() { begin(); }
  // What it has so far is forgotten.
  void cut();
  // "cannot write `x` …": where the rest is, since the disk was full; empty: all is under the name.
  const std::string& problem() const { return problem_; }

private:
  OutputFile(std::string path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}
  void begin();
  std::string_view end_with_line(std::string_view text, size_t written);
  bool move_on(int error);

  std::string path_, problem_;
  Fd file_;
  size_t next_place_ = 0;
  bool is_new_ = false, is_regular_ = false, has_begun_ = false;
};

} // namespace base
